#pragma once

#include <map>
#include <optional>
#include <string>

#include "pipelines/container/colour.h"
#include "pipelines/container/output/matroska_head.h"
#include "pipelines/container/output/muxer.h"
#include "pipelines/container/output/stream_copy.h"
#include "pipelines/container/output/timing.h"

/// One pass over an output file: the encoder's video, and everything else from the input.
namespace equalux {

/// mp4 and mov are written twice. `live` is what a kill leaves: fragments, each complete in itself.
/// `final` is the plain file made of it. Matroska needs one pass only, which is final.
enum class PassKind : std::uint8_t { live, final };

struct OutputPassSpec {
  std::string path;
  PassKind pass = PassKind::final;
  StreamPlan plan;  ///< without roles where there is no input
  EncodedVideoFormat video;
  std::optional<std::int64_t> video_start;  ///< first pts, in ticks, where it is known already
  bool named_tags = false;                  ///< of mp4 and mov: any tag, under its own name
};

/// One thread at a time.
class OutputPass {
 public:
  /// Creates the file and writes its head. `copies` is null where there is no input; it must
  /// outlive the pass, with the plan's streams selected. Throws Error(cannot_create).
  OutputPass(const OutputPassSpec& spec, StreamCopy* copies);

  /// The video's ticks, as the muxer took them.
  [[nodiscard]] AVRational video_base();
  [[nodiscard]] int video_index() const { return video_index_; }
  /// What encoded packets have to go through before they are written.
  [[nodiscard]] const HeadTags& head_tags() const { return head_tags_; }

  /// Writes the copied packets that belong before a video packet, then that packet, whose times
  /// are in video_base().
  void write_video(AVPacket& packet);
  /// Has everything so far on its way to the disk. False where the file's head still waits for a
  /// copied stream.
  bool flush();
  /// Copies what is left, up to `end_ns` where given, and closes the file.
  void finish(std::optional<std::int64_t> end_ns);
  /// Closes the file without what is left of the copied streams.
  void close();

 private:
  struct Track {
    int out = 0;
    MonotonicDts times;
    std::int64_t offset = 0;  ///< added to both times, in the output's ticks
    bool needed_for_head = false;
    std::int64_t last_duration = 0;
  };

  [[nodiscard]] const AVStream* video_input() const;
  void add_streams();
  void add_video();
  void add_copied(const AVStream& in);
  [[nodiscard]] std::int64_t make_delay(AVStream& out, const AVStream& in);
  void copy_global_tags();
  void choose_time_bases();
  [[nodiscard]] int movie_timescale();
  void set_options(Dictionary& options);
  void write_covers();
  void copy_up_to(std::int64_t time, AVRational base);
  void write_copied(AVPacket& packet, Track& track);
  void flush_each_second(const AVPacket& video);

  const OutputPassSpec spec_;
  StreamCopy* copies_;
  Muxer muxer_;
  MatroskaHead head_;
  HeadTags head_tags_;
  int video_index_ = -1;
  std::map<int, Track> tracks_;  // by the input's index
  std::map<int, int> covers_;    // input's index to output's
  std::optional<std::int64_t> last_flush_;
  bool head_on_disk_ = false;
};

}  // namespace equalux

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

/// Kinds of passes. mp4 and mov are written twice: `live` makes fragments, each complete in itself,
/// so that a killed run leaves a playable file; `final` makes the plain file from it. Matroska
/// needs only the final pass.
enum class PassKind : std::uint8_t { live, final };

struct OutputPassSpec {
  std::string path;
  PassKind pass = PassKind::final;
  StreamPlan plan;  ///< has no roles where there is no input
  EncodedVideoFormat video;
  std::optional<std::int64_t> video_start;  ///< first pts, in ticks, if it is known already
  bool named_tags = false;                  ///< for mp4 and mov: any tag, under its own name
  std::optional<std::int64_t> end_ns{};  ///< of chapters and subtitles, where it is known already
};

/// Writes one output file. One thread at a time.
class OutputPass {
 public:
  /// Creates the file and writes its head. `copies` is null where there is no input; it must
  /// outlive the pass and have the plan's streams selected. Throws Error(cannot_create).
  OutputPass(const OutputPassSpec& spec, StreamCopy* copies);

  /// Time base of the video, as the muxer chose it.
  [[nodiscard]] AVRational video_base();
  [[nodiscard]] int video_index() const { return video_index_; }
  /// Rewrites that encoded packets must go through before they are written.
  [[nodiscard]] const HeadTags& head_tags() const { return head_tags_; }

  /// Writes the copied packets that precede a video packet, then that packet, whose times are in
  /// video_base().
  void write_video(AVPacket& packet);
  /// Starts writing everything so far to the disk. Returns false where the file's head still waits
  /// for a copied stream.
  bool flush();
  /// Copies the rest of the other streams, up to `end_ns` if given, and closes the file.
  void finish(std::optional<std::int64_t> end_ns);
  /// Closes the file without the rest of the copied streams.
  void close();

 private:
  struct Track {
    int out = 0;
    MonotonicDts times;
    std::int64_t offset = 0;  ///< added to pts and dts, in the output's ticks
    bool needed_for_head = false;
    std::int64_t last_duration = 0;
  };

  [[nodiscard]] const AVStream* video_input() const;
  void add_streams();
  void add_video();
  void add_copied(const AVStream& in);
  [[nodiscard]] std::int64_t make_delay(AVStream& out, const AVStream& in);
  void copy_global_tags();
  void tell_left_out() const;
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
  std::map<int, Track> tracks_;  // by the input's stream index
  std::map<int, int> covers_;    // from the input's index to the output's
  std::optional<std::int64_t> last_flush_;
  bool head_on_disk_ = false;
};

}  // namespace equalux

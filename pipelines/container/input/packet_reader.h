#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "pipelines/container/av_handles.h"

/// Packets of a file whose clock may restart.
namespace equalux {

/// Reads packets as av_read_frame() does. Transport streams and program streams may have a clock
/// that restarts: files that were joined end to end, a recorder that was started again, a counter
/// of 33 bits that is full after 26.5 hours. Then each part follows the one before it: its pictures
/// begin where those before it end, and all other streams are moved by as much.
///
/// Only packets of the filtered video decide where a part begins and by how much it is moved. So
/// two readers of a file agree, whatever other streams they read. One thread at a time.
class PacketReader {
 public:
  /// Reads `input`, which must outlive the reader and not be read otherwise meanwhile. `video` is
  /// its filtered stream; -1 where it has none.
  PacketReader(AVFormatContext& input, int video);

  /// Returns true where the video must not be discarded, because it tells about restarts.
  [[nodiscard]] bool needs_video() const { return possible_; }
  /// Reads the next packet; returns libav's error code as av_read_frame() does.
  int read(AVPacket& packet);
  /// Returns the times, in nanoseconds, at which the clock restarted so far. A full counter is
  /// none: its times go on exactly.
  [[nodiscard]] const std::vector<std::int64_t>& restarts_ns() const { return restarts_ns_; }

 private:
  /// What comes between two restarts.
  struct Part {
    std::int64_t shift_ns = 0;   ///< added to all times
    std::int64_t byte = -1;      ///< where its video begins in the file; -1 = unknown
    std::int64_t before_ns = 0;  ///< where the clock stood before it
  };
  /// A stream other than the video.
  struct Track {
    std::size_t part = 0;
    std::int64_t place = -1;              ///< of its last packet that has one, in the file
    std::optional<std::int64_t> next_ns;  ///< end of its last packet, by the file's clock
    std::int64_t end_ns = 0;              ///< the same, moved
    bool joins = false;                   ///< no packet of this part was taken yet
  };

  bool fetch();
  bool fetch_more();
  void follow_videos();
  [[nodiscard]] std::int64_t nanoseconds(std::int64_t ticks, const AVPacket& packet) const;
  [[nodiscard]] std::int64_t time_of(const AVPacket& packet) const;
  [[nodiscard]] std::int64_t duration_of(const AVPacket& packet) const;
  void move(AVPacket& packet, std::int64_t shift_ns) const;
  void follow_video(AVPacket& packet);
  [[nodiscard]] bool is_due(std::int64_t now_ns) const;
  void correct(AVPacket& packet) const;
  void correct_sound(AVPacket& packet);
  void correct_by_other_time(AVPacket& packet) const;
  void begin_part(const AVPacket& packet, std::int64_t now_ns);
  [[nodiscard]] bool is_sound(const AVPacket& packet) const;
  [[nodiscard]] bool waits_for_video(const AVPacket& packet) const;
  [[nodiscard]] bool is_by_place(const Track& track, const AVPacket& packet) const;
  void choose_part(Track& track, const AVPacket& packet) const;
  bool take(AVPacket& packet);

  AVFormatContext& input_;
  const int video_;
  const bool possible_;
  std::vector<Part> parts_{Part{}};
  std::map<int, Track> tracks_;
  std::deque<PacketPtr> ahead_;   // packets that were read and not yet given out
  std::deque<AVPacket*> videos_;  // packets of the video in ahead_ that are not moved yet
  std::size_t ahead_bytes_ = 0;
  std::size_t pictures_ahead_ = 0;
  int result_ = 0;                             // of the last read
  std::int64_t video_last_ns_ = 0;             // time of the last picture, by the file's clock
  std::optional<std::int64_t> video_next_ns_;  // end of the last picture, by the file's clock
  std::int64_t video_end_ns_ = 0;              // end of the latest picture, moved
  std::int64_t picture_ns_ = 0;                // duration of the last picture that had one
  std::int64_t delay_ns_ = 0;                  // from decoding to presentation of the last picture
  std::vector<std::int64_t> restarts_ns_;
};

}  // namespace equalux

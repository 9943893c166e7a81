#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipelines/container/av_handles.h"
#include "pipelines/container/input/packet_reader.h"
#include "pipelines/container/input/picture_data.h"
#include "pipelines/container/output/stream_plan.h"
#include "pipelines/container/read_stop.h"

/// Reader of the packets of the input's copied streams, in the file's order, a few at a time.
namespace equalux {

/// Reads packets one by one. Holds one packet, and at the start all packets that had to be read to
/// find the first one of every audio stream and to look at the first pictures. One thread at a
/// time.
class StreamCopy {
 public:
  /// Opens the input. Times come shifted into `part`, without what it leaves out before its start.
  /// Throws as open_input. `stop` as for open_input().
  explicit StreamCopy(const std::string& path, const ContainerPart& part = {},
                      ReadStop* stop = nullptr);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] AVFormatContext& input() { return *input_; }
  [[nodiscard]] const AVStream& stream(int index) const { return *input_->streams[index]; }

  /// Restricts reading to the copied streams of `plan`, and looks ahead for their first packets.
  void select(const StreamPlan& plan);
  /// Returns the first packet of a stream if it was within the look-ahead; null otherwise.
  [[nodiscard]] const AVPacket* first_packet(int stream) const;

  /// Returns what the pictures of the filtered stream have inside them and copying leaves out, as
  /// far as the first of them tell: "closed captions"; empty = nothing.
  [[nodiscard]] std::string left_in_pictures() const { return picture_data_.text(); }

  /// Returns the next packet, or null at the end of the file, or where it cannot be read further.
  /// It stays until pop().
  [[nodiscard]] AVPacket* peek();
  void pop();
  /// Returns why reading ended before the end of the file; empty where it did not.
  [[nodiscard]] const std::string& read_error() const { return read_error_; }

 private:
  PacketPtr read();
  void look_ahead();
  bool filter_aac(AVPacket& packet);
  bool move_into_part(AVPacket& packet) const;
  void look_inside(const AVPacket& picture);
  void look_no_further();

  const std::string path_;
  const ContainerPart part_;
  ReadStop* stop_;
  InputContext input_;
  PacketReader reader_;
  std::vector<bool> wanted_;
  std::map<int, BitstreamFilter> aac_filters_;
  std::map<int, PacketPtr> first_packets_;
  std::deque<PacketPtr> queue_;
  bool ended_ = false;
  std::string read_error_;
  PictureData picture_data_;
  int filtered_ = -1;              // the stream whose first pictures are looked at
  std::size_t pictures_left_ = 0;  // to look at
  std::size_t picture_bytes_ = 0;  // looked at
};

/// Returns a packet's decoding time, or its presentation time where it has none.
[[nodiscard]] std::int64_t order_time(const AVPacket& packet);

}  // namespace equalux

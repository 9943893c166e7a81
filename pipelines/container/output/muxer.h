#pragma once

#include <string>

#include "pipelines/container/av_handles.h"
#include "pipelines/container/output/stream_plan.h"

/// One output file under libavformat, every error of which is found and named.
namespace equalux {

/// One thread at a time. Streams are added to context() before write_head().
class Muxer {
 public:
  Muxer(std::string path, ContainerKind kind);
  /// Closes the file as it is, without a trailer.
  ~Muxer();
  Muxer(const Muxer&) = delete;
  Muxer& operator=(const Muxer&) = delete;

  [[nodiscard]] AVFormatContext& context() { return *context_; }
  [[nodiscard]] AVStream& stream(int index) { return *context_->streams[index]; }

  /// Creates the file. Throws Error(cannot_create), or Error(write_failed) for a full disk.
  void write_head(Dictionary& options);
  /// Takes the packet's data. Throws Error(write_failed).
  void write(AVPacket& packet);
  /// Makes what was written so far survive a kill. Throws Error(write_failed).
  void flush();
  /// Trailer, and the end of the file. Throws Error(write_failed), and then whenever it is called.
  void close();

 private:
  void check(int result, const char* what);

  std::string path_;
  MuxerContext context_;
  bool closed_ = false;  // or half: libavformat takes no second trailer
};

}  // namespace equalux

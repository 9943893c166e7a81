#pragma once

#include <string>

#include "pipelines/container/av_handles.h"
#include "pipelines/container/output/stream_plan.h"

/// One output file of libavformat, with every error found and named.
namespace equalux {

/// Writes packets into a file. One thread at a time. Add streams to context() before write_head().
class Muxer {
 public:
  Muxer(std::string path, ContainerKind kind);
  /// Closes the file without a trailer.
  ~Muxer();
  Muxer(const Muxer&) = delete;
  Muxer& operator=(const Muxer&) = delete;

  [[nodiscard]] AVFormatContext& context() { return *context_; }
  [[nodiscard]] AVStream& stream(int index) { return *context_->streams[index]; }

  /// Creates the file. Throws Error(cannot_create), or Error(write_failed) for a full disk.
  void write_head(Dictionary& options);
  /// Writes a packet and takes its data. Throws Error(write_failed).
  void write(AVPacket& packet);
  /// Makes what was written so far survive a kill of the process. Throws Error(write_failed).
  void flush();
  /// Writes the trailer and closes the file. Throws Error(write_failed), and again at each later
  /// call.
  void close();

 private:
  void check(int result, const char* what);

  std::string path_;
  MuxerContext context_;
  bool closed_ = false;  // or tried to: libavformat does not take a second trailer
};

}  // namespace equalux

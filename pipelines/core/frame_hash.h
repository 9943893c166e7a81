#pragma once

#include <cstdint>
#include <string>

#include "pipelines/core/source.h"
#include "pipelines/core/text_file.h"

/// `--verify`: MD5 sums of frames in the text format of FFmpeg's framemd5, so that `ffmpeg -f
/// framemd5` can check them. A frame's bytes are its planes, one after another, without padding, as
/// in rawvideo; transparency beside them comes last.
namespace equalux {

/// Returns the MD5 of the tight planes as 32 lower-case hexadecimal digits.
[[nodiscard]] std::string frame_md5(const ConstImageView& image);
[[nodiscard]] std::string frame_md5(const Frame& frame);

/// Returns the time base of the timestamps in seconds: one frame where the rate is known, else 1
/// ns.
[[nodiscard]] Rational frame_hash_time_base(const StreamInfo& info);

/// Returns the lines before the first frame, with newlines.
[[nodiscard]] std::string frame_hash_header(const StreamInfo& info);

/// Returns a frame's line, with its newline: stream 0, dts = pts, pts, duration, size, MD5.
[[nodiscard]] std::string frame_hash_line(const Frame& frame, Rational time_base);

/// Writes such a file; constructed in RunOptions::on_open and fed in on_result. One thread at a
/// time.
class FrameHashWriter {
 public:
  /// `info.desc` is the format that the sink gets; "-" is standard output. With `resumed` it
  /// appends to the existing file. Throws Error(cannot_create).
  FrameHashWriter(const std::string& path, const StreamInfo& info, bool resumed = false);

  /// Throws Error(write_failed).
  void write(const Frame& frame);
  /// Writes what is buffered; returns the file's size. Throws Error(write_failed).
  std::uint64_t flush() { return file_.flush(); }
  void finish() { file_.finish(); }

 private:
  TextFile file_;
  Rational time_base_;
};

}  // namespace equalux

#pragma once

#include <cstdint>
#include <string>

#include "pipelines/core/source.h"
#include "pipelines/files/text_file.h"

/// `--verify`: MD5 sums of frames in FFmpeg's framemd5 text, so that `ffmpeg -f framemd5` checks
/// them. A frame's bytes are its planes, one after another, without padding, as in rawvideo;
/// transparency beside them is the last.
namespace equalux {

/// MD5 of the tight planes, 32 lower-case hexadecimal digits.
[[nodiscard]] std::string frame_md5(const ConstImageView& image);
[[nodiscard]] std::string frame_md5(const Frame& frame);

/// The seconds that one tick of the timestamps lasts: a frame where the rate is known, else 1 ns.
[[nodiscard]] Rational frame_hash_time_base(const StreamInfo& info);

/// The lines before the first frame, with newlines.
[[nodiscard]] std::string frame_hash_header(const StreamInfo& info);

/// A frame's line, with its newline: stream 0, dts = pts, pts, duration, size, MD5.
[[nodiscard]] std::string frame_hash_line(const Frame& frame, Rational time_base);

/// Writes such a file; for RunOptions::on_open (to construct it) and on_result. One thread at a
/// time.
class FrameHashWriter {
 public:
  /// `info.desc` is what the sink gets; "-" is standard output. With `resumed` it goes on behind
  /// what the file holds. Throws Error(cannot_create).
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

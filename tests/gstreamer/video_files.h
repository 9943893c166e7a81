#pragma once

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <equalux/error.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/core/sink.h"
#include "pipelines/core/source.h"
#include "tests/support/media/media_files.h"

/// Decodes files by our sources and by FFmpeg, so that tests can compare the two.
namespace equalux::test {

/// What a source gave.
struct Decoded {
  StreamInfo info;
  std::vector<std::int64_t> pts_ns;
  std::vector<FieldOrder> fields;
  std::string bytes;  ///< all frames, planes tight, as `ffmpeg -f rawvideo` writes them
};

[[nodiscard]] inline bool accepts_all(PixelFormat format) {
  return traits(format).model != ColorModel::real;
}
[[nodiscard]] inline bool accepts_rgb(PixelFormat format) {
  return traits(format).model == ColorModel::rgb;
}

inline void append_tight(std::string& bytes, const ConstImageView& image) {
  for (int plane = 0; plane < traits(image.desc.format).planes; ++plane) {
    for (int y = 0; y < plane_rows(image.desc, plane); ++y) {
      bytes.append(reinterpret_cast<const char*>(image.row(plane, y)),
                   row_bytes(image.desc, plane));
    }
  }
}

/// Reads a source to its end.
[[nodiscard]] inline Decoded decode(Source& source, const FormatPredicate& accepts = accepts_all) {
  Decoded result;
  result.info = source.open(accepts);
  FramePool pool(result.info.desc, 4, source.lends_buffers());
  for (FramePtr frame = pool.acquire(); source.read(*frame); frame = pool.acquire()) {
    result.pts_ns.push_back(frame->pts_ns);
    result.fields.push_back(frame->field_order);
    append_tight(result.bytes, frame->image);
    if (frame->has_alpha_plane()) append_tight(result.bytes, frame->alpha);
  }
  return result;
}

/// Copies frames of a source to a sink; at most `limit`.
inline std::uint64_t copy_frames(Source& source, Sink& sink, std::uint64_t limit = UINT64_MAX) {
  const StreamInfo info = source.open(accepts_all);
  sink.open(info);
  FramePool pool(info.desc, 4, source.lends_buffers());
  std::uint64_t count = 0;
  for (FramePtr frame = pool.acquire(); count < limit && source.read(*frame);
       frame = pool.acquire()) {
    sink.write(*frame);
    ++count;
  }
  return count;
}

/// The first video stream's frames as FFmpeg decodes them.
[[nodiscard]] inline std::string ffmpeg_bytes(const TempFolder& folder, const std::string& path,
                                              const std::string& pixels) {
  const std::string raw = folder / "ffmpeg.raw";
  ffmpeg("-i '" + path + "' -map 0:v:0 -fps_mode passthrough -f rawvideo -pix_fmt " + pixels +
         " '" + raw + "'");
  return read_file(raw);
}

/// The exit code of whatever `action` throws, and its message.
struct Failure {
  ExitCode code = ExitCode::done;
  std::string text;
  double seconds = 0;
};
template <typename Action>
[[nodiscard]] Failure failure_of(const Action& action) {
  Failure failure;
  const auto start = Clock::now();
  try {
    action();
  } catch (const Error& error) {
    failure = {error.code(), error.what(), 0};
  }
  failure.seconds = milliseconds(Clock::now() - start) / 1000;
  return failure;
}

}  // namespace equalux::test

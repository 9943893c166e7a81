#include "pipelines/core/frame_hash.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

#include <md5.h>

#include "pipelines/core/frame_time.h"

namespace equalux {
namespace {

std::string ratio_text(Rational ratio) {
  return std::to_string(ratio.num) + "/" + std::to_string(ratio.den);
}

}  // namespace

std::string frame_md5(const ConstImageView& image) {
  MD5_CTX context;
  MD5Init(&context);
  for (int plane = 0; plane < traits(image.desc.format).planes; ++plane) {
    const std::size_t bytes = row_bytes(image.desc, plane);
    for (int y = 0; y < plane_rows(image.desc, plane); ++y) {
      MD5Update(&context, image.row(plane, y), bytes);
    }
  }
  std::array<char, MD5_DIGEST_STRING_LENGTH> text{};
  return MD5End(&context, text.data());
}

Rational frame_hash_time_base(const StreamInfo& info) {
  if (info.frame_rate.num <= 0 || info.frame_rate.den <= 0) return {1, 1'000'000'000};
  return {info.frame_rate.den, info.frame_rate.num};
}

std::string frame_hash_header(const StreamInfo& info) {
  std::string header =
      "#format: frame checksums\n#version: 2\n#hash: MD5\n#software: equalux\n"
      "#tb 0: " +
      ratio_text(frame_hash_time_base(info)) + "\n";
  header += "#media_type 0: video\n#codec_id 0: rawvideo\n";
  header += "#dimensions 0: " + std::to_string(info.desc.width) + "x" +
            std::to_string(info.desc.height) + "\n";
  header += "#sar 0: " + ratio_text(info.pixel_aspect) + "\n";
  return header + "#stream#, dts,        pts, duration,     size, hash\n";
}

std::string frame_hash_line(const Frame& frame, Rational time_base) {
  const std::int64_t pts = ticks_from_ns(frame.pts_ns, time_base);
  const std::int64_t end = ticks_from_ns(frame.pts_ns + frame.duration_ns, time_base);
  // A known rate's frames last a tick, also those that do not say so.
  const bool per_frame = time_base.den < 1'000'000'000;
  const std::int64_t duration = std::max<std::int64_t>(end - pts, per_frame ? 1 : 0);
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "0, %10" PRId64 ", %10" PRId64 ", %8" PRId64 ", %8zu, ",
                pts, pts, duration, tight_bytes(frame.image.desc));
  return text.data() + frame_md5(frame.image) + "\n";
}

FrameHashWriter::FrameHashWriter(const std::string& path, const StreamInfo& info, bool resumed)
    : file_(path, resumed ? TextFile::Start::at_end : TextFile::Start::anew),
      time_base_(frame_hash_time_base(info)) {
  if (!resumed) file_.append(frame_hash_header(info));
}

void FrameHashWriter::write(const Frame& frame) {
  file_.append(frame_hash_line(frame, time_base_));
}

}  // namespace equalux

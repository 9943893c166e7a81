#include "pipelines/core/frame_hash.h"

#include <algorithm>
#include <array>

#include <md5.h>

#include "pipelines/core/frame_time.h"
#include "src/common/formatting.h"
#include "src/common/size_text.h"

namespace equalux {
namespace {

std::string ratio_text(Rational ratio) {
  return std::to_string(ratio.num) + "/" + std::to_string(ratio.den);
}

class Md5 {
 public:
  Md5() { MD5Init(&context_); }

  void add(const ConstImageView& image) {
    for (int plane = 0; plane < traits(image.desc.format).planes; ++plane) {
      const std::size_t bytes = row_bytes(image.desc, plane);
      for (int y = 0; y < plane_rows(image.desc, plane); ++y) {
        MD5Update(&context_, image.row(plane, y), bytes);
      }
    }
  }
  [[nodiscard]] std::string text() {
    std::array<char, MD5_DIGEST_STRING_LENGTH> digits{};
    return MD5End(&context_, digits.data());
  }

 private:
  MD5_CTX context_{};
};

}  // namespace

std::string frame_md5(const ConstImageView& image) {
  Md5 md5;
  md5.add(image);
  return md5.text();
}

std::string frame_md5(const Frame& frame) {
  Md5 md5;
  md5.add(frame.image);
  if (frame.has_alpha_plane()) md5.add(frame.alpha);
  return md5.text();
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
  header += "#dimensions 0: " + size_text(info.desc) + "\n";
  header += "#sar 0: " + ratio_text(info.pixel_aspect) + "\n";
  return header + "#stream#, dts,        pts, duration,     size, hash\n";
}

std::string frame_hash_line(const Frame& frame, Rational time_base) {
  const std::int64_t pts = ticks_from_ns(frame.pts_ns, time_base);
  const std::int64_t end = ticks_from_ns(frame.pts_ns + frame.duration_ns, time_base);
  // With a known rate every frame lasts one tick, including frames without a duration.
  const bool per_frame = time_base.den < 1'000'000'000;
  const std::int64_t duration = std::max<std::int64_t>(end - pts, per_frame ? 1 : 0);
  std::size_t bytes = tight_bytes(frame.image.desc);
  if (frame.has_alpha_plane()) bytes += tight_bytes(frame.alpha.desc);
  return fmt::format("0, {:10}, {:10}, {:8}, {:8}, {}\n", pts, pts, duration, bytes,
                     frame_md5(frame));
}

FrameHashWriter::FrameHashWriter(const std::string& path, const StreamInfo& info, bool resumed)
    : file_(path, resumed ? TextFile::Start::at_end : TextFile::Start::from_empty),
      time_base_(frame_hash_time_base(info)) {
  if (!resumed) file_.append(frame_hash_header(info));
}

void FrameHashWriter::write(const Frame& frame) {
  file_.append(frame_hash_line(frame, time_base_));
}

}  // namespace equalux

#include "pipelines/core/test_source.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include <equalux/error.h>

#include "pipelines/core/frame_time.h"
#include "pipelines/picture/convert_rgb.h"
#include "src/common/size_text.h"
#include "src/format/layout.h"
#include "src/options/option_values.h"

namespace equalux {
namespace {

// Margin by which the picture exceeds the window that moves inside it. It moves by two pixels, so
// that chroma samples stay whole in every format.
constexpr int kMargin = 64;
constexpr int kStride = 2;
constexpr int kPeriodX = 2 * kMargin / kStride;
constexpr int kPeriodY = 58;  // shares few factors with the other: the path closes after 1,856
                              // frames

// Range of luma that looks like haze: about 90 to 165 of 255.
constexpr int kDarkest = 90;
constexpr std::array<int, 4> kCellShift{8, 6, 4, 1};  // log2 of the cells' sides, coarse to fine
constexpr std::array<int, 4> kAmplitude{34, 22, 13, 6};

std::uint32_t hash(std::uint32_t x, std::uint32_t y, std::uint32_t layer) {
  std::uint32_t h = x * 0x9E3779B1U ^ y * 0x85EBCA77U ^ layer * 0xC2B2AE3DU;
  h = (h ^ (h >> 15)) * 0x2C1B3C6DU;
  h = (h ^ (h >> 12)) * 0x297A2D39U;
  return h ^ (h >> 15);
}

/// Value noise, 0 to 255: random values at the corners of cells, interpolated linearly.
int noise(int x, int y, int shift, std::uint32_t layer) {
  const auto cell_x = static_cast<std::uint32_t>(x >> shift);
  const auto cell_y = static_cast<std::uint32_t>(y >> shift);
  const int size = 1 << shift;
  const int fx = x & (size - 1);
  const int fy = y & (size - 1);
  const auto corner = [&](std::uint32_t dx, std::uint32_t dy) {
    return static_cast<int>(hash(cell_x + dx, cell_y + dy, layer) >> 24);
  };
  const int top = corner(0, 0) * (size - fx) + corner(1, 0) * fx;
  const int bottom = corner(0, 1) * (size - fx) + corner(1, 1) * fx;
  return (top * (size - fy) + bottom * fy) >> (2 * shift);
}

std::uint8_t luma_at(int x, int y) {
  int sum = 0;
  for (std::size_t i = 0; i < kCellShift.size(); ++i) {
    sum += noise(x, y, kCellShift[i], static_cast<std::uint32_t>(i)) * kAmplitude[i];
  }
  return static_cast<std::uint8_t>(kDarkest + sum / 255);
}

/// Computes Cb (layer 8) or Cr (layer 9): soft patches of weak colour.
std::uint8_t chroma_at(int x, int y, std::uint32_t layer) {
  return static_cast<std::uint8_t>(128 + (noise(x, y, kCellShift[0], layer) - 128) / 10);
}

/// Fills luma. The last pair of an odd width in YUY2 and UYVY has one more sample, which is filled,
/// too.
void fill_luma(const ImageView& view) {
  const Samples<std::uint8_t> luma = samples_of(view, 0);
  const int columns = static_cast<int>(row_bytes(view.desc, 0)) / luma.step;
  for (int y = 0; y < luma.rows; ++y) {
    for (int x = 0; x < columns; ++x)
      *luma.at(x, y) = luma_at(x, y);
  }
}

void fill_chroma(const ImageView& view, int component, std::uint32_t layer) {
  const FormatTraits& form = traits(view.desc.format);
  const Samples<std::uint8_t> chroma = samples_of(view, component);
  for (int y = 0; y < chroma.rows; ++y) {
    for (int x = 0; x < chroma.columns; ++x)
      *chroma.at(x, y) = chroma_at(x << form.chroma_shift_x, y << form.chroma_shift_y, layer);
  }
}

void paint_yuv(const ImageView& view) {
  constexpr std::uint32_t kCb = 8;
  constexpr std::uint32_t kCr = 9;
  fill_luma(view);
  fill_chroma(view, 1, kCb);
  fill_chroma(view, 2, kCr);
}

Image paint(const ImageDesc& desc) {
  Image picture(desc);
  switch (traits(desc.format).model) {
    case ColorModel::gray:
      fill_luma(picture.view());
      break;
    case ColorModel::rgb: {
      ImageDesc yuv = desc;
      yuv.format = PixelFormat::i420;
      Image colours(yuv);
      paint_yuv(colours.view());
      convert_to_rgb(colours.view(), picture.view());
      break;
    }
    default:
      paint_yuv(picture.view());
      break;
  }
  return picture;
}

/// Returns 0, 1, ... and back within a period.
int there_and_back(std::uint64_t index, int period) {
  const int phase = static_cast<int>(index % static_cast<std::uint64_t>(period));
  return std::min(phase, period - phase);
}

class TestSource final : public Source {
 public:
  explicit TestSource(const TestPattern& pattern) : pattern_(pattern) {}

  StreamInfo open(const FormatPredicate& accepts) override {
    StreamInfo info;
    info.name = "test:" + size_text(pattern_.width, pattern_.height);
    info.desc.width = pattern_.width;
    info.desc.height = pattern_.height;
    info.desc.format = choose_format(accepts);
    info.frame_rate = pattern_.frame_rate;
    desc_ = info.desc;
    ImageDesc larger = desc_;
    larger.width += kMargin;
    larger.height += kMargin;
    picture_ = paint(larger);
    return info;
  }

  [[nodiscard]] bool lends_buffers() const override { return true; }

  bool read(Frame& frame) override {
    if (cancelled_) return false;
    frame.image =
        part_of(ConstImageView(picture_.view()), kStride * there_and_back(count_, kPeriodX),
                kStride * there_and_back(count_, kPeriodY), desc_.width, desc_.height);
    frame.pts_ns = frame_time_ns(count_, pattern_.frame_rate);
    frame.duration_ns = frame_time_ns(count_ + 1, pattern_.frame_rate) - frame.pts_ns;
    ++count_;
    return true;
  }

  void cancel() noexcept override { cancelled_ = true; }

 private:
  static PixelFormat choose_format(const FormatPredicate& accepts) {
    constexpr std::array kPreferred{PixelFormat::i420, PixelFormat::nv12, PixelFormat::y42b,
                                    PixelFormat::y444, PixelFormat::bgr,  PixelFormat::rgb,
                                    PixelFormat::gray8};
    for (const PixelFormat format : kPreferred) {
      if (accepts(format)) return format;
    }
    for (int i = 0; i < kPixelFormatCount; ++i) {
      const auto format = static_cast<PixelFormat>(i);
      if (has_byte_samples(format) && accepts(format)) return format;
    }
    throw Error(ExitCode::usage, "test: the filters take none of the formats that test: gives");
  }

  TestPattern pattern_;
  ImageDesc desc_;
  Image picture_;
  std::uint64_t count_ = 0;
  std::atomic<bool> cancelled_{false};
};

std::optional<int> parse_side(std::string_view text) {
  const auto side = number_from<int>(text);
  // The picture behind the window must be a valid frame itself.
  return side && *side >= 1 && *side <= kMaxSide - kMargin ? side : std::nullopt;
}

}  // namespace

TestPattern parse_test_pattern(std::string_view text) {
  const std::size_t at = std::min(text.find('@'), text.size());
  const std::string_view size = text.substr(0, at);
  const std::size_t cross = std::min(size.find('x'), size.size());
  const std::optional<int> width = parse_side(size.substr(0, cross));
  const std::optional<int> height = parse_side(size.substr(std::min(cross + 1, size.size())));
  const std::optional<Rational> rate =
      at < text.size() ? parse_rate(text.substr(at + 1)) : Rational{30, 1};
  if (!width || !height || !rate ||
      (std::int64_t{*width} + kMargin) * (*height + kMargin) > kMaxPixels) {
    throw Error(ExitCode::usage,
                "test:" + std::string(text) + ": must be test:WxH@FPS with sides of 1 to " +
                    std::to_string(kMaxSide - kMargin) + ", such as test:1280x720@30");
  }
  return {*width, *height, *rate};
}

std::unique_ptr<Source> make_test_source(const TestPattern& pattern) {
  return std::make_unique<TestSource>(pattern);
}

}  // namespace equalux

#include "tests/equalize/space/space_reference.h"

#include <algorithm>

#include "src/cpu/equalize/curve_maker.h"
#include "src/equalize/fixed_curve.h"
#include "src/equalize/space.h"
#include "src/format/layout.h"

namespace equalux::test {
namespace {

class Definition {
 public:
  explicit Definition(Space space) : space_(space), tables_(make_space_tables(space)) {}

  [[nodiscard]] std::uint32_t level(const SpacePixel& p) const {
    if (space_ == Space::luma) {
      return (13933 * p.red + 46871 * p.green + 4732 * p.blue + 32768) / 65536;
    }
    return space_level(space_, tables_, p.red, p.green, p.blue);
  }

  [[nodiscard]] SpacePixel result(const SpacePixel& p, std::uint32_t v, std::uint32_t curve) const {
    if (space_ == Space::luma) {
      const auto code = [&](std::uint64_t c) {
        if (v == 0) return static_cast<std::uint32_t>(c);
        const std::uint64_t one = std::uint64_t{v} << 22;
        return static_cast<std::uint32_t>(
            std::min<std::uint64_t>(255, (2 * c * curve + one) / (2 * one)));
      };
      return {code(p.red), code(p.green), code(p.blue)};
    }
    const std::uint64_t gain = space_gain(space_, v, curve);
    if (!space_scales(space_codes(space_, tables_, gain), p)) {
      return space_at_same_hue(tables_, p, gain);
    }
    return {space_scaled(space_, tables_, p.red, gain),
            space_scaled(space_, tables_, p.green, gain),
            space_scaled(space_, tables_, p.blue, gain)};
  }

 private:
  Space space_;
  SpaceTables tables_;
};

CurveTable curve_of(const EqualizeParams& params, const ValueHistogram& counts) {
  if (params.curve) return curve_table(*params.curve, 255);
  CurveMaker maker;
  maker.configure(255);
  maker.set_bins(params.bins == 0 ? 256 : params.bins);
  tone::Control control(params);
  return maker.make(counts, control.next({}));
}

}  // namespace

void reference_in_space(const EqualizeParams& params, const ConstImageView& in,
                        const ImageView& out) {
  const Definition definition(params.space);
  const RgbLayout at = rgb_layout(in.desc.format);
  const auto for_pixels = [&](const auto& body) {
    for (int y = 0; y < in.desc.height; ++y) {
      for (int x = 0; x < in.desc.width; ++x) {
        const std::uint8_t* p = in.row(0, y) + at.step * x;
        const SpacePixel pixel{p[at.r], p[at.g], p[at.b]};
        body(p, pixel, definition.level(pixel), out.row(0, y) + at.step * x);
      }
    }
  };
  ValueHistogram counts{};
  for_pixels(
      [&](const std::uint8_t*, const SpacePixel&, std::uint32_t v, std::uint8_t*) { ++counts[v]; });
  const CurveTable curve = curve_of(params, counts);
  for_pixels([&](const std::uint8_t* p, const SpacePixel& pixel, std::uint32_t v, std::uint8_t* q) {
    const SpacePixel result = definition.result(pixel, v, curve[v]);
    q[at.r] = static_cast<std::uint8_t>(result.red);
    q[at.g] = static_cast<std::uint8_t>(result.green);
    q[at.b] = static_cast<std::uint8_t>(result.blue);
    if (at.alpha >= 0) q[at.alpha] = p[at.alpha];
  });
}

ToneCurve random_curve(Space space, std::mt19937& random) {
  ToneCurve curve{space, 1, {}, {}};
  std::uint32_t level = 0;
  const std::uint32_t step = random() % (8 * ToneCurve::kUnit) + 1;
  for (int v = 0; v < 256; ++v) {
    curve.levels.push_back(level);
    level = std::min(level + static_cast<std::uint32_t>(random()) % step, 255 * ToneCurve::kUnit);
  }
  return curve;
}

}  // namespace equalux::test

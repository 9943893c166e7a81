#include "src/cpu/clahe/opencv_rows.h"

#include "src/clahe/opencv_tiles.h"
#include "src/cpu/common/simd_targets.h"
#include "src/cpu/common/stores.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/clahe/opencv_rows.cpp"
// clang-format off
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include "src/cpu/common/highway-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equalux::opencv_tiles {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

OpencvRows target_opencv_rows() {
  return scalar_opencv_rows();
}

#else

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DU = hn::RebindToUnsigned<DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;
constexpr std::size_t kLanes = hn::MaxLanes(DF());

/// mixed() of a vector of pixels, in the same order and without fused operations.
HWY_INLINE VI mix(VF above_left, VF above_right, VF below_left, VF below_right, VF of_right,
                  float of_below) {
  const DF d;
  const VF of_left = hn::Sub(hn::Set(d, 1.0F), of_right);
  const VF above = hn::Add(hn::Mul(above_left, of_left), hn::Mul(above_right, of_right));
  const VF below = hn::Add(hn::Mul(below_left, of_left), hn::Mul(below_right, of_right));
  return hn::NearestInt(
      hn::Add(hn::Mul(above, hn::Set(d, 1.0F - of_below)), hn::Mul(below, hn::Set(d, of_below))));
}

void join(const std::uint8_t* above_left, const std::uint8_t* above_right,
          const std::uint8_t* below_left, const std::uint8_t* below_right, std::uint32_t* quads) {
  const hn::ScalableTag<std::uint8_t> d;
  for (std::size_t v = 0; v < 256; v += hn::Lanes(d)) {
    hn::StoreInterleaved4(hn::LoadU(d, above_left + v), hn::LoadU(d, above_right + v),
                          hn::LoadU(d, below_left + v), hn::LoadU(d, below_right + v), d,
                          reinterpret_cast<std::uint8_t*>(quads + v));
  }
}

void mix_bytes(const std::uint32_t* quads, const float* of_right, float of_below,
               const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  const DF df;
  const DI di;
  const DU du;
  const hn::Rebind<std::uint8_t, DF> d8;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const VI v = hn::BitCast(di, hn::PromoteTo(du, hn::LoadU(d8, in + i)));
    const auto quad = hn::GatherIndex(du, quads, v);
    const auto byte = [&](auto shifted) HWY_ATTR {
      return hn::ConvertTo(df, hn::BitCast(di, hn::And(shifted, hn::Set(du, 255))));
    };
    const VI mean = mix(byte(quad), byte(hn::ShiftRight<8>(quad)), byte(hn::ShiftRight<16>(quad)),
                        byte(hn::ShiftRight<24>(quad)), hn::LoadU(df, of_right + i), of_below);
    hn::StoreU(hn::DemoteTo(d8, mean), d8, out + i);
  }
  scalar_opencv_rows().mix_bytes(quads, of_right + i, of_below, in + i, n - i, out + i);
}

void mix_words(const WordCorners& corners, const float* of_right, float of_below,
               const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  const DF df;
  const DI di;
  const DU du;
  const hn::Rebind<std::uint16_t, DF> d16;
  const hn::Repartition<std::uint8_t, decltype(d16)> bytes;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const auto word = hn::BitCast(d16, hn::LoadU(bytes, in + 2 * i));
    const VI at = hn::BitCast(di, hn::ShiftLeft<1>(hn::PromoteTo(du, word)));
    // The 32-bit gather also reads the next level, which is masked off.
    const auto level = [&](const std::uint16_t* table) HWY_ATTR {
      const auto two = hn::GatherOffset(du, reinterpret_cast<const std::uint32_t*>(table), at);
      return hn::ConvertTo(df, hn::BitCast(di, hn::And(two, hn::Set(du, 65535))));
    };
    const VI mean =
        mix(level(corners.above_left), level(corners.above_right), level(corners.below_left),
            level(corners.below_right), hn::LoadU(df, of_right + i), of_below);
    hn::StoreU(hn::BitCast(bytes, hn::DemoteTo(d16, mean)), bytes, out + 2 * i);
  }
  scalar_opencv_rows().mix_words(corners, of_right + i, of_below, in + 2 * i, n - i, out + 2 * i);
}

OpencvRows target_opencv_rows() {
  return {hwy::TargetName(HWY_TARGET), join, mix_bytes, mix_words};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace equalux::opencv_tiles
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equalux {
namespace opencv_tiles {

void scalar_join(const std::uint8_t* above_left, const std::uint8_t* above_right,
                 const std::uint8_t* below_left, const std::uint8_t* below_right,
                 std::uint32_t* quads) {
  for (std::size_t v = 0; v < 256; ++v) {
    quads[v] = above_left[v] | std::uint32_t{above_right[v]} << 8 |
               std::uint32_t{below_left[v]} << 16 | std::uint32_t{below_right[v]} << 24;
  }
}

void scalar_mix_bytes(const std::uint32_t* quads, const float* of_right, float of_below,
                      const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t quad = quads[in[i]];
    const auto byte = [quad](int place) {
      return static_cast<float>(static_cast<std::int32_t>(quad >> (8 * place) & 255));
    };
    out[i] = static_cast<std::uint8_t>(
        opencv::mixed({byte(0), byte(1), byte(2), byte(3)}, of_right[i], of_below));
  }
}

void scalar_mix_words(const WordCorners& corners, const float* of_right, float of_below,
                      const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint16_t v = load_word(in + 2 * i);
    const auto level = static_cast<std::uint16_t>(opencv::mixed(
        {static_cast<float>(corners.above_left[v]), static_cast<float>(corners.above_right[v]),
         static_cast<float>(corners.below_left[v]), static_cast<float>(corners.below_right[v])},
        of_right[i], of_below));
    store_word(out + 2 * i, level);
  }
}

}  // namespace opencv_tiles

const OpencvRows& scalar_opencv_rows() {
  static const OpencvRows rows{kScalarTarget, opencv_tiles::scalar_join,
                               opencv_tiles::scalar_mix_bytes, opencv_tiles::scalar_mix_words};
  return rows;
}

}  // namespace equalux

EQUALUX_DEFINE_LOOPS(equalux, equalux::opencv_tiles, OpencvRows, opencv_rows)
#endif  // HWY_ONCE

#include "src/cpu/common/round_rows.h"

#include <algorithm>

#include "src/cpu/common/simd_targets.h"
#include "src/format/rounding.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/common/round_rows.cpp"
// clang-format off
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include "src/cpu/common/highway-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equalux::rounding {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

RoundRows target_round_rows() {
  return scalar_round_rows();
}

#else

template <Stores kStores>
void round_to(const std::uint8_t* in, const RowThresholds& thresholds, int shift, std::size_t n,
              std::uint8_t* out) {
  using D = hn::ScalableTag<std::uint16_t>;
  const D d;
  const hn::Repartition<std::int16_t, D> signed_words;
  const hn::Repartition<std::uint8_t, D> bytes;
  const hn::Half<decltype(bytes)> half;
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  std::size_t at = 0;  // column modulo the period
  const std::size_t step = kLanes % thresholds.period;
  const auto levels = [&](std::size_t i) {
    const auto words = hn::BitCast(d, hn::LoadU(bytes, in + 2 * i));
    const auto sum = hn::SaturatedAdd(words, hn::LoadU(d, thresholds.at.data() + at));
    at += step;
    if (at >= thresholds.period) at -= thresholds.period;
    // At most 12 bits are left, so that the signed conversion is valid.
    return hn::DemoteTo(half, hn::BitCast(signed_words, hn::ShiftRightSame(sum, shift)));
  };
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    if constexpr (kStores == Stores::streaming) {
      hn::Stream(levels(i), half, out + i);
    } else {
      hn::StoreU(levels(i), half, out + i);
    }
  }
  for (; i < n; ++i)
    out[i] = rounded_word(in, thresholds, shift, i);
}

void round(const std::uint8_t* in, const RowThresholds& thresholds, int shift, Stores stores,
           std::size_t n, std::uint8_t* out) {
  constexpr std::uintptr_t kBytes = hn::MaxLanes(hn::ScalableTag<std::uint16_t>());
  // Only whole vectors are streamed; results are half vectors.
  const bool streams = stores == Stores::streaming && kBytes >= 16;
  if (streams && reinterpret_cast<std::uintptr_t>(out) % kBytes == 0) {
    round_to<Stores::streaming>(in, thresholds, shift, n, out);
  } else {
    round_to<Stores::cached>(in, thresholds, shift, n, out);
  }
}

void flush_stores() {
  hwy::FlushStream();
}

void pack(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, int luma,
          std::size_t n, std::uint8_t* out) {
  const hn::ScalableTag<std::uint8_t> d;
  const hn::Half<decltype(d)> half;
  const hn::Repartition<std::uint16_t, decltype(d)> pairs;
  constexpr std::size_t kLanes = hn::MaxLanes(decltype(half)());
  std::size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const auto chroma = [&](const std::uint8_t* from) {
      return hn::PromoteTo(pairs, hn::LoadU(half, from + i / 2));
    };
    const auto colours = hn::BitCast(d, hn::Or(chroma(cb), hn::ShiftLeft<8>(chroma(cr))));
    const auto lumas = hn::LoadU(d, y + i);
    if (luma == 0) {
      hn::StoreInterleaved2(lumas, colours, d, out + 2 * i);
    } else {
      hn::StoreInterleaved2(colours, lumas, d, out + 2 * i);
    }
  }
  scalar_round_rows().pack(y + i, cb + i / 2, cr + i / 2, luma, n - i, out + 2 * i);
}

RoundRows target_round_rows() {
  return {hwy::TargetName(HWY_TARGET), round, pack, flush_stores};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace equalux::rounding
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equalux {
namespace rounding {

void scalar_round(const std::uint8_t* in, const RowThresholds& thresholds, int shift, Stores,
                  std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = rounded_word(in, thresholds, shift, i);
}

void scalar_pack(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, int luma,
                 std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; i += 2, out += 4) {
    // Half a pair at the end has no second column, but is written.
    out[luma] = y[i];
    out[luma + 2] = y[std::min(i + 1, n - 1)];
    out[1 - luma] = cb[i / 2];
    out[3 - luma] = cr[i / 2];
  }
}

}  // namespace rounding

const RoundRows& scalar_round_rows() {
  static const RoundRows rows{kScalarTarget, rounding::scalar_round, rounding::scalar_pack,
                              flush_no_stores};
  return rows;
}

FractionRounder::FractionRounder(PixelFormat format, const RoundRows& loops) : loops_(loops) {
  const FormatTraits& fine = traits(*format_with_fractions(format));
  const int bits = fine.depth - 8;
  shift_ = bits + fine.shift;
  luma_offset_ = traits(format).offset[0];
  const auto fill = [&](RowThresholds& row, int samples, int y, Dither dither) {
    row.period = 8 * static_cast<std::size_t>(samples);
    for (std::size_t i = 0; i < row.at.size(); ++i) {
      const int column = static_cast<int>(i % row.period) / samples;
      row.at[i] =
          static_cast<std::uint16_t>(rounding_threshold(dither, column, y, bits) << fine.shift);
    }
  };
  for (int plane = 0; plane < fine.planes; ++plane) {
    Plane& each = planes_.emplace_back();
    const int samples = fine.step[static_cast<std::size_t>(plane)] / 2;
    fill(each.nearest, samples, 0, Dither::none);
    for (int y = 0; y < 8; ++y)
      fill(each.ordered[static_cast<std::size_t>(y)], samples, y, Dither::ordered);
  }
}

void FractionRounder::round(int plane, int y, const std::uint8_t* in, std::size_t n, Dither dither,
                            Stores stores, std::uint8_t* out) const {
  const Plane& of = planes_[static_cast<std::size_t>(plane)];
  loops_.round(in,
               dither == Dither::none ? of.nearest : of.ordered[static_cast<std::size_t>(y % 8)],
               shift_, stores, n, out);
}

void FractionRounder::pack(int y, const YuvRowIn& in, std::size_t n, Dither dither,
                           std::uint8_t* scratch, std::uint8_t* out) const {
  const std::size_t pairs = (n + 1) / 2;
  std::uint8_t* const cb = scratch + 2 * pairs;
  std::uint8_t* const cr = cb + pairs;
  round(0, y, in.luma[0], n, dither, Stores::cached, scratch);
  round(1, y, in.cb, pairs, dither, Stores::cached, cb);
  round(2, y, in.cr, pairs, dither, Stores::cached, cr);
  loops_.pack(scratch, cb, cr, luma_offset_, n, out);
}

}  // namespace equalux

EQUALUX_DEFINE_LOOPS(equalux, equalux::rounding, RoundRows, round_rows)
#endif  // HWY_ONCE

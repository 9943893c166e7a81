// Tests of levels when the tables of saturation are made; included once for each target.
#if defined(EQUALUX_FUSED_SATURATE_LEVELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_SATURATE_LEVELS_INL_H
#undef EQUALUX_FUSED_SATURATE_LEVELS_INL_H
#else
#define EQUALUX_FUSED_SATURATE_LEVELS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// Tests channels 0 to v of a level, a vector of double precision at a time; 256 v - k i is exact
/// there.
bool saturates_exactly(const SaturatedLevel& level) {
#if HWY_HAVE_FLOAT64
  const hn::ScalableTag<double> d;
  const auto scale = hn::Set(d, level.scale);
  const auto half = hn::Set(d, 0.5);
  const auto half_or_more = hn::Set(d, kHalfOrMore);
  constexpr auto kLanes = static_cast<std::int32_t>(hn::MaxLanes(hn::ScalableTag<double>()));
  // Negative values are cut at 0, which is where S reaches 1; values beyond v do not matter.
  const auto on_line = [&](const ChannelLine& line, hn::Vec<decltype(d)> under) HWY_ATTR {
    return hn::Max(hn::NegMulAdd(under, hn::Set(d, line.step), hn::Set(d, line.at_value)),
                   hn::Zero(d));
  };
  const ChannelLine parts{256.0 * level.v, static_cast<double>(level.factor)};
  auto under = hn::Iota(d, 0.0);
  for (std::int32_t i = 0; i <= level.v; i += kLanes) {
    const auto exact = hn::Floor(hn::MulAdd(on_line(parts, under), scale, half_or_more));
    const auto below = hn::Floor(hn::Add(on_line(level.low, under), half));
    const auto above = hn::Floor(hn::Add(on_line(level.high, under), half));
    if (!hn::AllTrue(d, hn::And(hn::Eq(below, exact), hn::Eq(above, exact)))) return false;
    under = hn::Add(under, hn::Set(d, static_cast<double>(kLanes)));
  }
  return true;
#else
  return scalar_fused_rows().saturates_exactly(level);
#endif
}

/// Least and largest term of an arithmetic progression of 32-bit words, a vector at a time.
WordRange word_range(std::uint32_t at, std::uint32_t step, std::int32_t n) {
  const D32 d;
  constexpr auto kLanes = static_cast<std::int32_t>(kBytes / 4);
  if (n < kLanes) return scalar_fused_rows().word_range(at, step, n);
  const V32 first = hn::Sub(hn::Set(d, at), hn::Mul(hn::Iota(d, 0), hn::Set(d, step)));
  const V32 steps = hn::Set(d, kLanes * step);
  V32 words = first;
  V32 least = first;
  V32 most = first;
  std::int32_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes) {
    words = hn::Sub(words, steps);
    least = hn::Min(least, words);
    most = hn::Max(most, words);
  }
  // Last vector, overlapping the one before.
  words = hn::Sub(first, hn::Set(d, static_cast<std::uint32_t>(n - kLanes) * step));
  return {hn::GetLane(hn::MinOfLanes(d, hn::Min(least, words))),
          hn::GetLane(hn::MaxOfLanes(d, hn::Max(most, words)))};
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // include guard

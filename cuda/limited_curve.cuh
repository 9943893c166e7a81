#pragma once

#include <cstdint>

#include "chunk_copy.cuh"
#include "fused_config.h"
#include "fused_params.h"
#include "tone_history.h"
#include "tone_limits.h"
#include "warp_sum.cuh"

/// Curves with limits and over time, in every block for itself like the gains: the same steps as
/// src/cpu/curve_maker.cpp, levels and quantiles dealt out to the threads.
namespace equalux::cuda {

static_assert(tone::kQuantiles == kLanes);

/// What the steps hand to each other. It lies where the counters were and the gains will be.
struct CurveSteps {
  std::uint32_t frame[256];             ///< the frame's distribution
  std::uint32_t distribution[256];      ///< what the curve is made of
  std::uint32_t sums[256];              ///< of clipped parts
  std::uint32_t curve[256];
  std::uint32_t now[kLanes];            ///< the frame's quantiles
  std::uint32_t base[kLanes];           ///< the history's
  std::uint32_t gain[2][kLanes];        ///< that takes the history's or the last frame's quantile
  std::uint32_t distance[2][kLanes];    ///< to the frame's, and what it leaves
  std::uint32_t warp_sums[tone::kMostClipSteps + 1][256 / kLanes];
  tone::Match match[2];
  std::uint32_t kept[2];
  std::uint32_t quantile_sum[2];
  std::uint32_t capped[2];              ///< difference and sum
  tone::Decision decision;
  std::uint32_t first_level;            ///< whose clipped sum is not 0
};

/// The levels that a thread has in hand: one, or two neighbours in small blocks. The first 256
/// threads have them all.
template <int kThreads>
struct Levels {
  static constexpr int kEach = kThreads < 256 ? 256 / kThreads : 1;
  std::uint32_t first;
  std::uint32_t max_value;

  __device__ explicit Levels(const FusedParams& p)
      : first(threadIdx.x * kEach), max_value(static_cast<std::uint32_t>(p.weights.luma_max)) {}
  [[nodiscard]] __device__ std::uint32_t level(int i) const {
    return first + static_cast<std::uint32_t>(i);
  }
  [[nodiscard]] __device__ bool has(int i) const { return level(i) <= max_value; }
};

/// Starts to bring the history into the block's memory; seen after the threads' copies_wait() and a
/// barrier. Every block must have it before one of them writes the history anew.
__device__ __forceinline__ void load_history(tone::History& to, const tone::History& from) {
  static_assert(sizeof(tone::History) % kVectorBytes == 0);
  constexpr int kVectors = static_cast<int>(sizeof(tone::History)) / kVectorBytes;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread >= kVectors) return;
  copy_vector_async(reinterpret_cast<std::uint8_t*>(&to) + thread * kVectorBytes,
                    reinterpret_cast<const std::uint8_t*>(&from) + thread * kVectorBytes);
}

/// The quantiles that lie in level v of a distribution; beyond the last level where v is that one.
__device__ __forceinline__ void place_quantiles(const std::uint32_t* distribution, std::uint32_t v,
                                                std::uint32_t max_value,
                                                std::uint32_t* quantiles) {
  const std::uint32_t before = v == 0 ? 0 : distribution[v - 1];
  const std::uint32_t at = distribution[v];
  const std::uint32_t end = tone::first_quantile(at);
  for (std::uint32_t j = tone::first_quantile(before); j < end; ++j)
    quantiles[j] = tone::quantile_at(j, v, before, at);
  if (v != max_value) return;
  for (std::uint32_t j = end; j < tone::kQuantiles; ++j)
    quantiles[j] = (max_value + 1) * tone::kLevel;
}

/// Tries for each quantile the gain that takes it to the frame's, from the history's in even warps
/// and from the last frame's in odd ones. A lane has a quantile, a warp some of the gains.
template <int kThreads>
__device__ __forceinline__ void try_gains(const std::uint32_t* last_quantiles, CurveSteps& s) {
  constexpr int kEach = kLanes / (kThreads / kLanes / 2);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  const int set = warp % 2;
  const std::uint32_t now = s.now[lane];
  const std::uint32_t from = set == 0 ? s.base[lane] : last_quantiles[lane];
  const std::uint32_t gains = tone::gain_between(from, now);
  if (warp < 2) s.gain[set][lane] = gains;
#pragma unroll 4
  for (int i = 0; i < kEach; ++i) {
    const int j = warp / 2 * kEach + i;
    const std::uint32_t gain = __shfl_sync(0xFFFFFFFFU, gains, j);
    const std::uint32_t sum = warp_sum(tone::distance(now, tone::scaled_quantile(from, gain)));
    if (lane == 0) s.distance[set][j] = gain == 0 ? tone::kNoMatch : sum;
  }
}

/// Compares the frame with the history in warp 0, and with the last frame in warp 1.
__device__ __forceinline__ void compare_frames(const tone::History& history, CurveSteps& s) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int set = static_cast<int>(threadIdx.x) / kLanes;
  const std::uint32_t distance = s.distance[set][lane];
  const std::uint32_t least = warp_min(distance);
  const unsigned lanes = __ballot_sync(0xFFFFFFFFU, distance == least);
  const std::uint32_t gain =
      least == tone::kNoMatch ? 0 : s.gain[set][__ffs(static_cast<int>(lanes)) - 1];
  const std::uint32_t now = s.now[lane];
  const std::uint32_t from = set == 0 ? s.base[lane] : history.previous[lane];
  const std::uint32_t kept = warp_sum(
      tone::distance(now, tone::scaled_quantile(from, set == 0 ? history.gain : tone::kUnit)));
  const std::uint32_t sum = warp_sum(set == 0 ? from : now);
  const std::uint32_t matched = tone::scaled_quantile(from, gain);
  const std::uint32_t capped_sum = (sum + warp_sum(matched)) / 2;
  const std::uint32_t capped =
      warp_sum(tone::capped(tone::distance(now, matched), capped_sum));
  if (lane != 0) return;
  s.match[set] = {gain, least};
  s.kept[set] = kept;
  s.quantile_sum[set] = sum;
  if (set == 0) return;
  s.capped[0] = capped;
  s.capped[1] = capped_sum;
}

/// What becomes of the history; one thread decides.
__device__ __forceinline__ tone::Decision decide(const FusedParams& p,
                                                 const tone::History& history,
                                                 const CurveSteps& s, std::uint32_t frames) {
  tone::Comparison c;
  c.base = s.match[0];
  c.last = s.match[1];
  c.base_kept = s.kept[0];
  c.last_kept = s.kept[1];
  c.base_sum = s.quantile_sum[0];
  c.now_sum = s.quantile_sum[1];
  c.capped_difference = s.capped[0];
  c.capped_sum = s.capped[1];
  return tone::decide(frames, history.gain, history.exposure, c, p.tone.rates);
}

/// Takes the frame into the history, which block 0 writes to the device's. Leaves the distribution
/// at the mean exposure; a barrier must follow.
template <int kThreads>
__device__ __forceinline__ void follow_frame(const FusedParams& p, tone::History& history,
                                             CurveSteps& s) {
  const Levels<kThreads> levels(p);
  const std::uint32_t frames = p.tone.fresh ? 0 : history.frames;
  // Once for the frame, once for the history.
#pragma unroll 1
  for (int which = 0; which < (frames == 0 ? 1 : 2); ++which) {
    const std::uint32_t* from = which == 0 ? s.frame : history.distribution;
    for (int i = 0; i < levels.kEach; ++i) {
      if (!levels.has(i)) continue;
      place_quantiles(from, levels.level(i), levels.max_value, which == 0 ? s.now : s.base);
    }
  }
  __syncthreads();
  if (frames != 0) {
    try_gains<kThreads>(history.previous, s);
    __syncthreads();
    if (threadIdx.x < 2 * kLanes) compare_frames(history, s);
    __syncthreads();
  }
  if (threadIdx.x == 0) s.decision = decide(p, history, s, frames);
  __syncthreads();
  const tone::Decision d = s.decision;
  for (int i = 0; i < levels.kEach; ++i) {
    const std::uint32_t v = levels.level(i);
    if (!levels.has(i)) continue;
    history.distribution[v] =
        d.cut ? s.frame[v]
              : tone::between(history.distribution[v],
                              tone::at_base(s.frame, v, d.gain, levels.max_value), d.rate);
  }
  __syncthreads();
  tone::History& after = p.state->history;
  const bool moves = tone::moves_base(d.exposure);
  for (int i = 0; i < levels.kEach; ++i) {
    const std::uint32_t v = levels.level(i);
    if (!levels.has(i)) continue;
    s.distribution[v] =
        tone::at_exposure(history.distribution, v, d.inverse_exposure, levels.max_value);
    if (blockIdx.x == 0) {
      after.distribution[v] = moves ? s.distribution[v] : history.distribution[v];
    }
  }
  if (blockIdx.x != 0) return;
  if (threadIdx.x < kLanes) after.previous[threadIdx.x] = s.now[threadIdx.x];
  if (threadIdx.x == 0) {
    after.gain = moves ? tone::scaled_by(d.gain, d.inverse_exposure) : d.gain;
    after.exposure = moves ? tone::kUnit : d.exposure;
    after.frames = d.cut ? 1 : tone::frames_after(frames);
  }
}

/// The sum over the block of what the first 256 threads have. `sums` is one for each of their warps
/// and used once. A barrier lies in between; so one at which the threads count is given.
template <int kThreads, typename Barrier>
__device__ __forceinline__ std::uint32_t block_sum(std::uint32_t x, std::uint32_t* sums,
                                                   Barrier barrier) {
  constexpr int kWarps = (kThreads < 256 ? kThreads : 256) / kLanes;
  const std::uint32_t of_warp = warp_sum(x);
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  if (warp < kWarps && threadIdx.x % kLanes == 0) sums[warp] = of_warp;
  barrier();
  std::uint32_t sum = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w)
    sum += sums[w];
  return sum;
}

/// The sums of the distribution's clipped parts, and the first level where they are not 0; a barrier
/// must follow.
template <int kThreads>
__device__ __forceinline__ void clip_parts(const FusedParams& p, CurveSteps& s) {
  using Level = Levels<kThreads>;
  const Level levels(p);
  const tone::Limits& limits = p.tone.limits;
  std::uint32_t part[Level::kEach];
  bool rises[Level::kEach];
  std::uint32_t count = 0;
  for (int i = 0; i < Level::kEach; ++i) {
    const std::uint32_t v = levels.level(i);
    const bool has = levels.has(i);
    const std::uint32_t before = v == 0 || !has ? 0 : s.distribution[v - 1];
    const std::uint32_t at = has ? s.distribution[v] : 0;
    rises[i] = has && tone::may_rise(limits, before, at);
    part[i] = rises[i] ? tone::part_between(limits, before, at) : 0;
    count += static_cast<std::uint32_t>(__syncthreads_count(rises[i] ? 1 : 0));
  }
  const std::uint32_t most = tone::clip_at(limits, count);
  std::uint32_t given = 0;
  if (limits.clip != 0) {
#pragma unroll 1
    for (int step = 0; step < tone::kMostClipSteps; ++step) {
      std::uint32_t sum = 0;
      for (int i = 0; i < Level::kEach; ++i)
        sum += rises[i] ? tone::clipped(part[i], given, most) : 0;
      std::uint32_t open = 0;
      sum = block_sum<kThreads>(sum, s.warp_sums[step], [&] {
        for (int i = 0; i < Level::kEach; ++i) {
          open += static_cast<std::uint32_t>(
              __syncthreads_count(rises[i] && part[i] + given < most ? 1 : 0));
        }
      });
      const std::uint32_t more = tone::clip_step(limits, sum, open);
      if (more == 0) break;
      given += more;
    }
  }
  std::uint32_t sum = 0;
  for (int i = 0; i < Level::kEach; ++i) {
    if (rises[i]) sum += tone::clipped(part[i], given, most);
    part[i] = sum;
  }
  const std::uint32_t below = warp_sum_before(sum);
  const std::uint32_t warp = threadIdx.x / kLanes;
  std::uint32_t* warp_sums = s.warp_sums[tone::kMostClipSteps];
  if (threadIdx.x < 256 && threadIdx.x % kLanes == kLanes - 1) warp_sums[warp] = below + sum;
  __syncthreads();
  if (threadIdx.x >= 256) return;
  std::uint32_t total = below;
  for (std::uint32_t w = 0; w < warp; ++w)
    total += warp_sums[w];
  std::uint32_t before = total;
  for (int i = 0; i < Level::kEach; ++i) {
    const std::uint32_t at = total + part[i];
    s.sums[levels.level(i)] = at;
    if (before == 0 && at != 0) s.first_level = levels.level(i);
    before = at;
  }
}

/// Replaces the cumulative sums of the frame's counts by W of every level. `memory` is of the block
/// and holds a CurveSteps; `history` is the block's copy. All threads of the block call it after a
/// barrier, and one must follow before W is read. Not inlined: the kernel around it keeps the
/// registers of frames with a plain curve.
///
/// What it costs is the fetching of its instructions, which run once a frame: a level a thread and
/// loops instead of copies make it short.
template <int kThreads>
__device__ __noinline__ void make_limited_curve(const FusedParams& p,
                                                const std::uint8_t* last_of_bin,
                                                std::uint32_t* cdf, tone::History& history,
                                                std::uint8_t* memory) {
  CurveSteps& s = *reinterpret_cast<CurveSteps*>(memory);
  const Levels<kThreads> levels(p);
  std::uint32_t* frame = p.tone.over_time ? s.frame : s.distribution;
  for (int i = 0; i < levels.kEach; ++i) {
    if (levels.has(i))
      frame[levels.level(i)] =
          tone::fraction_of(cdf[levels.level(i)], p.per_sample * tone::kWhole);
  }
  __syncthreads();
  if (p.tone.over_time) {
    follow_frame<kThreads>(p, history, s);
    __syncthreads();
  }
  clip_parts<kThreads>(p, s);
  __syncthreads();
  const tone::Span span = tone::span_of(
      tone::sum_offset(p.tone.limits.scaler, s.sums[last_of_bin[0]],
                       s.sums[last_of_bin[s.first_level]]),
      s.sums[levels.max_value], levels.max_value);
  std::uint32_t* curve = p.tone.over_time ? s.curve : cdf;
  for (int i = 0; i < levels.kEach; ++i) {
    const std::uint32_t v = levels.level(i);
    if (levels.has(i))
      curve[v] = tone::curve_at(p.tone.limits, v, s.sums[last_of_bin[v]], span);
  }
  __syncthreads();
  for (int i = 0; i < levels.kEach; ++i) {
    const std::uint32_t v = levels.level(i);
    if (!levels.has(i)) continue;
    std::uint32_t w = curve[v];
    if (p.tone.over_time) {
      w = tone::curve_between(
          s.curve, tone::unflickered(v, s.decision.inverse_flicker, levels.max_value),
          levels.max_value);
    }
    cdf[v] = tone::limit_gain(p.tone.limits, v, w);
  }
}

}  // namespace equalux::cuda

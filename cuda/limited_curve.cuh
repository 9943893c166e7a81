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
  std::uint32_t frame[256];         ///< the frame's distribution
  std::uint32_t distribution[256];  ///< what the curve is made of
  std::uint32_t sums[256];          ///< of clipped parts
  std::uint32_t curve[256];
  std::uint32_t now[kLanes];        ///< the frame's quantiles
  std::uint32_t base[kLanes];       ///< the history's
  std::uint32_t base_gain[kLanes];  ///< that takes a quantile to the frame's, and
  std::uint32_t base_distance[kLanes];  ///< what it leaves
  std::uint32_t last_gain[kLanes];
  std::uint32_t last_distance[kLanes];
  tone::Decision decision;
  tone::Span span;
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

/// Tries for each quantile the gain that takes it to the frame's, from the history's and from the
/// last frame's. A lane has a quantile, a warp some of the gains.
template <int kThreads>
__device__ __forceinline__ void try_gains(const std::uint32_t* last_quantiles, CurveSteps& s) {
  constexpr int kEach = kLanes / (kThreads / kLanes);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int first = static_cast<int>(threadIdx.x) / kLanes * kEach;
  const std::uint32_t now = s.now[lane];
  const std::uint32_t base = s.base[lane];
  const std::uint32_t last = last_quantiles[lane];
  const std::uint32_t base_gains = tone::gain_between(base, now);
  const std::uint32_t last_gains = tone::gain_between(last, now);
  if (first == 0) {
    s.base_gain[lane] = base_gains;
    s.last_gain[lane] = last_gains;
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int j = first + i;
    const std::uint32_t base_gain = __shfl_sync(0xFFFFFFFFU, base_gains, j);
    const std::uint32_t last_gain = __shfl_sync(0xFFFFFFFFU, last_gains, j);
    const std::uint32_t of_base =
        warp_sum(tone::distance(now, tone::scaled_quantile(base, base_gain)));
    const std::uint32_t of_last =
        warp_sum(tone::distance(now, tone::scaled_quantile(last, last_gain)));
    if (lane == 0) {
      s.base_distance[j] = base_gain == 0 ? tone::kNoMatch : of_base;
      s.last_distance[j] = last_gain == 0 ? tone::kNoMatch : of_last;
    }
  }
}

/// The least of the distances, the first of equal ones. A whole warp calls it.
__device__ __forceinline__ tone::Match least_of(const std::uint32_t* gains,
                                                const std::uint32_t* distances) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::uint32_t distance = distances[lane];
  const std::uint32_t least = warp_min(distance);
  if (least == tone::kNoMatch) return {};
  const unsigned lanes = __ballot_sync(0xFFFFFFFFU, distance == least);
  return {gains[__ffs(static_cast<int>(lanes)) - 1], least};
}

/// A whole warp calls it; all its lanes know.
__device__ __forceinline__ tone::Comparison compare_frames(const CurveSteps& s,
                                                           const tone::History& history) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::uint32_t now = s.now[lane];
  const std::uint32_t base = s.base[lane];
  const std::uint32_t last = history.previous[lane];
  tone::Comparison c;
  c.base = least_of(s.base_gain, s.base_distance);
  c.last = least_of(s.last_gain, s.last_distance);
  c.base_kept = warp_sum(tone::distance(now, tone::scaled_quantile(base, history.gain)));
  c.last_kept = warp_sum(tone::distance(now, last));
  c.now_sum = warp_sum(now);
  c.base_sum = warp_sum(base);
  const std::uint32_t matched = tone::scaled_quantile(last, c.last.gain);
  c.capped_sum = (c.now_sum + warp_sum(matched)) / 2;
  c.capped_difference = warp_sum(tone::capped(tone::distance(now, matched), c.capped_sum));
  return c;
}

/// Takes the frame into the history, which block 0 writes to the device's. Leaves the distribution
/// at the mean exposure.
template <int kThreads>
__device__ __forceinline__ void follow_frame(const FusedParams& p, tone::History& history,
                                             CurveSteps& s) {
  const int thread = static_cast<int>(threadIdx.x);
  const auto max_value = static_cast<std::uint32_t>(p.weights.luma_max);
  const std::uint32_t frames = p.tone.fresh ? 0 : history.frames;
  for (std::uint32_t v = threadIdx.x; v <= max_value; v += kThreads) {
    place_quantiles(s.frame, v, max_value, s.now);
    if (frames != 0) place_quantiles(history.distribution, v, max_value, s.base);
  }
  __syncthreads();
  if (frames != 0) try_gains<kThreads>(history.previous, s);
  __syncthreads();
  if (thread < kLanes) {
    tone::Comparison c;
    if (frames != 0) c = compare_frames(s, history);
    if (thread == 0) {
      s.decision = tone::decide(frames, history.gain, history.exposure, c, p.tone.rates);
    }
  }
  __syncthreads();
  const tone::Decision d = s.decision;
  tone::History& after = p.state->history;
  for (std::uint32_t v = threadIdx.x; v <= max_value; v += kThreads) {
    history.distribution[v] =
        d.cut ? s.frame[v]
              : tone::between(history.distribution[v],
                              tone::at_base(s.frame, v, d.gain, max_value), d.rate);
  }
  __syncthreads();
  const bool moves = tone::moves_base(d.exposure);
  const std::uint32_t inverse = tone::inverse_of(d.exposure);
  for (std::uint32_t v = threadIdx.x; v <= max_value; v += kThreads) {
    s.distribution[v] = tone::at_exposure(history.distribution, v, inverse, max_value);
    if (blockIdx.x == 0) after.distribution[v] = moves ? s.distribution[v] : history.distribution[v];
  }
  if (blockIdx.x != 0) return;
  if (thread < kLanes) after.previous[thread] = s.now[thread];
  if (thread == 0) {
    after.gain = moves ? tone::scaled_by(d.gain, inverse) : d.gain;
    after.exposure = moves ? tone::kUnit : d.exposure;
    after.frames = d.cut ? 1 : tone::frames_after(frames);
  }
}

/// The sums of the distribution's clipped parts and the span of the curve, by one warp, eight
/// levels a lane.
__device__ __forceinline__ void clip_parts(const FusedParams& p, const std::uint8_t* last_of_bin,
                                           CurveSteps& s) {
  constexpr int kEach = 256 / kLanes;
  const tone::Limits& limits = p.tone.limits;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int first = lane * kEach;
  std::uint32_t part[kEach];
  std::uint32_t rises = 0;
  std::uint32_t before = first == 0 ? 0 : s.distribution[first - 1];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const bool inside = first + i <= p.weights.luma_max;
    const std::uint32_t at = inside ? s.distribution[first + i] : before;
    part[i] = tone::part_between(limits, before, at);
    if (inside && tone::may_rise(limits, before, at)) rises |= 1U << i;
    before = at;
  }
  std::uint32_t most = tone::kWhole;
  std::uint32_t given = 0;
  if (limits.clip != 0) {
    most = tone::clip_at(limits, warp_sum(static_cast<std::uint32_t>(__popc(rises))));
#pragma unroll 1
    for (int step = 0; step < tone::kMostClipSteps; ++step) {
      std::uint32_t sum = 0;
      std::uint32_t open = 0;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const bool rising = (rises >> i & 1) != 0;
        sum += rising ? tone::clipped(part[i], given, most) : 0;
        open += rising && part[i] + given < most ? 1 : 0;
      }
      const std::uint32_t more = tone::clip_step(limits, warp_sum(sum), warp_sum(open));
      if (more == 0) break;
      given += more;
    }
  }
  std::uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if ((rises >> i & 1) != 0) sum += tone::clipped(part[i], given, most);
    part[i] = sum;
  }
  const std::uint32_t below = warp_sum_before(sum);
  std::uint32_t first_level = 256;
#pragma unroll
  for (int i = kEach - 1; i >= 0; --i) {
    s.sums[first + i] = below + part[i];
    if (below + part[i] != 0) first_level = static_cast<std::uint32_t>(first + i);
  }
  first_level = min(warp_min(first_level), static_cast<std::uint32_t>(p.weights.luma_max));
  __syncwarp();
  if (lane != 0) return;
  s.span = tone::span_of(tone::sum_offset(limits.scaler, s.sums[last_of_bin[0]],
                                          s.sums[last_of_bin[first_level]]),
                         s.sums[255]);
}

/// Replaces the cumulative sums of the frame's counts by W of every level. `memory` is of the block
/// and holds a CurveSteps; `history` is the block's copy. All threads of the block call it after a
/// barrier, and one must follow before W is read. Not inlined: the kernel around it keeps the
/// registers of frames with a plain curve.
template <int kThreads>
__device__ __noinline__ void make_limited_curve(const FusedParams& p,
                                                const std::uint8_t* last_of_bin,
                                                std::uint32_t* cdf, tone::History& history,
                                                std::uint8_t* memory) {
  CurveSteps& s = *reinterpret_cast<CurveSteps*>(memory);
  const auto max_value = static_cast<std::uint32_t>(p.weights.luma_max);
  std::uint32_t* frame = p.tone.over_time ? s.frame : s.distribution;
  for (std::uint32_t v = threadIdx.x; v <= max_value; v += kThreads)
    frame[v] = tone::fraction_of(cdf[v], p.samples, p.per_sample);
  __syncthreads();
  std::uint32_t flicker_inverse = tone::kUnit;
  if (p.tone.over_time) {
    follow_frame<kThreads>(p, history, s);
    flicker_inverse = tone::inverse_of(
        tone::scaled_by(s.decision.gain, tone::inverse_of(s.decision.exposure)));
    __syncthreads();
  }
  if (threadIdx.x < kLanes) clip_parts(p, last_of_bin, s);
  __syncthreads();
  const tone::Span span = s.span;
  if (!p.tone.over_time) {
    for (std::uint32_t v = threadIdx.x; v <= max_value; v += kThreads) {
      const std::uint32_t curve =
          tone::curve_at(p.tone.limits, v, s.sums[last_of_bin[v]], span, max_value);
      cdf[v] = tone::limit_gain(p.tone.limits, v, curve);
    }
    return;
  }
  for (std::uint32_t v = threadIdx.x; v <= max_value; v += kThreads)
    s.curve[v] = tone::curve_at(p.tone.limits, v, s.sums[last_of_bin[v]], span, max_value);
  __syncthreads();
  for (std::uint32_t v = threadIdx.x; v <= max_value; v += kThreads) {
    const std::uint32_t position = tone::unflickered(v, flicker_inverse, max_value);
    cdf[v] = tone::limit_gain(p.tone.limits, v,
                              tone::curve_between(s.curve, position, max_value));
  }
}

}  // namespace equalux::cuda

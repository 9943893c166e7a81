#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device/chunk_copy.cuh"
#include "cuda/device/warp.h"
#include "cuda/device/warp_sum.cuh"
#include "cuda/equalize/fused/fused_params.h"
#include "src/equalize/tone/tone_history.h"
#include "src/equalize/tone/tone_limits.h"

/// Curves with limits and over time. Every block computes them for itself, as it does the gains, in
/// the steps of src/cpu/equalize/curve_maker.cpp; levels and quantiles are spread over its threads.
///
/// Latency is what they cost: barriers, and chains of warp sums and divisions. So each thread has
/// one level, everything that can be known before a frame is computed ahead of it (prepare_curve),
/// and the kernel's parameters are copied to shared memory, because an access through a reference
/// would take as long as one to device memory.
namespace equalux::cuda {

static_assert(tone::kQuantiles == kLanes);

/// Arrays that the steps pass on within a block.
struct CurveSteps {
  std::uint32_t distribution[256];  ///< from which the curve is computed, or of the frame
  std::uint32_t sums[256];          ///< prefix sums of clipped parts
};

/// Results of the steps before a frame that the steps after it need.
struct CurveState {
  tone::Frame tone;
  std::uint32_t max_value;  ///< M
  double per_pixel;         ///< kWhole / number of pixels that count
  CurveAhead ahead;
  alignas(16) std::uint32_t now[kLanes];  ///< quantiles of the frame
  tone::Proposal proposals[3];       ///< by the history, by the last frame, and if neither tells
  std::uint32_t inverse_flicker[3];  ///< mean exposure divided by the gains of the proposals
  std::uint32_t quantile_sum[2];     ///< of the history, of the frame
  bool cut;
  std::uint32_t first_level;  ///< the first whose clipped sum is not 0
  std::uint32_t warp_sums[tone::kMostClipSteps + 2][256 / kLanes];
  std::uint32_t even_sums[2][256 / kLanes];  ///< of the history, of the frame
  tone::FoundEnds found;                     ///< of a distribution
};

/// The levels that a thread handles: one, or two neighbours in small blocks. The first 256 threads
/// have them all.
template <int kThreads>
struct ThreadLevels {
  static constexpr int kEach = kThreads < 256 ? 256 / kThreads : 1;
  std::uint32_t first;
  std::uint32_t max_value;

  __device__ explicit ThreadLevels(const CurveState& s)
      : first(threadIdx.x * kEach), max_value(s.max_value) {}
  [[nodiscard]] __device__ std::uint32_t level(int i) const {
    return first + static_cast<std::uint32_t>(i);
  }
  [[nodiscard]] __device__ bool has(int i) const { return level(i) <= max_value; }
};

/// Starts to copy `from`, from byte kFirst on, to `to` in shared memory. It is complete after
/// copies_wait() of all threads and a barrier.
template <int kThreads, std::size_t kFirst = 0, typename T>
__device__ __forceinline__ void load_state(T& to, const T& from) {
  static_assert(kFirst % kVectorBytes == 0 && sizeof(T) % kVectorBytes == 0);
  constexpr int kEnd = static_cast<int>(sizeof(T)) / kVectorBytes;
  for (int i = static_cast<int>(kFirst / kVectorBytes + threadIdx.x); i < kEnd; i += kThreads) {
    copy_vector_async(reinterpret_cast<std::uint8_t*>(&to) + i * kVectorBytes,
                      reinterpret_cast<const std::uint8_t*>(&from) + i * kVectorBytes);
  }
}

/// Copies from shared to device memory; to be called after a barrier.
template <int kThreads, typename T>
__device__ __forceinline__ void store_state(T& to, const T& from) {
  constexpr int kVectors = static_cast<int>(sizeof(T)) / kVectorBytes;
  for (int i = static_cast<int>(threadIdx.x); i < kVectors; i += kThreads)
    reinterpret_cast<uint4*>(&to)[i] = reinterpret_cast<const uint4*>(&from)[i];
}

/// Computes the quantiles that are in level v of a distribution, whose cumulative value is `at`
/// there and `before` one level lower. At the last level, also those beyond it.
__device__ __forceinline__ void place_quantiles(std::uint32_t before, std::uint32_t at,
                                                std::uint32_t v, std::uint32_t max_value,
                                                std::uint32_t* quantiles) {
  const std::uint32_t end = tone::first_quantile(at);
  for (std::uint32_t j = tone::first_quantile(before); j < end; ++j)
    quantiles[j] = tone::quantile_at(j, v, before, at);
  if (v != max_value) return;
  for (std::uint32_t j = end; j < tone::kQuantiles; ++j)
    quantiles[j] = (max_value + 1) * tone::kLevel;
}

/// Loads four quantiles in one access; `first` is a multiple of four.
__device__ __forceinline__ uint4 quantiles_from(const std::uint32_t* quantiles, unsigned first) {
  return *reinterpret_cast<const uint4*>(quantiles + first);
}

/// Finds the best of the gains that take a frame's quantiles `from` to this frame's, `now`. A warp
/// calls it. Each lane tries one gain on half of the quantiles, which is faster than a sum over the
/// warp for each gain.
__device__ __forceinline__ tone::Match best_match(const std::uint32_t* from,
                                                  const std::uint32_t* now,
                                                  std::uint32_t kept_gain) {
  static_assert(2 * tone::kTried == kLanes);
  const unsigned lane = threadIdx.x % kLanes;
  tone::Match match;
  match.kept = warp_sum(tone::distance(now[lane], tone::scaled_quantile(from[lane], kept_gain)));
  const std::uint32_t gain = __shfl_sync(0xFFFFFFFFU, tone::gain_between(from[lane], now[lane]),
                                         static_cast<int>(tone::tried(lane % tone::kTried)));
  const unsigned half = lane / tone::kTried * (tone::kQuantiles / 2);
  std::uint32_t sum = 0;
#pragma unroll 2
  for (unsigned i = half; i < half + tone::kQuantiles / 2; i += 4) {
    const uint4 a = quantiles_from(from, i);
    const uint4 b = quantiles_from(now, i);
    sum = __usad(b.x, tone::scaled_quantile(a.x, gain), sum);
    sum = __usad(b.y, tone::scaled_quantile(a.y, gain), sum);
    sum = __usad(b.z, tone::scaled_quantile(a.z, gain), sum);
    sum = __usad(b.w, tone::scaled_quantile(a.w, gain), sum);
  }
  sum += __shfl_xor_sync(0xFFFFFFFFU, sum, static_cast<int>(tone::kTried));
  if (gain == 0) sum = tone::kNoMatch;
  match.distance = warp_min(sum);
  if (match.distance != tone::kNoMatch) {
    const unsigned lanes = __ballot_sync(0xFFFFFFFFU, sum == match.distance);
    match.gain = __shfl_sync(0xFFFFFFFFU, gain, __ffs(static_cast<int>(lanes)) - 1);
  }
  return match;
}

/// Stores the frame's gain by one comparison, and how that gain would change the curve.
__device__ __forceinline__ void leave_proposal(CurveState& s, unsigned i,
                                               const tone::Proposal& proposal) {
  s.proposals[i] = proposal;
  const tone::History& h = s.ahead.history;
  s.inverse_flicker[i] = tone::inverse_flicker(h.exposure, proposal.gain, h.gain);
}

/// Compares the frame with the history in warp 0 and with the last frame in warp 1; warp 2 stores
/// what holds where neither comparison tells anything.
__device__ __forceinline__ void compare_frames(CurveState& s) {
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warp = threadIdx.x / kLanes;
  const tone::History& h = s.ahead.history;
  const std::uint32_t last_gain = h.gain;
  if (warp == 0) {
    s.quantile_sum[0] = warp_sum(s.ahead.base[lane]);
    const tone::Match match = best_match(s.ahead.base, s.now, last_gain);
    if (lane == 0) leave_proposal(s, 0, tone::propose_by_base(match, last_gain));
  } else if (warp == 1) {
    const std::uint32_t now = s.now[lane];
    const std::uint32_t sum = warp_sum(now);
    const tone::Match match = best_match(h.previous, s.now, tone::kUnit);
    const std::uint32_t matched = tone::scaled_quantile(h.previous[lane], match.gain);
    const std::uint32_t mean = (sum + warp_sum(matched)) / 2;
    const std::uint32_t difference = warp_sum(tone::capped(tone::distance(now, matched), mean));
    if (lane != 0) return;
    s.quantile_sum[1] = sum;
    s.cut = tone::is_cut(match.gain, difference, mean);
    leave_proposal(s, 1, tone::propose_by_last(match, last_gain));
  } else if (warp == 2 && lane == 0) {
    leave_proposal(s, 2, {true, last_gain});
  }
}

/// Sums, over the block, the numbers of the first 256 threads. `sums` has one entry for each of
/// their warps and is used only once. The caller passes the barrier that lies in between, so that
/// it can be one that counts threads.
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

/// Finds where a distribution begins and ends, if the curve is stretched between the ends. All
/// threads of the block call it.
template <int kThreads>
__device__ __forceinline__ tone::FoundEnds ends_of(const CurveSteps& steps, CurveState& s) {
  const tone::Limits& limits = s.tone.limits;
  if (!tone::stretches(limits)) return {tone::kUnknownEnds, tone::kUnknownEnds};
  if (threadIdx.x == 0) s.found = {tone::all_levels(s.max_value), tone::all_levels(s.max_value)};
  __syncthreads();
  const ThreadLevels<kThreads> levels(s);
  for (int i = 0; i < levels.kEach; ++i) {
    const std::uint32_t v = levels.level(i);
    if (!levels.has(i)) continue;
    tone::find_ends(limits, v, v == 0 ? 0 : steps.distribution[v - 1], steps.distribution[v],
                    s.found);
  }
  __syncthreads();
  return s.found;
}

/// Computes how evenly a distribution fills the levels between `ends`, if a limit depends on that.
/// All threads of the block call it. `sums` as for block_sum().
template <int kThreads>
__device__ __forceinline__ std::uint32_t evenness_between(const tone::Ends& ends,
                                                          const CurveSteps& steps,
                                                          const CurveState& s,
                                                          std::uint32_t* sums) {
  if (!tone::follows_contrast(s.tone.limits)) return tone::kUnknownEvenness;
  const std::uint32_t last = tone::levels_between(ends);
  const std::uint32_t end = (threadIdx.x + 1) * tone::kEvenBin;  // of the thread's bin
  std::uint32_t part = 0;
  if (end <= s.max_value + 1) {
    const std::uint32_t before =
        threadIdx.x == 0 ? 0 : steps.distribution[end - tone::kEvenBin - 1];
    part = tone::even_part(steps.distribution[end - 1] - before, last);
  }
  return tone::evenness_in_all(block_sum<kThreads>(part, sums, [] { __syncthreads(); }));
}

/// Computes the curve of a distribution with these ends and this evenness, and the least gain that
/// goes with it. A barrier must follow.
template <int kThreads>
__device__ __noinline__ void make_curve(const std::uint8_t* last_of_bin, const tone::Ends ends,
                                        std::uint32_t evenness, CurveSteps& steps, CurveState& s) {
  using Level = ThreadLevels<kThreads>;
  const Level levels(s);
  const tone::Limits& limits = s.tone.limits;
  std::uint32_t part[Level::kEach];
  bool rises[Level::kEach];
  std::uint32_t count = 0;
  for (int i = 0; i < Level::kEach; ++i) {
    const std::uint32_t v = levels.level(i);
    const bool has = levels.has(i);
    const std::uint32_t before = v == 0 || !has ? 0 : steps.distribution[v - 1];
    const std::uint32_t at = has ? steps.distribution[v] : 0;
    rises[i] = has && tone::may_rise(limits, ends, v, before, at);
    part[i] = rises[i] ? tone::part_between(limits, before, at) : 0;
    count += static_cast<std::uint32_t>(__syncthreads_count(rises[i] ? 1 : 0));
  }
  if (limits.clip != 0) {
    const std::uint32_t most = tone::clip_at(limits, count, s.max_value);
    std::uint32_t given = 0;
    std::uint32_t rest = 0;
#pragma unroll 1
    for (int step = 0; step <= tone::kMostClipSteps; ++step) {
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
      const bool last = step == tone::kMostClipSteps;
      rest = tone::clip_step(limits, sum, last ? count : open);
      if (last) break;
      if (rest == 0) {
        rest = tone::clip_step(limits, sum, count);
        break;
      }
      given += rest;
    }
    for (int i = 0; i < Level::kEach; ++i)
      part[i] = rises[i] ? tone::clipped(part[i], given, most) + rest : 0;
  }
  std::uint32_t sum = 0;
  for (int i = 0; i < Level::kEach; ++i)
    part[i] = sum += part[i];
  const std::uint32_t below = warp_sum_before(sum);
  const std::uint32_t warp = threadIdx.x / kLanes;
  std::uint32_t* warp_sums = s.warp_sums[tone::kMostClipSteps + 1];
  if (threadIdx.x < 256 && threadIdx.x % kLanes == kLanes - 1) warp_sums[warp] = below + sum;
  __syncthreads();
  if (threadIdx.x < 256) {
    std::uint32_t total = below;
    for (std::uint32_t w = 0; w < warp; ++w)
      total += warp_sums[w];
    std::uint32_t before = total;
    for (int i = 0; i < Level::kEach; ++i) {
      const std::uint32_t at = total + part[i];
      steps.sums[levels.level(i)] = at;
      if (before == 0 && at != 0) s.first_level = levels.level(i);
      before = at;
    }
  }
  __syncthreads();
  const tone::Span span = tone::span_of(limits,
                                        tone::sum_offset(limits.scaler, steps.sums[last_of_bin[0]],
                                                         steps.sums[last_of_bin[s.first_level]]),
                                        steps.sums[levels.max_value], levels.max_value);
  const std::uint32_t contrast = tone::follows_contrast(limits) ? tone::contrast_of(evenness) : 0;
  if (threadIdx.x == 0) s.ahead.min_gain = tone::min_gain_at(limits, contrast);
  const std::uint32_t strength = tone::strength_at(limits, contrast);
  for (int i = 0; i < Level::kEach; ++i) {
    const std::uint32_t v = levels.level(i);
    if (!levels.has(i)) continue;
    const std::uint32_t line =
        tone::stretches(limits) ? tone::line_at(ends, v, levels.max_value) : tone::unchanged(v);
    s.ahead.curve[v] = tone::curve_at(strength, line, steps.sums[last_of_bin[v]], span);
  }
}

/// Copies what the steps need of the kernel's parameters. One thread calls it, and a barrier must
/// follow.
__device__ __forceinline__ void set_up_curve(const FusedParams& p, CurveState& s) {
  s.tone = p.tone;
  s.max_value = static_cast<std::uint32_t>(p.weights.luma_max);
  s.per_pixel = p.per_sample * tone::kWhole;
}

/// Adds the last frame to the history, and computes the quantiles and the curve of the history: all
/// that can be known before the next frame. All threads of the block call it, after a barrier, with
/// the history in `s`; another barrier must follow.
template <int kThreads>
__device__ __noinline__ void prepare_curve(const std::uint8_t* last_of_bin, CurveSteps& steps,
                                           CurveState& s) {
  const ThreadLevels<kThreads> levels(s);
  tone::History& h = s.ahead.history;
  const std::uint32_t gain = h.gain;
  const std::uint32_t rate = h.rate;
  const std::uint32_t evenness_before = h.evenness;
  const tone::Ends ends_before = h.ends;
  const std::uint32_t exposure_before = h.exposure;
  const std::uint32_t exposure = tone::exposure_after(exposure_before, gain, rate);
  for (int i = 0; i < levels.kEach; ++i) {
    const std::uint32_t v = levels.level(i);
    if (levels.has(i)) {
      h.distribution[v] =
          tone::between(h.distribution[v], tone::at_base(h.frame, v, gain, levels.max_value), rate);
    }
  }
  __syncthreads();
  const std::uint32_t inverse = tone::ratio_of(tone::kUnit, exposure);
  for (int i = 0; i < levels.kEach; ++i) {
    const std::uint32_t v = levels.level(i);
    if (levels.has(i))
      steps.distribution[v] = tone::at_exposure(h.distribution, v, inverse, levels.max_value);
  }
  __syncthreads();
  const tone::FoundEnds found = ends_of<kThreads>(steps, s);
  const tone::Ends own =
      tone::stretches(s.tone.limits)
          ? tone::ends_after(ends_before, found, tone::ratio_of(exposure, exposure_before), rate,
                             levels.max_value)
          : tone::kUnknownEnds;
  const tone::Ends ends = tone::span_between(s.tone.limits, own, levels.max_value);
  const std::uint32_t now = evenness_between<kThreads>(ends, steps, s, s.even_sums[0]);
  const std::uint32_t evenness =
      now == tone::kUnknownEvenness ? now : tone::evenness_after(evenness_before, now, rate);
  const bool moves = tone::moves_base(exposure);
  const std::uint32_t* base = moves ? steps.distribution : h.distribution;
  for (int i = 0; i < levels.kEach; ++i) {
    const std::uint32_t v = levels.level(i);
    if (!levels.has(i)) continue;
    place_quantiles(v == 0 ? 0 : base[v - 1], base[v], v, levels.max_value, s.ahead.base);
    if (moves) h.distribution[v] = base[v];
  }
  if (threadIdx.x == 0) {
    h.gain = moves ? tone::scaled_by(gain, inverse) : gain;
    h.exposure = moves ? tone::kUnit : exposure;
    h.evenness = evenness;
    h.ends = own;
  }
  make_curve<kThreads>(last_of_bin, ends, evenness, steps, s);
}

/// Writes the history after a frame. `after` may be the history in `s`, once all threads are done
/// with it.
template <int kThreads>
__device__ __forceinline__ void keep_history(tone::History& after, const CurveSteps& steps,
                                             const CurveState& s, bool cut, std::uint32_t gain,
                                             std::uint32_t rate, std::uint32_t frames) {
  const ThreadLevels<kThreads> levels(s);
  const tone::History& before = s.ahead.history;
  for (int i = 0; i < levels.kEach; ++i) {
    const std::uint32_t v = levels.level(i);
    if (!levels.has(i)) continue;
    after.frame[v] = steps.distribution[v];
    after.distribution[v] = cut ? steps.distribution[v] : before.distribution[v];
  }
  if (threadIdx.x < kLanes) after.previous[threadIdx.x] = s.now[threadIdx.x];
  if (threadIdx.x != 0) return;
  after.gain = gain;
  after.rate = rate;
  after.exposure = cut ? tone::kUnit : before.exposure;
  after.frames = frames;
  after.least_rate = tone::least_rate_after(frames);
  after.evenness = before.evenness;
  after.ends = before.ends;
}

/// Finds the frame's gain by its quantiles, and writes the history for the next frame to `after`,
/// unless that is null. Returns the mean exposure divided by that gain, or 0 where the frame's own
/// distribution determines its curve.
template <int kThreads>
__device__ __forceinline__ std::uint32_t follow_frame(tone::History* after, const CurveSteps& steps,
                                                      CurveState& s) {
  const tone::History& h = s.ahead.history;
  const std::uint32_t frames = s.tone.fresh ? 0 : h.frames;
  if (frames != 0) {
    compare_frames(s);
    __syncthreads();
  }
  const bool starts = frames == 0 || s.cut;
  const unsigned chosen = starts || s.proposals[0].believed ? 0 : (s.proposals[1].believed ? 1 : 2);
  if (after != nullptr) {
    const std::uint32_t gain = starts ? tone::kUnit : s.proposals[chosen].gain;
    const std::uint32_t rate = starts ? 0
                                      : tone::rate_of(s.quantile_sum[1], s.quantile_sum[0],
                                                      h.exposure, h.least_rate, s.tone.rates);
    __syncthreads();  // The old history is no longer read.
    keep_history<kThreads>(*after, steps, s, starts, gain, rate,
                           starts ? 1 : tone::frames_after(frames));
  }
  return starts ? 0 : s.inverse_flicker[chosen];
}

/// Replaces the cumulative sums of the frame's counts by W of every level. All threads of the block
/// call it after a barrier, and another one must follow before W is read. What can be known ahead
/// must be loaded or prepared; `after` takes the history where the block keeps it, else null. Not
/// inlined, so that the kernel around it needs no more registers than for frames with a plain
/// curve.
template <int kThreads>
__device__ __noinline__ void finish_curve(tone::History* after, const std::uint8_t* last_of_bin,
                                          std::uint32_t* cdf, CurveSteps& steps, CurveState& s) {
  const ThreadLevels<kThreads> levels(s);
  for (int i = 0; i < levels.kEach; ++i) {
    const std::uint32_t v = levels.level(i);
    if (!levels.has(i)) continue;
    const std::uint32_t at = tone::fraction_of(cdf[v], s.per_pixel);
    steps.distribution[v] = at;
    if (!s.tone.over_time) continue;
    // Computes the neighbour's fraction again from its sum, which is faster than a barrier.
    const std::uint32_t before = v == 0 ? 0 : tone::fraction_of(cdf[v - 1], s.per_pixel);
    place_quantiles(before, at, v, levels.max_value, s.now);
  }
  __syncthreads();
  const std::uint32_t flicker = s.tone.over_time ? follow_frame<kThreads>(after, steps, s) : 0;
  if (flicker == 0) {
    const tone::Ends own = ends_of<kThreads>(steps, s).own;
    const tone::Ends ends = tone::span_between(s.tone.limits, own, levels.max_value);
    const std::uint32_t evenness = evenness_between<kThreads>(ends, steps, s, s.even_sums[1]);
    if (after != nullptr && s.tone.over_time && threadIdx.x == 0) {
      after->ends = own;
      after->evenness = evenness;
    }
    make_curve<kThreads>(last_of_bin, ends, evenness, steps, s);
    __syncthreads();
  }
  for (int i = 0; i < levels.kEach; ++i) {
    const std::uint32_t v = levels.level(i);
    if (!levels.has(i)) continue;
    const std::uint32_t curve =
        flicker == 0
            ? s.ahead.curve[v]
            : tone::curve_between(s.ahead.curve, tone::unflickered(v, flicker, levels.max_value),
                                  levels.max_value);
    cdf[v] = tone::limit_gain(s.tone.limits, s.ahead.min_gain, v, curve);
  }
}

}  // namespace equalux::cuda

#include "cuda/device/linear_thread.cuh"
#include "cuda/device/packed_pixels.cuh"
#include "cuda/device/running_sum.cuh"
#include "cuda/equalize/limited_curve.cuh"
#include "cuda/equalize/space/space_stages.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/pick_kernel.h"

namespace equalux::cuda {
namespace {

constexpr unsigned kBlock = 256;
constexpr unsigned kSpaceBlocksEach = 8;
constexpr unsigned kWarps = kBlock / kLanes;

/// Computes v of a pixel as it is in memory.
template <Space kSpace>
__device__ __forceinline__ std::uint32_t level_of(const SpaceTables& tables,
                                                  const PixelOrder& order, std::uint32_t pixel) {
  const std::uint32_t rgb = __byte_perm(pixel, 0, order.load);
  return space_level(kSpace, tables, rgb & 0xFFU, rgb >> 8 & 0xFFU, rgb >> 16);
}

/// Calls group(first, pixels) for groups of kGroup pixels and one(i, pixel) for the rest, spread
/// over all threads of the grid; without kGroups every pixel goes to one().
template <int kStep, bool kGroups, typename Group, typename One>
__device__ __forceinline__ void walk_pixels(const PackedFrame<const std::uint8_t>& in,
                                            std::uint32_t pixels, Group group, One one) {
  const std::uint32_t groups = kGroups ? pixels / kGroup : 0;
  if constexpr (kGroups) {
    walk_in_flight<1>(
        interleaved_walk(groups),
        [&](std::uint32_t i) { return load_group<kStep>(in.pixel(i * kGroup, kStep)); },
        [&](std::uint32_t i, const PixelGroup<kStep>& four) { group(i * kGroup, four); });
  }
  const std::uint32_t done = groups * kGroup;
  walk_in_flight<1>(
      interleaved_walk(pixels - done),
      [&](std::uint32_t i) { return load_pixel<kStep>(in.pixel(done + i, kStep)); },
      [&](std::uint32_t i, std::uint32_t pixel) { one(done + i, pixel); });
}

/// Counts v of a frame. Each warp has 256 counters of its own in shared memory, since neighbouring
/// pixels often have the same value and their atomics would collide across warps. Blocks of 256
/// threads, so that each adds up one value at the end.
template <Space kSpace, int kStep, bool kGroups>
__global__ void __launch_bounds__(kBlock)
    space_histogram_kernel(PackedFrame<const std::uint8_t> in, PixelOrder order,
                           std::uint32_t pixels, SpaceState* state) {
  __shared__ std::uint32_t counts[kWarps][256];
  for (unsigned i = threadIdx.x; i < kWarps * 256; i += kBlock)
    counts[i / 256][i % 256] = 0;
  __syncthreads();
  std::uint32_t* own = counts[threadIdx.x / kLanes];
  const auto count = [&](std::uint32_t pixel) {
    atomicAdd(&own[level_of<kSpace>(state->tables, order, pixel)], 1U);
  };
  walk_pixels<kStep, kGroups>(
      in, pixels,
      [&](std::uint32_t, const PixelGroup<kStep>& four) {
#pragma unroll
        for (int k = 0; k < kGroup; ++k)
          count(four.pixel(k));
      },
      [&](std::uint32_t, std::uint32_t pixel) { count(pixel); });
  __syncthreads();
  std::uint32_t sum = 0;
#pragma unroll
  for (unsigned w = 0; w < kWarps; ++w)
    sum += counts[w][threadIdx.x];
  if (sum != 0) atomicAdd(&state->counts[threadIdx.x], sum);
}

/// Computes the curve in a single block, one thread per level, because its steps need barriers over
/// all levels.
__global__ void __launch_bounds__(256)
    space_curve_kernel(const __grid_constant__ tone::Frame tone, bool collects, SpaceState* state) {
  __shared__ std::uint32_t warp_sums[256 / kLanes];
  __shared__ std::uint32_t cdf[256];  // later W
  __shared__ std::uint8_t last_of_bin[256];
  __shared__ CurveSteps steps;
  __shared__ CurveState curve;
  const unsigned v = threadIdx.x;
  if (tone.over_time) load_state<256>(curve.ahead.history, state->history);
  copies_commit();
  last_of_bin[v] = state->last_of_bin[v];
  const std::uint32_t sum = running_sum<256>(state->counts[v], warp_sums);
  state->counts[v] = 0;
  cdf[v] = sum;
  if (v == 255) {
    curve.tone = tone;
    curve.max_value = 255;
    curve.per_pixel = tone::kWhole / static_cast<double>(sum);
  }
  copies_wait<0>();
  __syncthreads();
  if (tone.over_time && !tone.fresh && curve.ahead.history.frames != 0) {
    prepare_curve<256>(last_of_bin, steps, curve);
    __syncthreads();
  }
  finish_curve<256>(&state->history, last_of_bin, cdf, steps, curve);
  __syncthreads();
  state->curve[v] = cdf[v];
  if (collects) state->curve_sums[v] += cdf[v];
}

/// Computes the table of scaled codes: one block per value v, one thread per code.
template <Space kSpace>
__global__ void __launch_bounds__(256) space_table_kernel(SpaceState* state) {
  __shared__ std::uint64_t gain;
  const std::uint32_t v = blockIdx.x;
  if (threadIdx.x == 0) {
    gain = space_gain(kSpace, v, state->curve[v]);
    state->gains[v] = gain;
    state->codes[v] = space_codes(kSpace, state->tables, gain);
  }
  __syncthreads();
  state->scaled[v][threadIdx.x] = space_scaled(kSpace, state->tables, threadIdx.x, gain);
}

/// Computes k for each value of a result, one thread each; its level is that of gray.
template <Space kSpace>
__global__ void __launch_bounds__(256)
    space_factors_kernel(saturation::Rule rule, const SpaceState* state, std::uint16_t* factors) {
  const std::uint32_t v = threadIdx.x;
  const std::uint32_t level = space_level(kSpace, state->tables, v, v, v);
  factors[v] =
      static_cast<std::uint16_t>(saturation::factor_of_result(rule, state->curve, level, 255));
}

template <Space kSpace>
__device__ __forceinline__ std::uint32_t scale_pixel(const SpaceState& state,
                                                     const PixelOrder& order, std::uint32_t pixel) {
  const std::uint32_t rgb = __byte_perm(pixel, 0, order.load);
  const SpacePixel is{rgb & 0xFFU, rgb >> 8 & 0xFFU, rgb >> 16};
  const std::uint32_t v = space_level(kSpace, state.tables, is.red, is.green, is.blue);
  const std::uint8_t* scaled = state.scaled[v];
  SpacePixel to{scaled[is.red], scaled[is.green], scaled[is.blue]};
  if constexpr (kSpace == Space::lightness) {
    if (!space_scales(state.codes[v], is)) to = space_at_same_hue(state.tables, is, state.gains[v]);
  }
  return __byte_perm(to.red | to.green << 8 | to.blue << 16, pixel, order.store);
}

/// Scales a frame by table look-ups. The tables, a little over 64 KiB, exceed static shared memory
/// and are read through the caches. Neighbouring threads take neighbouring pixels or groups of
/// four.
template <Space kSpace, int kStep, bool kGroups>
__global__ void __launch_bounds__(kBlock)
    space_apply_kernel(PackedFrame<const std::uint8_t> in, PackedFrame<std::uint8_t> out,
                       PixelOrder order, std::uint32_t pixels, const SpaceState* state) {
  walk_pixels<kStep, kGroups>(
      in, pixels,
      [&](std::uint32_t first, const PixelGroup<kStep>& four) {
        std::uint32_t scaled[kGroup];
#pragma unroll
        for (int k = 0; k < kGroup; ++k)
          scaled[k] = scale_pixel<kSpace>(*state, order, four.pixel(k));
        store_group<kStep>(out.pixel(first, kStep), PixelGroup<kStep>::of(scaled));
      },
      [&](std::uint32_t i, std::uint32_t pixel) {
        store_pixel<kStep>(out.pixel(i, kStep), scale_pixel<kSpace>(*state, order, pixel));
      });
}

/// Calls use(space, step, groups) with all of them as compile-time constants.
template <typename Use>
void with_layout(Space space, int step, bool groups, Use use) {
  with_constant<Space::luma, Space::lightness>(space, [&](auto the_space) {
    with_step(step, [&](auto the_step) {
      with_constant<true, false>(groups, [&](auto of_four) { use(the_space, the_step, of_four); });
    });
  });
}

/// Returns the number of blocks of a kernel that walks over a frame.
unsigned grid_of(std::uint32_t pixels, int multiprocessors) {
  const unsigned items = (pixels + kBlock - 1) / kBlock;
  const unsigned most = static_cast<unsigned>(multiprocessors) * kSpaceBlocksEach;
  return items < most ? items : most;
}

}  // namespace

void space_histogram(Space space, const ConstImageView& in, SpaceState* state, int multiprocessors,
                     cudaStream_t stream) {
  const std::uint32_t pixels = pixels_of(in.desc);
  const unsigned grid = grid_of(pixels, multiprocessors);
  const int step = traits(in.desc.format).step[0];
  with_layout(space, step, takes_groups(in), [&](auto the_space, auto the_step, auto groups) {
    space_histogram_kernel<decltype(the_space)::value, decltype(the_step)::value,
                           decltype(groups)::value><<<grid, kBlock, 0, stream>>>(
        packed_frame(in), PixelOrder::of(in.desc.format), pixels, state);
  });
  check(cudaGetLastError(), "launching space_histogram");
}

void space_curve(const tone::Frame& tone, bool collects, SpaceState* state, cudaStream_t stream) {
  space_curve_kernel<<<1, 256, 0, stream>>>(tone, collects, state);
  check(cudaGetLastError(), "launching space_curve");
}

void space_table(Space space, SpaceState* state, cudaStream_t stream) {
  with_constant<Space::luma, Space::lightness>(space, [&](auto the_space) {
    space_table_kernel<decltype(the_space)::value><<<256, 256, 0, stream>>>(state);
  });
  check(cudaGetLastError(), "launching space_table");
}

void space_factors(Space space, const saturation::Rule& rule, const SpaceState* state,
                   std::uint16_t* factors, cudaStream_t stream) {
  with_constant<Space::luma, Space::lightness>(space, [&](auto the_space) {
    space_factors_kernel<decltype(the_space)::value><<<1, 256, 0, stream>>>(rule, state, factors);
  });
  check(cudaGetLastError(), "launching space_factors");
}

void space_apply(Space space, const ConstImageView& in, const ImageView& out,
                 const SpaceState* state, int multiprocessors, cudaStream_t stream) {
  const std::uint32_t pixels = pixels_of(in.desc);
  const unsigned grid = grid_of(pixels, multiprocessors);
  const int step = traits(in.desc.format).step[0];
  const bool groups = takes_groups(in) && takes_groups(out);
  with_layout(space, step, groups, [&](auto the_space, auto the_step, auto of_four) {
    space_apply_kernel<decltype(the_space)::value, decltype(the_step)::value,
                       decltype(of_four)::value><<<grid, kBlock, 0, stream>>>(
        packed_frame(in), packed_frame(out), PixelOrder::of(in.desc.format), pixels, state);
  });
  check(cudaGetLastError(), "launching space_apply");
}

}  // namespace equalux::cuda

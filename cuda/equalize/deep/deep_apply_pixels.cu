#include "cuda/device/dependent_launch.cuh"
#include "cuda/equalize/deep/deep_change.cuh"
#include "cuda/equalize/deep/deep_pixels.cuh"
#include "cuda/equalize/deep/whole_doubles.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

template <DeepPixels kPixels>
__device__ __forceinline__ void scale_pixels(const DeepChange& change, PixelStrip<kPixels>& strip) {
  const HalfProducts scaled(16);
#pragma unroll
  for (int pixel = 0; pixel < kStripColumns; ++pixel) {
    const std::uint32_t v = strip.value(pixel);
    if constexpr (kPixels == DeepPixels::gray) {
      // Takes the level of the curve for gray: scaling would divide and multiply it by the sample.
      constexpr std::uint32_t kHalf = 1U << (kDeepCurveBits - 1);
      const std::uint32_t level = (__ldg(&change.levels[v]) + kHalf) >> kDeepCurveBits;
      strip.set(pixel, 0, v == 0 ? 0 : level);
    } else {
      const std::uint64_t gain = __ldg(&change.gains[v]);
#pragma unroll
      for (int i = first_colour(kPixels); i < first_colour(kPixels) + 3; ++i)
        strip.set(pixel, i, scaled(strip.code(pixel, i), gain));
    }
  }
}

/// Changes value and saturation by the lines of DeepLine, as
/// src/cpu/equalize/deep/deep_saturate_rgb-inl.h does. A pixel with a result near a half is
/// computed again in integers.
template <DeepPixels kPixels>
__device__ __forceinline__ void saturate_pixels(const DeepChange& change,
                                                PixelStrip<kPixels>& strip) {
  constexpr int kFirst = first_colour(kPixels);
  constexpr double kToValue = 2.0 - kAboveValue;
  constexpr double kSure = 0.5 - 1.0 / 2147483648.0;
  // Look-ups that are in flight before the first result is used, which overlaps their latency.
  constexpr int kAhead = 4;
  double2 lines[kAhead];
#pragma unroll
  for (int pixel = 0; pixel < kStripColumns; ++pixel) {
    if (pixel % kAhead == 0) {
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        lines[i] = __ldg(reinterpret_cast<const double2*>(&change.lines[strip.value(pixel + i)]));
      }
    }
    const std::uint32_t v = strip.value(pixel);
    const std::uint32_t least = min(strip.code(pixel, kFirst), min(strip.code(pixel, kFirst + 1),
                                                                   strip.code(pixel, kFirst + 2)));
    DeepLine line{lines[pixel % kAhead].x, lines[pixel % kAhead].y};
    bool exact = is_exact(line);
    const double below = whole_number(v - least);
    if (line.slope * below > line.value) {
      line.slope = line.value * kToValue * inverse_of(below);
      exact = true;
    }
    std::uint32_t codes[3];
    bool near_half = false;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      const double less = whole_number(v - strip.code(pixel, kFirst + i));
      const double result = fma(-line.slope, less, line.value);
      const double sum = result + kSignedWhole;
      near_half = near_half || fabs(result - (sum - kSignedWhole)) > kSure;
      codes[i] = static_cast<std::uint32_t>(__double2loint(sum));
    }
    if (near_half && !exact) {
      const auto value = static_cast<std::int32_t>(v);
      const saturation::Factor f = change.factor(value, value - static_cast<std::int32_t>(least));
#pragma unroll
      for (int i = 0; i < 3; ++i) {
        codes[i] = static_cast<std::uint32_t>(
            change.saturated(f, value, static_cast<std::int32_t>(strip.code(pixel, kFirst + i))));
      }
    }
#pragma unroll
    for (int i = 0; i < 3; ++i)
      strip.set(pixel, kFirst + i, codes[i]);
  }
}

/// Changes packed pixels or gray, one strip of eight pixels per thread, in wide loads and stores; a
/// strip is in registers. What is left of a row goes pixel by pixel. Tables of gains or lines are
/// read through the caches. 256 threads per block.
template <DeepPixels kPixels, bool kRounded, bool kSaturated>
__global__ void __launch_bounds__(kStripBlock)
    deep_pixels_kernel(const __grid_constant__ DeepFrame frame, const DeepChange change) {
  wait_then_release();
  change.clear_counts();
  constexpr Sampling kSampling = sampling_of(kPixels);
  for_each_strip<kSampling>(
      frame,
      [&](std::uint32_t row, const LumaRows&, std::uint32_t at) {
        PixelStrip<kPixels> strip;
        strip.load(frame, row, at);
        if constexpr (kSaturated) {
          saturate_pixels(change, strip);
        } else {
          scale_pixels(change, strip);
        }
        if constexpr (kRounded) {
          strip.store_bytes(frame.rounding, row, at);
        } else {
          strip.store(frame, row, at);
        }
      },
      [&](std::uint32_t row, std::uint32_t column) {
        apply_deep_pixel<kSampling, true, kRounded, kSaturated>(frame, change, row, column);
      });
}

}  // namespace

void deep_apply_pixels(const DeepFrame& frame, const DeepTables& tables, bool saturates,
                       const LaunchDevice& device, cudaStream_t stream) {
  with_pixel_strips(frame, [&](auto pixels) {
    with_constant<false, true>(frame.rounding.active, [&](auto rounded) {
      with_constant<false, true>(saturates, [&](auto saturated) {
        constexpr DeepPixels kPixels = decltype(pixels)::value;
        // Gray has no saturation.
        constexpr bool kSaturated = kPixels != DeepPixels::gray && decltype(saturated)::value;
        launch_early(device, "launching deep_apply",
                     deep_pixels_kernel<kPixels, decltype(rounded)::value, kSaturated>,
                     dim3(strip_grid<sampling_of(kPixels)>(frame)), dim3(kStripBlock), stream,
                     frame, change_by(tables));
      });
    });
  });
}

}  // namespace equalux::cuda

#include "cuda/device/dependent_launch.cuh"
#include "cuda/equalize/deep/deep_change.cuh"
#include "cuda/equalize/deep/deep_pixels.cuh"
#include "cuda/equalize/deep/whole_doubles.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

/// Scales the colours of one pixel by W(v) / (v 2^14), rounded half up as by deep_scaled(). A
/// quotient in single precision, made too small on purpose, is the result or one less; its
/// remainder tells which. Gains would need a table of twice the bytes of W, and more of its
/// look-ups would miss the L1 cache.
///
/// Codes come as the bits of 2^23 + c in single precision, which one permutation makes. Products of
/// whole numbers are computed modulo 2^32, where multiples of 2^24 become 0 if they are multiplied
/// by 2^14.
class RoundedQuotients {
 public:
  static constexpr std::uint32_t kCodeBits = 0x4B000000;  ///< of 2^23

  /// `value` is v with kCodeBits, `level` is W(v), below 2^30.
  __device__ __forceinline__ RoundedQuotients(std::uint32_t value, std::uint32_t level)
      : minus_level_(0 - level) {
    // Black has no codes but 0, whose quotient is 0 by any divisor.
    value = max(value, kCodeBits + 1);
    divisor_ = value << kDeepCurveBits;
    less_ = (value << (kDeepCurveBits - 1)) - 1 + kCodeBits * level;
    // W without its lowest 8 bits is at most 2^-6 too small in levels. The reciprocal and all
    // products have errors below 2^-21 in all; the factor is smaller than 1 by twice that. So a
    // quotient is too small by less than 0.12.
    constexpr float kBelow = (1.0F - 0x1p-20F) / (1 << (kDeepCurveBits - 8));
    const float rough = __uint_as_float(__byte_perm(level, kCodeBits, 0x7321)) - 0x1p23F;
    slope_ = __fdividef(rough, __uint_as_float(value) - 0x1p23F) * kBelow;
  }

  /// Computes the result of a code of at most v, in the lower 16 bits.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t operator()(std::uint32_t code) const {
    const float level = fmaf(__uint_as_float(code) - 0x1p23F, slope_, 0x1.8p23F);
    const std::uint32_t quotient = __float_as_uint(level);
    // One less than a divisor, less the remainder of c W + v 2^13: negative where that reaches a
    // divisor. Its magnitude is below 2^31.
    const std::uint32_t room = quotient * divisor_ + (code * minus_level_ + less_);
    return quotient + (room >> 31);
  }

 private:
  std::uint32_t minus_level_;
  std::uint32_t divisor_;  ///< v 2^14
  std::uint32_t less_;
  float slope_;
};

template <DeepPixels kPixels>
__device__ __forceinline__ void scale_pixels(const DeepChange& change, PixelStrip<kPixels>& strip) {
#pragma unroll
  for (int pixel = 0; pixel < kStripColumns; ++pixel) {
    if constexpr (kPixels == DeepPixels::gray) {
      // Takes the level of the curve for gray: scaling would divide and multiply it by the sample.
      constexpr std::uint32_t kHalf = 1U << (kDeepCurveBits - 1);
      const std::uint32_t v = strip.value(pixel);
      const std::uint32_t level = (__ldg(&change.levels[v]) + kHalf) >> kDeepCurveBits;
      strip.set(pixel, 0, v == 0 ? 0 : level);
    } else {
      constexpr int kFirst = first_colour(kPixels);
      constexpr std::uint32_t kBits = RoundedQuotients::kCodeBits;
      const std::uint32_t c[3] = {strip.code_with(pixel, kFirst, kBits),
                                  strip.code_with(pixel, kFirst + 1, kBits),
                                  strip.code_with(pixel, kFirst + 2, kBits)};
      const std::uint32_t value = max(c[0], max(c[1], c[2]));
      const RoundedQuotients scaled(value, __ldg(&change.levels[value - kBits]));
#pragma unroll
      for (int i = 0; i < 3; ++i)
        strip.set(pixel, kFirst + i, scaled(c[i]));
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
      near_half = near_half || fabs(result - (sum - kSignedWhole)) > kSureLine;
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

/// Changes packed pixels or gray, one span per warp, in wide loads and stores; eight pixels of a
/// lane are in registers. What is left of a row goes pixel by pixel. Tables of W or lines are read
/// through the caches. 256 threads per block.
template <DeepPixels kPixels, bool kRounded, bool kSaturated>
__global__ void __launch_bounds__(kStripBlock)
    deep_pixels_kernel(const __grid_constant__ DeepFrame frame, const DeepChange change) {
  wait_then_release();
  change.clear_counts();
  constexpr Sampling kSampling = sampling_of(kPixels);
  using Strip = PixelStrip<kPixels>;
  constexpr int kWarps = kStripBlock / kLanes;
  constexpr int kBytes = Strip::kSlotBytes == 0 ? kVectorBytes : kWarps * Strip::kSlotBytes;
  __shared__ __align__(16) std::uint8_t slots[kBytes];
  std::uint8_t* const slot = slots + threadIdx.x / kLanes * Strip::kSlotBytes;
  for_each_span(
      frame,
      [&](const PixelSpan& span, int lane) {
        Strip strip;
        strip.load(frame, span, lane, slot);
        if constexpr (kSaturated) {
          saturate_pixels(change, strip);
        } else {
          scale_pixels(change, strip);
        }
        if constexpr (kRounded) {
          strip.store_bytes(frame.rounding, span, lane, slot);
        } else {
          strip.store(frame, span, lane, slot);
        }
      },
      [&](std::uint32_t row, std::uint32_t column) {
        apply_deep_pixel<kSampling, true, kRounded, kSaturated>(frame, change, row, column);
      });
}

/// Returns the number of blocks with which each warp has one span.
unsigned span_grid(const DeepFrame& frame) {
  constexpr unsigned kWarps = kStripBlock / kLanes;
  return (spans_across(frame) * frame.rows + kWarps - 1) / kWarps;
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
                     dim3(span_grid(frame)), dim3(kStripBlock), stream, frame, change_by(tables));
      });
    });
  });
}

}  // namespace equalux::cuda

#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/equalize/deep/deep_cells.cuh"

/// Strips of frames with more than 8 bits: eight columns of luma with their chroma, on both rows
/// where a chroma sample covers two; or eight pixels, or eight samples of gray. A thread loads and
/// stores a strip in accesses of 8 and 16 bytes. The rest of a row, and rows of luma without a
/// second one, are processed as cells.
namespace equalux::cuda {

inline constexpr int kStripColumns = 8;

/// Number of cells in a strip.
template <Sampling kSampling>
inline constexpr int kStripCells = kStripColumns / cell_columns(kSampling);

/// Type of the products of chroma and weights; kWide: 16 bits.
template <bool kWide>
using StripProduct = std::conditional_t<kWide, std::int64_t, std::int32_t>;

/// Block size of kernels that walk over strips.
inline constexpr unsigned kStripBlock = 256;

/// Number of strips in a row, including an incomplete one that is processed as cells.
template <Sampling kSampling>
__host__ __device__ inline std::uint32_t strips_across(const DeepFrame& frame) {
  return (frame.columns + kStripCells<kSampling> - 1) / kStripCells<kSampling>;
}

/// Number of blocks with which each thread has one strip.
template <Sampling kSampling>
unsigned strip_grid(const DeepFrame& frame, unsigned threads = kStripBlock) {
  return (strips_across<kSampling>(frame) * frame.rows + threads - 1) / threads;
}

/// Calls use(row, at) for every step-th of the items of a frame, `across` in a row, from the first
/// on, without a division for each.
template <typename Use>
__device__ __forceinline__ void for_items_of_rows(const DeepFrame& frame, std::uint32_t across,
                                                  std::uint32_t first, std::uint32_t step,
                                                  const Use& use) {
  const std::uint32_t rows_on = step / across;
  const std::uint32_t items_on = step - rows_on * across;
  std::uint32_t row = first / across;
  std::uint32_t at = first - row * across;
  while (row < frame.rows) {
    use(row, at);
    row += rows_on;
    at += items_on;
    if (at >= across) {
      at -= across;
      ++row;
    }
  }
}

/// Calls use_strip(row, luma rows, strip) once for every strip, and use_cell(row, column) for every
/// other cell, spread over all threads of the grid.
template <Sampling kSampling, typename UseStrip, typename UseCell>
__device__ __forceinline__ void for_each_strip(const DeepFrame& frame, const UseStrip& use_strip,
                                               const UseCell& use_cell) {
  constexpr std::uint32_t kCells = kStripCells<kSampling>;
  const std::uint32_t across = strips_across<kSampling>(frame);
  const std::uint32_t threads = gridDim.x * blockDim.x;
  const std::uint32_t first = blockIdx.x * blockDim.x + threadIdx.x;
  for_items_of_rows(frame, across, first, threads, [&](std::uint32_t row, std::uint32_t strip) {
    const LumaRows lines =
        luma_rows_of(kSampling, static_cast<std::int32_t>(row), frame.height, frame.interlaced);
    const bool whole = kStripColumns * (strip + 1) <= static_cast<std::uint32_t>(frame.width) &&
                       (cell_rows(kSampling) == 1 || lines.first != lines.second);
    if (whole) {
      use_strip(row, lines, strip);
    } else {
      const std::uint32_t end = min(frame.columns, kCells * (strip + 1));
      for (std::uint32_t column = kCells * strip; column < end; ++column)
        use_cell(row, column);
    }
  });
}

/// Takes codes from two neighbouring words of memory.
struct DeepCodes {
  std::uint32_t shift;
  std::uint32_t most;

  explicit __device__ DeepCodes(const DeepSamples& form)
      : shift(static_cast<std::uint32_t>(form.shift)),
        most(static_cast<std::uint32_t>(form.most)) {}
  /// Returns the code in the low or the high half.
  template <int kHalf>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t code(std::uint32_t words) const {
    return (words >> (16 * kHalf + shift)) & most;
  }
};

/// Computes rounded_level() of codes, without dither.
class PlainLevels {
 public:
  explicit __device__ PlainLevels(const DeepRounding& rounding)
      : bits_(rounding.bits), half_(rounding_threshold(Dither::none, 0, 0, bits_)) {}
  [[nodiscard]] __device__ __forceinline__ std::uint32_t operator()(std::uint32_t code) const {
    return static_cast<std::uint32_t>(rounded_level(static_cast<std::int32_t>(code), half_, bits_));
  }

 private:
  std::int32_t bits_;
  std::int32_t half_;
};

/// A strip of YCbCr, two samples per word as in memory; interleaved pairs of chroma are separated.
template <Sampling kSampling, bool kPaired>
struct YuvStrip {
  static constexpr int kRows = cell_rows(kSampling);
  static constexpr int kCells = kStripCells<kSampling>;
  static constexpr int kChromaWords = kCells / 2;

  std::uint32_t luma[kRows][4];
  std::uint32_t chroma[2][kChromaWords];

  __device__ __forceinline__ void load(const DeepFrame& frame, std::uint32_t row,
                                       const LumaRows& lines, std::uint32_t strip) {
#pragma unroll
    for (int line = 0; line < kRows; ++line) {
      const std::uint8_t* const at =
          frame.planes[0].from(line == 0 ? lines.first : lines.second) + 16 * std::int64_t{strip};
      const auto words = *reinterpret_cast<const uint4*>(at);
      luma[line][0] = words.x;
      luma[line][1] = words.y;
      luma[line][2] = words.z;
      luma[line][3] = words.w;
    }
    if constexpr (kPaired) {
      static_assert(kChromaWords == 2);
      const auto words =
          *reinterpret_cast<const uint4*>(frame.planes[1].from(row) + 16 * std::int64_t{strip});
      chroma[0][0] = __byte_perm(words.x, words.y, 0x5410);
      chroma[1][0] = __byte_perm(words.x, words.y, 0x7632);
      chroma[0][1] = __byte_perm(words.z, words.w, 0x5410);
      chroma[1][1] = __byte_perm(words.z, words.w, 0x7632);
    } else {
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const std::uint8_t* const at =
            frame.planes[1 + c].from(row) + 2 * kCells * std::int64_t{strip};
        if constexpr (kChromaWords == 2) {
          const auto words = *reinterpret_cast<const uint2*>(at);
          chroma[c][0] = words.x;
          chroma[c][1] = words.y;
        } else {
          const auto words = *reinterpret_cast<const uint4*>(at);
          chroma[c][0] = words.x;
          chroma[c][1] = words.y;
          chroma[c][2] = words.z;
          chroma[c][3] = words.w;
        }
      }
    }
  }

  __device__ __forceinline__ void store(const DeepFrame& frame, std::uint32_t row,
                                        const LumaRows& lines, std::uint32_t strip) const {
#pragma unroll
    for (int line = 0; line < kRows; ++line) {
      std::uint8_t* const at =
          frame.planes[0].to(line == 0 ? lines.first : lines.second) + 16 * std::int64_t{strip};
      *reinterpret_cast<uint4*>(at) =
          uint4{luma[line][0], luma[line][1], luma[line][2], luma[line][3]};
    }
    if constexpr (kPaired) {
      *reinterpret_cast<uint4*>(frame.planes[1].to(row) + 16 * std::int64_t{strip}) =
          uint4{__byte_perm(chroma[0][0], chroma[1][0], 0x5410),
                __byte_perm(chroma[0][0], chroma[1][0], 0x7632),
                __byte_perm(chroma[0][1], chroma[1][1], 0x5410),
                __byte_perm(chroma[0][1], chroma[1][1], 0x7632)};
    } else {
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        std::uint8_t* const at = frame.planes[1 + c].to(row) + 2 * kCells * std::int64_t{strip};
        if constexpr (kChromaWords == 2) {
          *reinterpret_cast<uint2*>(at) = uint2{chroma[c][0], chroma[c][1]};
        } else {
          *reinterpret_cast<uint4*>(at) =
              uint4{chroma[c][0], chroma[c][1], chroma[c][2], chroma[c][3]};
        }
      }
    }
  }
};

/// The codes of a strip as bytes, after fractions of levels have been rounded.
template <Sampling kSampling, bool kPaired>
struct ByteStrip {
  static constexpr int kRows = cell_rows(kSampling);
  static constexpr int kCells = kStripCells<kSampling>;

  std::uint32_t luma[kRows][2];
  std::uint32_t chroma[2][kCells / 4];

  __device__ __forceinline__ void store(const DeepRounding& rounding, std::uint32_t row,
                                        const LumaRows& lines, std::uint32_t strip) const {
    const auto x = std::int64_t{strip};
#pragma unroll
    for (int line = 0; line < kRows; ++line) {
      std::uint8_t* const at = rounding.out[0].row(line == 0 ? lines.first : lines.second) + 8 * x;
      *reinterpret_cast<uint2*>(at) = uint2{luma[line][0], luma[line][1]};
    }
    const auto y = static_cast<std::int32_t>(row);
    if constexpr (kPaired) {
      *reinterpret_cast<uint2*>(rounding.out[1].row(y) + 8 * x) =
          uint2{__byte_perm(chroma[0][0], chroma[1][0], 0x5140),
                __byte_perm(chroma[0][0], chroma[1][0], 0x7362)};
    } else {
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        std::uint8_t* const at = rounding.out[1 + c].row(y) + kCells * x;
        if constexpr (kCells == 4) {
          *reinterpret_cast<std::uint32_t*>(at) = chroma[c][0];
        } else {
          *reinterpret_cast<uint2*>(at) = uint2{chroma[c][0], chroma[c][1]};
        }
      }
    }
  }
};

/// Calls use(sampling, paired, wide) with all as compile-time constants, for a frame that can be
/// read in strips. 16 bits are in the layouts of P016 and 4:4:4 alone.
template <typename Use>
void with_yuv_strips(const DeepFrame& frame, const Use& use) {
  using enum Sampling;
  const auto with_width = [&](auto sampling, auto paired) {
    with_constant<false, true>(frame.form.depth > 12,
                               [&](auto wide) { use(sampling, paired, wide); });
  };
  if (frame.step == 4) {
    with_width(std::integral_constant<Sampling, s420>{}, std::true_type{});
  } else if (frame.sampling == s444) {
    with_width(std::integral_constant<Sampling, s444>{}, std::false_type{});
  } else {
    with_constant<s420, s422>(frame.sampling, [&](auto sampling) {
      use(sampling, std::false_type{}, std::false_type{});
    });
  }
}

}  // namespace equalux::cuda

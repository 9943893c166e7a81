#pragma once

#include <cstdint>

#include "cuda/clahe/clahe.h"
#include "cuda/clahe/clahe_samples.cuh"
#include "cuda/clahe/clahe_tables.cuh"

/// Scaling of a line of YCbCr by interpolated curves.
namespace equalux::cuda {

/// Computes factor * gain, rounded to nearest with halves to even: one fused multiply-add, whose
/// rounding drops the fraction.
__device__ __forceinline__ int rounded_product(int factor, float gain) {
  constexpr float kOne = 12582912.0F;  // 1.5 2^23: the last mantissa bit stands for 1
  return __float_as_int(__fmaf_rn(static_cast<float>(factor), gain, kOne)) - __float_as_int(kOne);
}

__device__ __forceinline__ std::uint32_t clamped_byte(int x) {
  return static_cast<std::uint32_t>(x < 0 ? 0 : (x > 255 ? 255 : x));
}

/// A chroma sample and the luma samples that it covers; results replace them.
template <typename Form>
struct Cell {
  int luma[Form::kRows][Form::kColumns];
  int cb;
  int cr;

  /// Scales the cell. A missing luma sample must have been replaced by its neighbour's luma and
  /// ColumnMix, which leaves the mean gain as it is.
  __device__ __forceinline__ void scale(const ClaheFrame& f, const LineTables& tables,
                                        const ColumnMix (&mix)[Form::kColumns]) {
    const int above = value_above_luma(f.weights, cb, cr);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < Form::kColumns; ++k) {
      float column = 0;
#pragma unroll
      for (int r = 0; r < Form::kRows; ++r) {
        const int y = luma[r][k] - f.weights.luma_offset;
        const int v = y < 0 ? 0 : yuv_value(f.weights, luma[r][k], above);
        const float gain = tables.gain(static_cast<std::uint32_t>(4 * v), mix[k]);
        column = r == 0 ? gain : column + gain;
        if (y >= 0) luma[r][k] = f.weights.luma_offset + rounded_product(y, gain);
      }
      sum = k == 0 ? column : sum + column;
    }
    const float mean = sum * (1.0F / (Form::kColumns * Form::kRows));
    cb = static_cast<int>(clamped_byte(128 + rounded_product(cb - 128, mean)));
    cr = static_cast<int>(clamped_byte(128 + rounded_product(cr - 128, mean)));
  }
};

/// A line of YCbCr: each thread scales eight luma columns with their chroma, which it loads from
/// device memory and stores there; no staging in shared memory, since accesses are wide and
/// coalesced already.
template <typename Form>
class YuvApply {
 public:
  static constexpr float kScale = 1;
  static constexpr int kSlotBytes = 16;  // not used, since there is no staging

  __device__ YuvApply(const ClaheFrame& f, int line, std::uint8_t*)
      : f_(f), line_(line), rows_(f, line, Form::kRows) {}

  __device__ void run(const LineTables& tables) {
    const bool may_be_whole = f_.aligned && (Form::kRows == 1 || rows_.both);
    for (int x = static_cast<int>(threadIdx.x) * kColumns; x < f_.width;
         x += kLineThreads * kColumns) {
      if (may_be_whole && x + kColumns <= f_.width) {
        whole(tables, x);
      } else {
        for (int c = x / Form::kColumns;
             c < (min(x + kColumns, f_.width) + Form::kColumns - 1) / Form::kColumns; ++c) {
          single(tables, c);
        }
      }
    }
  }

 private:
  static constexpr int kColumns = 8;
  static constexpr int kCells = kColumns / Form::kColumns;
  static constexpr int kLumaBytes = kColumns * Form::kLumaStep;
  static constexpr int kChromaBytes = kCells * Form::kChromaStep;
  static constexpr bool kOwnCr = Form::kCrPlane != Form::kCbPlane;

  [[nodiscard]] __device__ int luma_row(int r) const {
    return r == 0 ? rows_.luma.first : rows_.luma.second;
  }

  /// Sets a byte of consecutive words, which must be 0.
  static __device__ __forceinline__ void put(std::uint32_t* words, int at, int value) {
    words[at / 4] |= static_cast<std::uint32_t>(value) << (8 * (at % 4));
  }

  __device__ __forceinline__ void whole(const LineTables& tables, int x) const {
    const int chroma_at = x / Form::kColumns * Form::kChromaStep;
    std::uint32_t luma[Form::kRows][kLumaBytes / 4];
    std::uint32_t cb[kChromaBytes / 4];
    std::uint32_t cr[kChromaBytes / 4];
#pragma unroll
    for (int r = 0; r < Form::kRows; ++r)
      load_words<kLumaBytes>(row_of(f_, 0, luma_row(r)) + x * Form::kLumaStep, luma[r]);
    if constexpr (!Form::kPacked) {
      load_words<kChromaBytes>(row_of(f_, Form::kCbPlane, line_) + chroma_at, cb);
      if constexpr (kOwnCr)
        load_words<kChromaBytes>(row_of(f_, Form::kCrPlane, line_) + chroma_at, cr);
    }
    ColumnMix mix[kColumns];
#pragma unroll
    for (int i = 0; i < kColumns; i += kMixVector)
      load_mixes(f_.columns + x + i, mix + i);
    std::uint32_t new_luma[Form::kRows][kLumaBytes / 4] = {};
    std::uint32_t new_cb[kChromaBytes / 4] = {};
    std::uint32_t new_cr[kChromaBytes / 4] = {};
#pragma unroll
    for (int c = 0; c < kCells; ++c) {
      const std::uint32_t* from_cb = Form::kPacked ? luma[0] : cb;
      const std::uint32_t* from_cr = Form::kPacked ? luma[0] : (kOwnCr ? cr : cb);
      Cell<Form> cell;
      ColumnMix own[Form::kColumns];
      cell.cb = static_cast<int>(byte_of(from_cb, Form::cb_at(c)));
      cell.cr = static_cast<int>(byte_of(from_cr, Form::cr_at(c)));
#pragma unroll
      for (int k = 0; k < Form::kColumns; ++k) {
        own[k] = mix[Form::kColumns * c + k];
#pragma unroll
        for (int r = 0; r < Form::kRows; ++r)
          cell.luma[r][k] =
              static_cast<int>(byte_of(luma[r], Form::luma_at(Form::kColumns * c + k)));
      }
      cell.scale(f_, tables, own);
#pragma unroll
      for (int k = 0; k < Form::kColumns; ++k) {
#pragma unroll
        for (int r = 0; r < Form::kRows; ++r)
          put(new_luma[r], Form::luma_at(Form::kColumns * c + k), cell.luma[r][k]);
      }
      put(Form::kPacked ? new_luma[0] : new_cb, Form::cb_at(c), cell.cb);
      put(Form::kPacked ? new_luma[0] : (kOwnCr ? new_cr : new_cb), Form::cr_at(c), cell.cr);
    }
#pragma unroll
    for (int r = 0; r < Form::kRows; ++r)
      stream_words<kLumaBytes>(out_row_of(f_, 0, luma_row(r)) + x * Form::kLumaStep, new_luma[r]);
    if constexpr (!Form::kPacked) {
      stream_words<kChromaBytes>(out_row_of(f_, Form::kCbPlane, line_) + chroma_at, new_cb);
      if constexpr (kOwnCr)
        stream_words<kChromaBytes>(out_row_of(f_, Form::kCrPlane, line_) + chroma_at, new_cr);
    }
  }

  /// Scales a cell sample by sample: for unaligned frames, and cells with missing samples.
  __device__ void single(const LineTables& tables, int c) const {
    Cell<Form> cell;
    ColumnMix mix[Form::kColumns];
    cell.cb = row_of(f_, Form::kCbPlane, line_)[Form::cb_at(c)];
    cell.cr = row_of(f_, Form::kCrPlane, line_)[Form::cr_at(c)];
    for (int k = 0; k < Form::kColumns; ++k) {
      const int x = min(Form::kColumns * c + k, f_.width - 1);
      mix[k] = f_.columns[x];
      for (int r = 0; r < Form::kRows; ++r)
        cell.luma[r][k] = row_of(f_, 0, luma_row(r))[Form::luma_at(x)];
    }
    const std::uint8_t extra = copied_luma(c);
    cell.scale(f_, tables, mix);
    for (int k = 0; k < Form::kColumns; ++k) {
      const int x = Form::kColumns * c + k;
      if (x >= f_.width) continue;
      for (int r = 0; r < Form::kRows; ++r)
        out_row_of(f_, 0, luma_row(r))[Form::luma_at(x)] =
            static_cast<std::uint8_t>(cell.luma[r][k]);
    }
    out_row_of(f_, Form::kCbPlane, line_)[Form::cb_at(c)] = static_cast<std::uint8_t>(cell.cb);
    out_row_of(f_, Form::kCrPlane, line_)[Form::cr_at(c)] = static_cast<std::uint8_t>(cell.cr);
    // Packed 4:2:2 has a second luma byte in the last cell of a row of odd width; it must not
    // change.
    const int past = Form::kColumns * c + 1;
    if (Form::kPacked && past >= f_.width) out_row_of(f_, 0, line_)[Form::luma_at(past)] = extra;
  }

  [[nodiscard]] __device__ std::uint8_t copied_luma(int c) const {
    return Form::kPacked ? row_of(f_, 0, line_)[Form::luma_at(Form::kColumns * c + 1)]
                         : std::uint8_t{0};
  }

  const ClaheFrame& f_;
  int line_;
  LineRows rows_;
};

}  // namespace equalux::cuda

#pragma once

#include <cstdint>

#include "cuda/clahe/clahe.h"
#include "cuda/device/dependent_launch.cuh"
#include "cuda/device/pixel_vector.cuh"
#include "cuda/runtime/pick_kernel.h"
#include "src/format/layout.h"

/// Access to samples for the kernels of adaptive equalization: whole groups of neighbouring pixels
/// where they are aligned, else single samples.
namespace equalux::cuda {

/// Positions of a format's samples as compile-time constants: of pixels in one plane, or of luma
/// column x and cell c of YCbCr within their rows.
template <PixelFormat kFormat>
struct Form {
  static constexpr bool kYuv = traits(kFormat).model == ColorModel::yuv;
  static constexpr bool kPacked = traits(kFormat).planes == 1;
  static constexpr bool kWordTables = word_tables(kFormat);
  // Constants of formats with whole pixels in one plane.
  static constexpr int kStep = traits(kFormat).step[0];
  static constexpr int kColours = traits(kFormat).model == ColorModel::rgb ? 3 : 1;
  static constexpr int kFirst = rgb_layout(kFormat).first();
  static constexpr int kCopied = traits(kFormat).alpha_offset;
  // Constants of YCbCr formats.
  static constexpr int kColumns = cell_columns(sampling_of(kFormat));  ///< luma samples of a cell
  static constexpr int kRows = cell_rows(sampling_of(kFormat));
  static constexpr int kCbPlane = component_of(kFormat, 1).plane;
  static constexpr int kCrPlane = component_of(kFormat, 2).plane;
  static constexpr int kLumaStep = component_of(kFormat, 0).step;
  static constexpr int kChromaStep = component_of(kFormat, 1).step;

  static __device__ int luma_at(int x) {
    constexpr int kOffset = component_of(kFormat, 0).offset;
    return kLumaStep * x + kOffset;
  }
  static __device__ int cb_at(int c) {
    constexpr int kOffset = component_of(kFormat, 1).offset;
    return kChromaStep * c + kOffset;
  }
  static __device__ int cr_at(int c) {
    constexpr int kOffset = component_of(kFormat, 2).offset;
    return kChromaStep * c + kOffset;
  }
};

/// The luma rows of a line of cells.
struct LineRows {
  LumaRows luma;
  bool both;  ///< the line has two rows

  __device__ LineRows(const ClaheFrame& f, int line, int rows_of_cell)
      : luma{line, line}, both(false) {
    if (rows_of_cell == 1) return;
    luma = luma_rows_of(line, f.height, f.interlaced);
    both = luma.second != luma.first;
  }
};

__device__ __forceinline__ const std::uint8_t* row_of(const ClaheFrame& f, int plane, int row) {
  return f.planes[plane].from(row);
}
__device__ __forceinline__ std::uint8_t* out_row_of(const ClaheFrame& f, int plane, int row) {
  return f.planes[plane].to(row);
}

/// Calls `work` with the Form of an 8-bit format.
template <typename Work>
void for_form(PixelFormat format, const Work& work) {
  with_byte_format(format, [&](auto same) { work(Form<decltype(same)::value>{}); });
}

}  // namespace equalux::cuda

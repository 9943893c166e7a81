#pragma once

#include <cstdint>

#include "cuda/clahe/clahe.h"
#include "cuda/device/pixel_vector.cuh"

/// How adaptive equalization's kernels read formats: whole groups of neighbouring pixels at once
/// where they are aligned, single samples elsewhere.
namespace equalux::cuda {

/// A kernel that waits for the results before it, then lets the next one start. So that one may,
/// ahead of its own wait, read what kernels before this wrote.
__device__ __forceinline__ void wait_then_release() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Bytes as words, by the widest loads that their number allows.
template <int kBytes>
__device__ __forceinline__ void load_group(const std::uint8_t* from,
                                           std::uint32_t (&words)[kBytes / 4]) {
  if constexpr (kBytes % 16 == 0) {
#pragma unroll
    for (int i = 0; i < kBytes / 16; ++i) {
      const uint4 v = reinterpret_cast<const uint4*>(from)[i];
      words[4 * i] = v.x;
      words[4 * i + 1] = v.y;
      words[4 * i + 2] = v.z;
      words[4 * i + 3] = v.w;
    }
  } else if constexpr (kBytes == 8) {
    const uint2 v = *reinterpret_cast<const uint2*>(from);
    words[0] = v.x;
    words[1] = v.y;
  } else {
    words[0] = *reinterpret_cast<const std::uint32_t*>(from);
  }
}

/// The same the other way; nobody on the device reads results again.
template <int kBytes>
__device__ __forceinline__ void store_group(std::uint8_t* to,
                                            const std::uint32_t (&words)[kBytes / 4]) {
  if constexpr (kBytes % 16 == 0) {
#pragma unroll
    for (int i = 0; i < kBytes / 16; ++i) {
      __stcs(reinterpret_cast<uint4*>(to) + i,
             uint4{words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]});
    }
  } else if constexpr (kBytes == 8) {
    __stcs(reinterpret_cast<uint2*>(to), uint2{words[0], words[1]});
  } else {
    __stcs(reinterpret_cast<std::uint32_t*>(to), words[0]);
  }
}

/// One plane whose pixels have kBytes bytes, colours from kColor on.
template <int kBytes, int kColor = 0>
struct PackedForm {
  static constexpr int kStep = kBytes;
  static constexpr int kColours = kBytes == 1 ? 1 : 3;
  static constexpr int kFirst = kColor;
  static constexpr int kCopied = kBytes != 4 ? -1 : (kColor == 0 ? 3 : 0);
};

/// Where the samples of a YCbCr format lie: of luma column x and of cell c, within their rows.
template <PixelFormat kFormat>
struct YuvForm {
  static constexpr bool kPacked = traits(kFormat).planes == 1;
  static constexpr int kColumns = 1 << traits(kFormat).chroma_shift_x;  ///< luma samples of a cell
  static constexpr int kRows = 1 << traits(kFormat).chroma_shift_y;
  static constexpr int kCbPlane = kPacked ? 0 : 1;
  static constexpr int kCrPlane = traits(kFormat).planes == 3 ? 2 : kCbPlane;
  static constexpr int kLumaStep = kPacked ? 2 : 1;
  static constexpr int kChromaStep = kPacked ? 4 : (traits(kFormat).planes == 2 ? 2 : 1);
  static constexpr int kLuma = kFormat == PixelFormat::uyvy ? 1 : 0;
  static constexpr int kCb = kFormat == PixelFormat::yuy2 ? 1 : 0;
  static constexpr int kCr = kPacked ? kCb + 2 : (traits(kFormat).planes == 2 ? 1 : 0);

  static __device__ int luma_at(int x) { return kLumaStep * x + kLuma; }
  static __device__ int cb_at(int c) { return kChromaStep * c + kCb; }
  static __device__ int cr_at(int c) { return kChromaStep * c + kCr; }
};

/// A line of a frame: the rows that it is made of.
struct LineRows {
  LumaRows luma;
  bool both;  ///< there are two

  __device__ LineRows(const ClaheFrame& f, int line, int rows_of_cell)
      : luma{line, line}, both(false) {
    if (rows_of_cell == 1) return;
    luma = luma_rows_of(line, f.height, f.interlaced);
    both = luma.second != luma.first;
  }
};

__device__ __forceinline__ const std::uint8_t* row_of(const ClaheFrame& f, int plane, int row) {
  return f.in[plane] + row * f.in_stride[plane];
}
__device__ __forceinline__ std::uint8_t* out_row_of(const ClaheFrame& f, int plane, int row) {
  return f.out[plane] + row * f.out_stride[plane];
}

/// Calls `work` with the form of a format.
template <typename Work>
void for_form(PixelFormat format, const Work& work) {
  switch (format) {
    case PixelFormat::gray8:
      return work(PackedForm<1>{});
    case PixelFormat::rgb:
    case PixelFormat::bgr:
      return work(PackedForm<3>{});
    case PixelFormat::rgbx:
    case PixelFormat::bgrx:
    case PixelFormat::rgba:
    case PixelFormat::bgra:
      return work(PackedForm<4, 0>{});
    case PixelFormat::xrgb:
    case PixelFormat::xbgr:
    case PixelFormat::argb:
    case PixelFormat::abgr:
      return work(PackedForm<4, 1>{});
    case PixelFormat::nv12:
      return work(YuvForm<PixelFormat::nv12>{});
    case PixelFormat::i420:
      return work(YuvForm<PixelFormat::i420>{});
    case PixelFormat::yuy2:
      return work(YuvForm<PixelFormat::yuy2>{});
    case PixelFormat::uyvy:
      return work(YuvForm<PixelFormat::uyvy>{});
    case PixelFormat::y42b:
      return work(YuvForm<PixelFormat::y42b>{});
    case PixelFormat::y444:
      return work(YuvForm<PixelFormat::y444>{});
    default:
      return;  // not of 8 bits, which the filter does not take
  }
}

}  // namespace equalux::cuda

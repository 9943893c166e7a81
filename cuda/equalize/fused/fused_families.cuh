#pragma once

#include "cuda/equalize/fused/fused_kernel.cuh"
#include "cuda/equalize/fused/yuv_layouts.cuh"
#include "src/format/layout.h"

/// Layouts of the formats of each family. Kernels with and without a change of saturation are
/// compiled in files of their own, at the same time.
namespace equalux::cuda {

template <bool kSaturates>
const void* kernel_of_packed(PixelFormat format, Access access) {
  switch (any_colour_order(format)) {
    case PixelFormat::gray8:
      if constexpr (kSaturates) {
        return nullptr;
      } else {
        return kernel_of<GrayLayout, false>(access);
      }
    case PixelFormat::rgb:
      return kernel_of<Rgb3Layout, kSaturates>(access);
    case PixelFormat::xrgb:
      return kernel_of<Rgb4Layout<0>, kSaturates>(access);
    case PixelFormat::rgbx:
      return kernel_of<Rgb4Layout<3>, kSaturates>(access);
    default:
      return nullptr;
  }
}

template <bool kSaturates>
const void* kernel_of_420(PixelFormat format, Access access) {
  switch (format) {
    case PixelFormat::nv12:
      return kernel_of<Nv12Layout, kSaturates>(access);
    case PixelFormat::i420:
      return kernel_of<I420Layout, kSaturates>(access);
    default:
      return nullptr;
  }
}

template <bool kSaturates>
const void* kernel_of_422_444(PixelFormat format, Access access) {
  switch (format) {
    case PixelFormat::yuy2:
      return kernel_of<Packed422Layout<0>, kSaturates>(access);
    case PixelFormat::uyvy:
      return kernel_of<Packed422Layout<1>, kSaturates>(access);
    case PixelFormat::y42b:
      return kernel_of<Y42bLayout, kSaturates>(access);
    case PixelFormat::y444:
      return kernel_of<Y444Layout, kSaturates>(access);
    default:
      return nullptr;
  }
}

}  // namespace equalux::cuda

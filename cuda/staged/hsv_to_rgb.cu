#include "cuda/device/linear_thread.cuh"
#include "cuda/device/packed_pixels.cuh"
#include "cuda/runtime/check.h"
#include "cuda/runtime/pick_kernel.h"
#include "cuda/staged/staged_stages.h"

namespace equalux::cuda {
namespace {

/// An HSV pixel, and the pixel of the original frame in its place.
struct Source {
  Hsv hsv;
  std::uint32_t original;
};

/// Loads a pixel; the original is read only where the format has a fourth byte.
template <int kStep>
__device__ __forceinline__ Source load_source(const HsvPlanes& in,
                                              const PackedFrame<const std::uint8_t>& original,
                                              std::uint32_t i) {
  Source source{{in.h[i], in.s[i], in.v[i]}, 0};
  if constexpr (kStep == 4) source.original = load_pixel<4>(original.pixel(i, kStep));
  return source;
}

/// Converts one pixel at a time, whatever its alignment. Neighbouring threads take neighbouring
/// pixels, so that accesses to the planes are coalesced. Reads 12 bytes a pixel and writes kStep.
template <int kStep, int kInFlight>
__global__ void __launch_bounds__(kMostThreads)
    hsv_to_rgb_kernel(HsvPlanes in, PackedFrame<const std::uint8_t> original, PixelOrder order,
                      PackedFrame<std::uint8_t> out, std::uint32_t pixels) {
  walk_in_flight<kInFlight>(
      interleaved_walk(pixels),
      [&](std::uint32_t i) { return load_source<kStep>(in, original, i); },
      [&](std::uint32_t i, const Source& source) {
        store_pixel<kStep>(out.pixel(i, kStep), pixel_of(source.hsv, source.original, order));
      });
}

/// Four HSV pixels, and the pixels of the original frame in their place.
template <int kStep>
struct SourceGroup {
  float4 h;
  float4 s;
  float4 v;
  PixelGroup<kStep> original;
};

/// Converts kGroup neighbouring pixels at a time: a thread reads 16 bytes of each plane and writes
/// kStep words. Loads are streaming, because no kernel reads the planes again. The last pixels of a
/// frame, fewer than a group, go one by one.
template <int kStep, int kInFlight>
__global__ void __launch_bounds__(kMostThreads)
    hsv_to_rgb_groups_kernel(HsvPlanes in, PackedFrame<const std::uint8_t> original,
                             PixelOrder order, PackedFrame<std::uint8_t> out,
                             std::uint32_t pixels) {
  const std::uint32_t groups = pixels / kGroup;
  walk_in_flight<kInFlight / kGroup>(
      interleaved_walk(groups),
      [&](std::uint32_t i) {
        SourceGroup<kStep> source{};
        source.h = __ldcs(reinterpret_cast<const float4*>(in.h) + i);
        source.s = __ldcs(reinterpret_cast<const float4*>(in.s) + i);
        source.v = __ldcs(reinterpret_cast<const float4*>(in.v) + i);
        if constexpr (kStep == 4)
          source.original = load_group<kStep>(original.pixel(i * kGroup, kStep));
        return source;
      },
      [&](std::uint32_t i, const SourceGroup<kStep>& from) {
        const auto old = [&](int k) { return kStep == 4 ? from.original.pixel(k) : 0U; };
        const std::uint32_t pixel[kGroup] = {
            pixel_of({from.h.x, from.s.x, from.v.x}, old(0), order),
            pixel_of({from.h.y, from.s.y, from.v.y}, old(1), order),
            pixel_of({from.h.z, from.s.z, from.v.z}, old(2), order),
            pixel_of({from.h.w, from.s.w, from.v.w}, old(3), order)};
        store_group<kStep>(out.pixel(i * kGroup, kStep), PixelGroup<kStep>::of(pixel));
      });
  const std::uint32_t done = groups * kGroup;
  walk_in_flight<1>(
      interleaved_walk(pixels - done),
      [&](std::uint32_t i) { return load_source<kStep>(in, original, done + i); },
      [&](std::uint32_t i, const Source& source) {
        store_pixel<kStep>(out.pixel(done + i, kStep),
                           pixel_of(source.hsv, source.original, order));
      });
}

using RgbKernel = void (*)(HsvPlanes, PackedFrame<const std::uint8_t>, PixelOrder,
                           PackedFrame<std::uint8_t>, std::uint32_t);

template <int kStep, int kInFlight>
RgbKernel rgb_kernel_of(bool groups) {
  if constexpr (kInFlight >= kGroup) {
    if (groups) return &hsv_to_rgb_groups_kernel<kStep, kInFlight>;
  }
  return &hsv_to_rgb_kernel<kStep, kInFlight>;
}

}  // namespace

void hsv_to_rgb(const LaunchShape& shape, const HsvPlanes& in, const ConstImageView& original,
                const ImageView& out, cudaStream_t stream) {
  const int step = traits(out.desc.format).step[0];
  const bool groups = takes_groups(out) && (step != 4 || takes_groups(original));
  const RgbKernel kernel = with_step(step, [&](auto bytes) {
    return with_pixels_in_flight(shape.pixels_per_thread, [&](auto in_flight) {
      return rgb_kernel_of<decltype(bytes)::value, decltype(in_flight)::value>(groups);
    });
  });
  kernel<<<shape.grid, shape.block, 0, stream>>>(in, packed_frame(original),
                                                 PixelOrder::of(out.desc.format), packed_frame(out),
                                                 pixels_of(out.desc));
  check(cudaGetLastError(), "launching hsv_to_rgb");
}

}  // namespace equalux::cuda

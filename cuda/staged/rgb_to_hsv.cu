#include "cuda/device/linear_thread.cuh"
#include "cuda/device/packed_pixels.cuh"
#include "cuda/runtime/check.h"
#include "cuda/runtime/pick_kernel.h"
#include "cuda/staged/staged_stages.h"

namespace equalux::cuda {
namespace {

/// Converts one pixel at a time, whatever its alignment. The coalesced variant gives neighbouring
/// threads neighbouring pixels. The uncoalesced one is the report's version 0 of Figure 2: each
/// thread walks a run of pixels of its own, so that the 32 accesses of a warp touch 32 places.
template <int kStep, int kInFlight, RgbToHsvVariant kVariant>
__global__ void __launch_bounds__(kMostThreads)
    rgb_to_hsv_kernel(PackedFrame<const std::uint8_t> in, PixelOrder order, HsvPlanes out,
                      std::uint32_t pixels) {
  const Walk walk =
      kVariant == RgbToHsvVariant::coalesced ? interleaved_walk(pixels) : contiguous_walk(pixels);
  walk_in_flight<kInFlight>(
      walk, [&](std::uint32_t i) { return load_pixel<kStep>(in.pixel(i, kStep)); },
      [&](std::uint32_t i, std::uint32_t pixel) {
        const Hsv hsv = hsv_of(pixel, order);
        out.h[i] = hsv.h;
        out.s[i] = hsv.s;
        out.v[i] = hsv.v;
      });
}

/// Converts kGroup neighbouring pixels at a time, coalesced: a thread reads kStep words and writes
/// 16 bytes to each plane. H and S are stored streaming, since they are not read before the last
/// stage and should not displace from L2 the plane V, which the next two stages read.
template <int kStep, int kInFlight>
__global__ void __launch_bounds__(kMostThreads)
    rgb_to_hsv_groups_kernel(PackedFrame<const std::uint8_t> in, PixelOrder order, HsvPlanes out,
                             std::uint32_t pixels) {
  const std::uint32_t groups = pixels / kGroup;
  walk_in_flight<kInFlight / kGroup>(
      interleaved_walk(groups),
      [&](std::uint32_t i) { return load_group<kStep>(in.pixel(i * kGroup, kStep)); },
      [&](std::uint32_t i, const PixelGroup<kStep>& group) {
        const Hsv a = hsv_of(group.pixel(0), order);
        const Hsv b = hsv_of(group.pixel(1), order);
        const Hsv c = hsv_of(group.pixel(2), order);
        const Hsv d = hsv_of(group.pixel(3), order);
        __stcs(reinterpret_cast<float4*>(out.h) + i, float4{a.h, b.h, c.h, d.h});
        __stcs(reinterpret_cast<float4*>(out.s) + i, float4{a.s, b.s, c.s, d.s});
        reinterpret_cast<float4*>(out.v)[i] = float4{a.v, b.v, c.v, d.v};
      });
  const std::uint32_t done = groups * kGroup;
  walk_in_flight<1>(
      interleaved_walk(pixels - done),
      [&](std::uint32_t i) { return load_pixel<kStep>(in.pixel(done + i, kStep)); },
      [&](std::uint32_t i, std::uint32_t pixel) {
        const Hsv hsv = hsv_of(pixel, order);
        out.h[done + i] = hsv.h;
        out.s[done + i] = hsv.s;
        out.v[done + i] = hsv.v;
      });
}

using HsvKernel = void (*)(PackedFrame<const std::uint8_t>, PixelOrder, HsvPlanes, std::uint32_t);

template <int kStep, int kInFlight>
HsvKernel hsv_kernel_of(RgbToHsvVariant variant, bool groups) {
  if (variant == RgbToHsvVariant::uncoalesced)
    return &rgb_to_hsv_kernel<kStep, kInFlight, RgbToHsvVariant::uncoalesced>;
  if constexpr (kInFlight >= kGroup) {
    if (groups) return &rgb_to_hsv_groups_kernel<kStep, kInFlight>;
  }
  return &rgb_to_hsv_kernel<kStep, kInFlight, RgbToHsvVariant::coalesced>;
}

}  // namespace

void rgb_to_hsv(RgbToHsvVariant variant, const LaunchShape& shape, const ConstImageView& in,
                const HsvPlanes& out, cudaStream_t stream) {
  const bool groups = takes_groups(in);
  const HsvKernel kernel = with_step(traits(in.desc.format).step[0], [&](auto step) {
    return with_pixels_in_flight(shape.pixels_per_thread, [&](auto in_flight) {
      return hsv_kernel_of<decltype(step)::value, decltype(in_flight)::value>(variant, groups);
    });
  });
  kernel<<<shape.grid, shape.block, 0, stream>>>(packed_frame(in), PixelOrder::of(in.desc.format),
                                                 out, pixels_of(in.desc));
  check(cudaGetLastError(), "launching rgb_to_hsv");
}

}  // namespace equalux::cuda

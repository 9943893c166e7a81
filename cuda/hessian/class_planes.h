#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>
#include <equalux/image.h>

#include "cuda/hessian/hessian.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/launch_device.h"
#include "src/hessian/class_colours.h"

/// What becomes of planes of classes in device memory.
namespace equalux::cuda {

/// `out` is `in` (which may be the same memory) with the pixels of class k > 0 tinted with
/// colours[k]. All 8-bit formats but packed 4:2:2. Device pointers.
void paint_classes(const ConstImageView& in, const ImageView& out, const DeviceClasses& classes,
                   const ClassColours& colours, bool interlaced, const LaunchDevice& device,
                   cudaStream_t stream);

/// The heat map of levels 0 to 255 as bgr: black, red, yellow, white.
void paint_heat(const DeviceClasses& levels, const ImageView& out, const LaunchDevice& device,
                cudaStream_t stream);

/// `out` (gray8) = classes · factor.
void write_classes(const DeviceClasses& classes, int factor, const ImageView& out,
                   const LaunchDevice& device, cudaStream_t stream);

/// The launch facts of the above on the device that is current. Throws Error(unavailable).
[[nodiscard]] LaunchDevice paint_device();

/// Connected components of a plane, in tiles that are put together: a tile's components have
/// numbers in it, each of which has a label, the number of another component that it is joined to
/// or its own, and at the root what is known of the whole.
class DeviceComponents {
 public:
  /// Frames of up to 2^31 - 1 pixels; throws Error(usage) above.
  DeviceComponents(int width, int height);

  /// Makes vessels of the classes of vessel_class(), connected by sides and corners: 1 in
  /// components that somewhere are 2 and have `min_size` pixels, 0 elsewhere. Then fills what is 0
  /// in components, connected by sides, of up to `most_hole` pixels.
  void keep_vessels(const DeviceClasses& classes, std::int64_t min_size, std::int64_t most_hole,
                    cudaStream_t stream);

  /// A word for each pixel, free until keep_vessels() is called.
  [[nodiscard]] std::uint32_t* scratch() const { return labels_.get(); }

 private:
  DevicePointer<std::uint16_t> numbers_;  // a pixel's component in its tile
  DevicePointer<std::uint32_t> labels_;   // labels and areas of vessels, then those of holes
  DevicePointer<std::uint32_t> counts_;   // components of each tile, likewise
  LaunchDevice device_;
};

/// The vignette, the dark around a photograph through a round opening: VignetteFinder on a device.
/// Whether there is one is found there too; nothing waits for the host.
class DeviceVignette {
 public:
  DeviceVignette(const ImageDesc& desc, int margin);
  /// Makes classes 0 in the vignette of a frame. `labels` is scratch of a pixel each.
  void clear(const ConstImageView& in, const DeviceClasses& classes, std::uint32_t* labels,
             cudaStream_t stream);

 private:
  DevicePointer<std::uint8_t> state_;     // what the kernels find out
  DevicePointer<std::uint8_t> vignette_;  // a byte a pixel
  DevicePointer<std::uint8_t> widened_;
  int margin_;
  LaunchDevice device_;
};

}  // namespace equalux::cuda

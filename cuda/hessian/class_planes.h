#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>
#include <equalux/image.h>

#include "cuda/hessian/hessian.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/launch_device.h"
#include "src/hessian/class_colours.h"

/// Work on planes of pixel classes in device memory: painting, cleaning, writing.
namespace equalux::cuda {

/// Copies `in` to `out`, which may be the same memory, and tints pixels of class k > 0 with
/// colours[k]. All 8-bit formats but packed 4:2:2. Device pointers.
void paint_classes(const ConstImageView& in, const ImageView& out, const DeviceClasses& classes,
                   const ClassColours& colours, bool interlaced, const LaunchDevice& device,
                   cudaStream_t stream);

/// Draws the heat map of levels 0 to 255 as bgr: black, red, yellow, white.
void paint_heat(const DeviceClasses& levels, const ImageView& out, const LaunchDevice& device,
                cudaStream_t stream);

/// Writes classes times factor to `out` (gray8).
void write_classes(const DeviceClasses& classes, int factor, const ImageView& out,
                   const LaunchDevice& device, cudaStream_t stream);

/// Asks for the launch facts of the functions above on the current device. Throws
/// Error(unavailable).
[[nodiscard]] LaunchDevice paint_device();

/// Connected components of a plane by union-find. The plane is cut into tiles, and components are
/// numbered within their tile. Each has a label: the number of another component that it has been
/// joined with, or its own at the root, which has the size of the whole.
class DeviceComponents {
 public:
  /// Allocates for frames of up to 2^31 - 1 pixels; throws Error(usage) above.
  DeviceComponents(int width, int height);

  /// Turns classes of vessel_class() into vessels: pixels connected by sides and corners become 1
  /// in components that contain a 2 and have at least `min_size` pixels, else 0. Then fills holes:
  /// components of 0, connected by sides, of up to `most_hole` pixels.
  void keep_vessels(const DeviceClasses& classes, std::int64_t min_size, std::int64_t most_hole,
                    cudaStream_t stream);

  /// Returns memory with a word for each pixel, which is free until keep_vessels() is called.
  [[nodiscard]] std::uint32_t* scratch() const { return labels_.get(); }

 private:
  DevicePointer<std::uint16_t> numbers_;  // of each pixel's component within its tile
  DevicePointer<std::uint32_t> labels_;   // labels and areas of vessels, then those of holes
  DevicePointer<std::uint32_t> counts_;   // components in each tile, of vessels, then of holes
  LaunchDevice device_;
};

/// The vignette, which is the dark around a photograph taken through a round opening:
/// VignetteFinder on a device. The kernels themselves find out whether there is one, so that the
/// host does not wait.
class DeviceVignette {
 public:
  DeviceVignette(const ImageDesc& desc, int margin);
  /// Sets classes to 0 in the vignette of a frame. `labels` is scratch memory of one word per
  /// pixel.
  void clear(const ConstImageView& in, const DeviceClasses& classes, std::uint32_t* labels,
             cudaStream_t stream);

 private:
  DevicePointer<std::uint8_t> state_;     // what the kernels find out
  DevicePointer<std::uint8_t> vignette_;  // one byte per pixel
  DevicePointer<std::uint8_t> widened_;
  int margin_;
  LaunchDevice device_;
};

}  // namespace equalux::cuda

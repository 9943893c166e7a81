#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>
#include <equalux/device.h>
#include <equalux/filter.h>

#include "cuda/runtime/handles.h"

/// Timing on a GPU, and frames in its memory.
namespace equalux::bench {

/// Frames in rotation.
inline constexpr int kFrames = 6;

/// The middle of an odd count, the upper of the two middle ones of an even count.
[[nodiscard]] double median(std::vector<double> values);

/// Microseconds of one `work` on a stream: batches between two events, median of the batches.
/// `work` is given a number that grows by one.
[[nodiscard]] double time_us(cudaStream_t stream, int batch, const std::function<void(int)>& work);

/// What copies of many MB reach.
struct Ceilings {
  double device_copy_tb_s = 0;     ///< bytes read and bytes written count
  double upload_gb_s = 0;          ///< from pinned memory
  double both_ways_gb_s_each = 0;  ///< up and down at once
};
[[nodiscard]] Ceilings measure_ceilings();

/// Microseconds of one frame from pinned memory through a filter and back, with nothing beside it,
/// buffers ready.
[[nodiscard]] double host_to_host_us(std::unique_ptr<Filter> filter, const ImageDesc& desc,
                                     const CudaDevice& device);

/// A frame in device memory.
struct DeviceFrame {
  cuda::DevicePointer<std::uint8_t> memory;
  ImageView view;

  explicit DeviceFrame(const ImageDesc& desc);
};

/// Natural frames that take turns as input, and as many as output.
struct ResidentFrames {
  std::vector<DeviceFrame> in;
  std::vector<DeviceFrame> out;

  ResidentFrames(const ImageDesc& input, const ImageDesc& output);

  /// Every input becomes one colour.
  void fill(int level);

  /// Microseconds of one `work(in, out)`.
  [[nodiscard]] double time(
      cudaStream_t stream,
      const std::function<void(const ConstImageView&, const ImageView&)>& work);
};

}  // namespace equalux::bench

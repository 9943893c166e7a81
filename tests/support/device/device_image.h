#pragma once

#include <cstdint>
#include <vector>

#include <equalux/image.h>

#include "cuda/runtime/handles.h"

/// Frames in device memory for tests.
namespace equalux::test {

/// Devices that a test sees.
enum class Devices {
  first,  ///< a test's frames and streams lie there; a filter would choose among several
  all
};

/// True where a CUDA device answers; tests of the label gpu skip themselves where none does, and
/// fail instead where EQUALUX_REQUIRE_GPU is 1: it throws then. The first call of a process decides
/// which devices it sees, unless CUDA_VISIBLE_DEVICES is set.
[[nodiscard]] bool has_cuda_device(Devices seen = Devices::first);

/// How a frame lies in device memory: planes begin `offset` bytes past a multiple of 256.
struct DeviceLayout {
  int offset = 0;
  int padding = 0;            ///< bytes a row
  bool aligned_rows = false;  ///< rounds strides up to 16 bytes, after the padding
  bool negative = false;      ///< rows bottom up
};

/// A frame in device memory whose bytes around the samples are poisoned, so that a write outside
/// shows, and whose samples are poisoned until something is uploaded.
class DeviceImage {
 public:
  explicit DeviceImage(const ImageDesc& desc, const DeviceLayout& layout = {});

  /// Device pointers.
  [[nodiscard]] ImageView view() const { return view_; }
  void upload(const ConstImageView& from);
  /// Waits for the device. Throws std::runtime_error where a byte outside the samples has changed.
  [[nodiscard]] Image download();
  /// Fills everything with the poison again.
  void poison();

 private:
  std::vector<std::uint8_t> host_;
  std::vector<std::uint8_t> is_sample_;
  cuda::DevicePointer<std::uint8_t> memory_;
  ImageView view_;
};

}  // namespace equalux::test

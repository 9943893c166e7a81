#include "tests/support/device/device_image.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"

namespace equalux::test {
namespace {

constexpr std::uint8_t kPoison = 0x5A;
constexpr std::size_t kPlaneAlignment = 256;

std::size_t round_up(std::size_t value, std::size_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

bool has_cuda_device(Devices seen) {
  if (seen == Devices::first) ::setenv("CUDA_VISIBLE_DEVICES", "0", 0);
  int count = 0;
  const bool found = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  static_cast<void>(cudaGetLastError());
  const char* const required = std::getenv("EQUALUX_REQUIRE_GPU");
  if (!found && required != nullptr && std::string_view(required) == "1") {
    throw std::runtime_error("EQUALUX_REQUIRE_GPU is 1, and no CUDA device answers");
  }
  return found;
}

DeviceImage::DeviceImage(const ImageDesc& desc, const DeviceLayout& layout) {
  view_.desc = desc;
  const auto planes = static_cast<std::size_t>(traits(desc.format).planes);
  std::array<std::size_t, kMaxPlanes> begin{};
  std::size_t size = kPlaneAlignment;
  for (std::size_t i = 0; i < planes; ++i) {
    const int p = static_cast<int>(i);
    std::size_t stride = row_bytes(desc, p) + static_cast<std::size_t>(layout.padding);
    if (layout.aligned_rows) stride = round_up(stride, 16);
    const auto rows = static_cast<std::size_t>(plane_rows(desc, p));
    begin[i] = round_up(size, kPlaneAlignment) + static_cast<std::size_t>(layout.offset);
    size = begin[i] + stride * rows + kPlaneAlignment;
    view_.stride[i] = static_cast<std::ptrdiff_t>(stride);
    if (layout.negative) {
      begin[i] += stride * (rows - 1);
      view_.stride[i] = -view_.stride[i];
    }
  }
  host_.assign(size, kPoison);
  is_sample_.assign(size, 0);
  memory_ = cuda::allocate_device<std::uint8_t>(size);
  for (std::size_t i = 0; i < planes; ++i) {
    const int p = static_cast<int>(i);
    view_.data[i] = memory_.get() + begin[i];
    for (int y = 0; y < plane_rows(desc, p); ++y) {
      const auto at = view_.row(p, y) - memory_.get();
      std::fill_n(is_sample_.begin() + at, row_bytes(desc, p), std::uint8_t{1});
    }
  }
  poison();
}

void DeviceImage::poison() {
  std::fill(host_.begin(), host_.end(), kPoison);
  cuda::upload(memory_.get(), host_.data(), host_.size(), "poisoning a test image");
}

void DeviceImage::upload(const ConstImageView& from) {
  for (int p = 0; p < traits(from.desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(from.desc, p); ++y) {
      std::memcpy(host_.data() + (view_.row(p, y) - memory_.get()), from.row(p, y),
                  row_bytes(from.desc, p));
    }
  }
  cuda::upload(memory_.get(), host_.data(), host_.size(), "uploading a test image");
}

Image DeviceImage::download() {
  cuda::check(cudaDeviceSynchronize(), "running a test");
  cuda::check(cudaMemcpy(host_.data(), memory_.get(), host_.size(), cudaMemcpyDeviceToHost),
              "downloading a test image");
  for (std::size_t i = 0; i < host_.size(); ++i) {
    if (is_sample_[i] == 0 && host_[i] != kPoison) {
      throw std::runtime_error("byte " + std::to_string(i) + " outside the samples was written");
    }
  }
  Image image(view_.desc);
  for (int p = 0; p < traits(view_.desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(view_.desc, p); ++y) {
      std::memcpy(image.view().row(p, y), host_.data() + (view_.row(p, y) - memory_.get()),
                  row_bytes(view_.desc, p));
    }
  }
  return image;
}

}  // namespace equalux::test

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "tests/support/device/device_image.h"
#include "tests/support/media/test_images.h"

/// What tests of several chains give a device.
namespace equalux::test {

inline DeviceLayout random_layout(std::mt19937& random) {
  DeviceLayout layout;
  layout.aligned_rows = random() % 2 == 0;
  layout.offset = layout.aligned_rows ? 0 : static_cast<int>(random() % 64);
  layout.padding = static_cast<int>(random() % 40);
  layout.negative = random() % 4 == 0;
  return layout;
}

/// Frames of two contents in device memory, what equalization on the CPU makes of them, and room
/// for the results.
class FrameRun {
 public:
  FrameRun(const ImageDesc& desc, int count) {
    const auto cpu = make_cpu_filter(EqualizeParams{}, {1});
    cpu->configure(desc);
    Image frame(desc);
    for (int i = 0; i < count; ++i) {
      fill(frame.view(), i % 3 == 0 ? Content::noise : Content::natural,
           static_cast<std::uint32_t>(i));
      expected_.emplace_back(desc);
      FrameContext context;
      cpu->submit(frame.view(), expected_.back().view(), context);
      in_.push_back(std::make_unique<DeviceImage>(desc));
      in_.back()->upload(frame.view());
      out_.push_back(std::make_unique<DeviceImage>(desc));
      out_.back()->poison();
    }
  }

  /// Enqueues frame i, without waiting.
  template <typename Chain>
  void enqueue(Chain& chain, std::size_t i, cudaStream_t stream) {
    FrameContext context;
    context.stream = stream;
    chain.process(in_[i]->view(), out_[i]->view(), context);
  }

  void expect_results() {
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const Image got = out_[i]->download();
      ASSERT_EQ(count_differences(expected_[i].view(), got.view()), 0U) << "frame " << i;
    }
  }

 private:
  std::vector<Image> expected_;
  std::vector<std::unique_ptr<DeviceImage>> in_;
  std::vector<std::unique_ptr<DeviceImage>> out_;
};

}  // namespace equalux::test

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "cuda/runtime/check.h"
#include "cuda/runtime/handles.h"
#include "tests/support/device/device_image.h"
#include "tests/support/filter_changes.h"
#include "tests/support/media/moving_frames.h"
#include "tests/support/media/test_images.h"

/// A filter over time on both backends.
namespace equalux::test {

/// What a pair is fed with, and where its frames lie in device memory.
struct PairOptions {
  std::uint32_t seed = 1;
  std::function<void(const ImageView&, int number, std::uint32_t seed)> fill = fill_moving;
  DeviceLayout layout = {};
  FieldOrder order = FieldOrder::progressive;
  int cpu_threads = 1;
  bool collects = false;  ///< both add up their curves
};

/// A filter for each backend, with parameters of one type, fed with the same frames; every byte of
/// the results is compared.
template <typename Params>
class BackendPair {
 public:
  BackendPair(const Params& params, const ImageDesc& desc, PairOptions options = {})
      : desc_(desc),
        options_(std::move(options)),
        in_(desc),
        expected_(desc),
        device_in_(desc, options_.layout),
        device_out_(desc, options_.layout),
        stream_(cuda::make_stream()) {
    make(params);
  }

  /// The next frames, and the states after them.
  void expect_same(int frames) {
    for (int i = 0; i < frames; ++i) {
      ASSERT_EQ(step(), 0U) << "frame " << number_ - 1;
    }
    EXPECT_EQ(cpu_->save(), cuda_->save());
    EXPECT_EQ(test::curve_sum(*cpu_), test::curve_sum(*cuda_));
  }

  /// The sum of the frames' curves, where they are collected.
  [[nodiscard]] CurveSum curve_sum() const { return test::curve_sum(*cuda_).value(); }

  /// From here on filters that were made again and took over each other's states.
  void restore(const Params& params) {
    const std::string of_cpu = cpu_->save();
    const std::string of_cuda = cuda_->save();
    EXPECT_EQ(of_cpu, of_cuda);
    make(params);
    cpu_->load(of_cuda);
    cuda_->load(of_cpu);
  }
  void update(const Params& params) {
    EXPECT_TRUE(retune(*cpu_, params));
    EXPECT_TRUE(retune(*cuda_, params));
  }
  void reset() {
    cpu_->reset();
    cuda_->reset();
  }

 private:
  void make(const Params& params) {
    cpu_ = make_cpu_filter(params, {options_.cpu_threads});
    cuda_ = make_cuda_filter(params);
    if (options_.collects) {
      EXPECT_TRUE(test::collect_curves(*cpu_));
      EXPECT_TRUE(test::collect_curves(*cuda_));
    }
    cpu_->configure(desc_);
    cuda_->configure(desc_);
  }

  /// Values of the next frame that differ.
  std::size_t step() {
    options_.fill(in_.view(), number_, options_.seed);
    FrameContext context;
    context.index = static_cast<std::uint64_t>(number_);
    context.field_order = options_.order;
    // Frames fall out, and some carry no new timestamp.
    if (number_ % 17 != 5) pts_ns_ += number_ % 23 == 7 ? 400'000'000 : 33'366'667;
    context.pts_ns = pts_ns_;
    ++number_;
    cpu_->submit(in_.view(), expected_.view(), context);
    device_in_.upload(in_.view());
    device_out_.poison();
    cuda::check(cudaDeviceSynchronize(), "waiting for the upload");
    context.stream = stream_.get();
    cuda_->submit(device_in_.view(), device_out_.view(), context);
    cuda::check(cudaStreamSynchronize(stream_.get()), "waiting for the frame");
    return count_differences(expected_.view(), device_out_.download().view());
  }

  ImageDesc desc_;
  PairOptions options_;
  std::unique_ptr<Filter> cpu_;
  std::unique_ptr<Filter> cuda_;
  Image in_;
  Image expected_;
  DeviceImage device_in_;
  DeviceImage device_out_;
  cuda::Stream stream_;
  int number_ = 0;
  std::int64_t pts_ns_ = 0;
};

}  // namespace equalux::test

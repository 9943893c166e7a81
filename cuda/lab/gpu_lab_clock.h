#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>
#include <equalux/image.h>

#include "cuda/runtime/check.h"
#include "cuda/runtime/handles.h"
#include "src/lab/lab_clock.h"

/// Frames and clocks that the lab's measurements share.
namespace equalux::cuda {

/// Kernels that take longer than this may be timed with their launches: a launch takes
/// microseconds, and in a longer chain it overlaps with the kernels before it.
inline constexpr double kLaunchBoundMs = 1.0;

/// A frame in device memory with the layout of an Image, so that one copy moves it.
struct LabFrame {
  DevicePointer<std::uint8_t> memory;
  std::size_t bytes = 0;
  ImageView view;

  explicit LabFrame(const ImageDesc& desc) {
    const ImageLayout layout = image_layout(desc);
    bytes = layout.bytes;
    memory = allocate_device<std::uint8_t>(bytes);
    view = layout.view(desc, memory.get());
  }
};

/// Holds a stream back until open(). What is enqueued meanwhile then runs without waiting for the
/// host, so that events measure the device and not the launches.
///
/// Nothing that waits for the stream should be called before open(). A kernel's first launch may
/// wait, since CUDA loads it then; so run everything once without a gate first. A caller that waits
/// nevertheless is let go after kPatienceS, and its times include launches.
class Gate {
 public:
  explicit Gate(cudaStream_t stream) : stream_(stream) {
    const auto wait = [](void* open) {
      const LabClock::time_point start = LabClock::now();
      while (!static_cast<std::atomic<bool>*>(open)->load(std::memory_order_acquire) &&
             seconds_since(start) < kPatienceS)
        std::this_thread::yield();
    };
    check(cudaLaunchHostFunc(stream, wait, &open_), "closing a gate");
  }
  ~Gate() {
    open();
    ignore(cudaStreamSynchronize(stream_));  // The stream's host function still reads open_.
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() { open_.store(true, std::memory_order_release); }

 private:
  static constexpr double kPatienceS = 0.2;

  cudaStream_t stream_;
  std::atomic<bool> open_{false};
};

/// Measures the microseconds of one `work` on a stream: many of them between two events, behind a
/// gate.
class KernelClock {
 public:
  KernelClock() : stream_(make_stream()), begin_(make_event(true)), end_(make_event(true)) {}

  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

  /// Returns one figure for each measurement. `work` only enqueues, some dozens of launches at
  /// most.
  template <typename Work>
  std::vector<double> measure(const Budget& budget, Work work) {
    work();  // loads the kernels
    check(cudaStreamSynchronize(stream()), "warming up");
    int batch = 1;
    return repeat_within<double>(budget, [&] {
      const double us = batch_us(batch, work);
      batch = std::clamp(static_cast<int>(kBatchUs / std::max(us, 1.0)), 1, kMostBatch);
      return us;
    });
  }

 private:
  // Length of a batch: long beside the resolution of events, with few enough launches for the
  // driver's queue. That holds about a thousand and then blocks the host, behind a closed gate for
  // ever.
  static constexpr double kBatchUs = 200.0;
  static constexpr int kMostBatch = 8;

  template <typename Work>
  double batch_us(int batch, Work& work) {
    {
      Gate gate(stream());
      check(cudaEventRecord(begin_.get(), stream()), "timing");
      for (int i = 0; i < batch; ++i)
        work();
      check(cudaEventRecord(end_.get(), stream()), "timing");
      gate.open();
    }
    check(cudaEventSynchronize(end_.get()), "timing");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin_.get(), end_.get()), "timing");
    return 1000.0 * static_cast<double>(ms) / batch;
  }

  Stream stream_;
  Event begin_;
  Event end_;
};

}  // namespace equalux::cuda

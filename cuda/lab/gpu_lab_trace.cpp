#include <cstring>
#include <memory>

#include <equalux/filter.h>

#include "cuda/lab/gpu_lab_clock.h"
#include "src/lab/gpu_lab.h"

namespace equalux::gpu_lab {
namespace {

using cuda::check;

constexpr std::size_t kSlots = 3;  // frames on the device, as in the product's pipeline

/// Events at the beginning and the end of a piece of work on a stream.
struct Interval {
  cuda::Event begin = cuda::make_event(true);
  cuda::Event end = cuda::make_event(true);
};

/// Events of one frame. Frames do not share events, so that all of them can be read at the end.
struct FrameEvents {
  Interval upload;
  Interval kernels;
  Interval download;
};

struct Slot {
  cuda::LabFrame in;
  cuda::LabFrame out;
  cuda::PinnedPointer<std::uint8_t> host_in;
  cuda::PinnedPointer<std::uint8_t> host_out;

  explicit Slot(const Image& frame)
      : in(frame.desc()),
        out(frame.desc()),
        host_in(cuda::allocate_pinned<std::uint8_t>(in.bytes)),
        host_out(cuda::allocate_pinned<std::uint8_t>(out.bytes)) {
    std::memcpy(host_in.get(), frame.view().data[0], in.bytes);
  }
};

void record(const cuda::Event& event, const cuda::Stream& stream) {
  check(cudaEventRecord(event.get(), stream.get()), "recording an event");
}

void wait(const cuda::Stream& stream, const cuda::Event& event) {
  check(cudaStreamWaitEvent(stream.get(), event.get(), 0), "ordering streams");
}

/// Three streams (upload, kernels, download), the slots that frames take in turn, and the filter.
class Pipeline {
 public:
  Pipeline(const Image& frame, Filter& filter) : filter_(filter) {
    for (std::size_t i = 0; i < kSlots; ++i)
      slots_.push_back(std::make_unique<Slot>(frame));
  }
  ~Pipeline() { cuda::ignore(cudaDeviceSynchronize()); }  // Copies may still write into the slots.
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Enqueues a frame; `before` is the frame that had its slot, or null.
  void enqueue(std::size_t frame, const FrameEvents& events, const FrameEvents* before) {
    Slot& slot = *slots_[frame % kSlots];
    if (before != nullptr) wait(upload_, before->kernels.end);  // The slot's input has been read.
    record(events.upload.begin, upload_);
    copy(slot.in.memory.get(), slot.host_in.get(), slot.in.bytes, cudaMemcpyHostToDevice, upload_);
    record(events.upload.end, upload_);

    wait(kernels_, events.upload.end);
    if (before != nullptr) wait(kernels_, before->download.end);  // Its output has been copied.
    record(events.kernels.begin, kernels_);
    FrameContext context;
    context.index = frame;
    context.stream = kernels_.get();
    filter_.submit(slot.in.view, slot.out.view, context);
    record(events.kernels.end, kernels_);

    wait(download_, events.kernels.end);
    record(events.download.begin, download_);
    copy(slot.host_out.get(), slot.out.memory.get(), slot.out.bytes, cudaMemcpyDeviceToHost,
         download_);
    record(events.download.end, download_);
  }

  void finish() {
    for (const cuda::Stream* stream : {&upload_, &kernels_, &download_})
      check(cudaStreamSynchronize(stream->get()), "filtering frames");
  }

 private:
  static void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                   const cuda::Stream& stream) {
    check(cudaMemcpyAsync(to, from, bytes, kind, stream.get()), "copying a frame");
  }

  Filter& filter_;
  std::vector<std::unique_ptr<Slot>> slots_;
  cuda::Stream upload_ = cuda::make_stream();
  cuda::Stream kernels_ = cuda::make_stream();
  cuda::Stream download_ = cuda::make_stream();
};

}  // namespace

std::vector<Span> trace_frames(int device, const ConstImageView& image,
                               const EqualizeParams& params, int frames) {
  cuda::use_device(device);
  const auto filter = make_cuda_filter(params, {device});
  filter->configure(image.desc);
  Image frame(image.desc);
  copy_image(image, frame.view());
  const auto count = static_cast<std::size_t>(frames);
  std::vector<FrameEvents> events(count);
  Pipeline pipeline(frame, *filter);
  for (int round = 0; round < 2; ++round) {  // The first round warms up.
    for (std::size_t i = 0; i < count; ++i)
      pipeline.enqueue(i, events[i], i < kSlots ? nullptr : &events[i - kSlots]);
    pipeline.finish();
  }

  std::vector<Span> spans;
  const auto since_start = [&](const cuda::Event& event) {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, events.front().upload.begin.get(), event.get()),
          "reading a timer");
    return static_cast<double>(ms);
  };
  for (std::size_t i = 0; i < count; ++i) {
    const auto add = [&](const char* lane, const Interval& interval) {
      spans.push_back(
          {static_cast<int>(i), lane, since_start(interval.begin), since_start(interval.end)});
    };
    add("upload", events[i].upload);
    add("kernels", events[i].kernels);
    add("download", events[i].download);
  }
  return spans;
}

}  // namespace equalux::gpu_lab

#include "pipelines/cuda/cuda_processor.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "cuda/runtime/check.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/kernel_timer.h"
#include "cuda/runtime/trace.h"
#include "pipelines/cuda/copy_planes.h"
#include "src/common/filter_chain.h"

namespace equalux {
namespace {

constexpr std::size_t kMarksAFilter = 6;  // most stages of one filter

void* allocate_pinned_frame(std::size_t bytes) {
  void* memory = nullptr;
  // Portable, since another device may be current in the thread that allocates.
  if (cudaHostAlloc(&memory, bytes, cudaHostAllocPortable) == cudaSuccess) return memory;
  static_cast<void>(cudaGetLastError());
  return nullptr;
}

void release_pinned_frame(void* memory) {
  cuda::ignore(cudaFreeHost(memory));
}

constexpr ImageMemory kPinnedMemory{allocate_pinned_frame, release_pinned_frame};

/// A frame in device memory with the layout of an Image, so that one copy moves all planes.
struct DeviceFrame {
  cuda::DevicePointer<std::uint8_t> memory;
  ImageLayout layout;
  ImageView view;

  explicit DeviceFrame(const ImageDesc& desc) : layout(image_layout(desc)) {
    memory = cuda::allocate_device<std::uint8_t>(layout.bytes);
    view = layout.view(desc, memory.get());
  }
};

/// Returns true where a frame on the host has the memory layout of an Image.
bool laid_out_alike(const ConstImageView& host, const ImageLayout& layout) {
  for (int p = 0; p < traits(host.desc.format).planes; ++p) {
    const auto i = static_cast<std::size_t>(p);
    if (host.stride[i] != layout.stride[i] || host.data[i] != host.data[0] + layout.offset[i]) {
      return false;
    }
  }
  return true;
}

class CudaProcessor final : public Processor {
 public:
  CudaProcessor(std::vector<std::unique_ptr<Filter>> filters, const CudaDevice& device,
                std::size_t depth)
      : filters_(std::move(filters)), device_(device), depth_(depth) {}

  ~CudaProcessor() override { settle(); }

  [[nodiscard]] bool accepts(PixelFormat format) const override {
    return chain_accepts(filters_, format);
  }

  ImageDesc configure(const ImageDesc& input) override {
    if (!slots_.empty()) settle();
    use_device();
    slots_.clear();
    oldest_ = under_way_ = 0;
    between_.clear();
    std::vector<ImageDesc> behind = configure_chain(filters_, input);
    const ImageDesc desc = behind.empty() ? input : behind.back();
    if (!behind.empty()) behind.pop_back();
    for (const ImageDesc& each : behind)
      between_.emplace_back(each);
    upload_ = cuda::make_stream();
    compute_ = cuda::make_stream();
    download_ = cuda::make_stream();
    make_slots(input, desc);
    return desc;
  }

  [[nodiscard]] std::size_t depth() const override {
    return slots_.empty() ? depth_ : slots_.size();
  }

  [[nodiscard]] const ImageMemory* frame_memory() const override { return &kPinnedMemory; }

  [[nodiscard]] int frame_device() const override { return device_.number; }

  void submit(FramePtr in, FramePtr out, bool measure, bool keep_original) override {
    Slot& slot = *slots_[(oldest_ + under_way_) % slots_.size()];
    inherit(*out, *in);
    slot.measured = measure;
    slot.keep_original = keep_original;
    slot.in = std::move(in);
    slot.out = std::move(out);
    // Keeps the frames in the slot where a call fails: a copy may still touch them, and withdraw()
    // asks for them. A frame that was only begun cannot be collected.
    use_device();
    enqueue(slot);
    ++under_way_;
  }

  bool update(std::size_t filter, const OptionValues& options) override {
    use_device();
    return filter < filters_.size() && filters_[filter]->update(options);
  }

  FramePtr collect(bool wait) override {
    if (under_way_ == 0) return nullptr;
    use_device();
    Slot& slot = *slots_[oldest_];
    const cudaError_t status =
        wait ? cudaEventSynchronize(slot.downloaded.get()) : cudaEventQuery(slot.downloaded.get());
    if (status == cudaErrorNotReady) return nullptr;
    cuda::check(status, "filtering a frame");
    oldest_ = (oldest_ + 1) % slots_.size();
    --under_way_;
    FramePtr out = std::move(slot.out);
    if (slot.measured) read_times(slot, *out);
    if (slot.keep_original) {
      out->original = std::move(slot.in);
    } else {
      slot.in.reset();
    }
    return out;
  }

  [[nodiscard]] std::vector<SubmittedFrame> withdraw() override {
    settle();
    std::vector<SubmittedFrame> frames;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      Slot& slot = *slots_[(oldest_ + i) % slots_.size()];
      if (!slot.in) continue;
      frames.push_back(
          {std::move(slot.in), std::move(slot.out), slot.measured, slot.keep_original});
    }
    under_way_ = 0;
    return frames;
  }

  [[nodiscard]] std::optional<CurveSum> curve_sum() const override {
    use_device();
    return curve_sum_of(filters_);
  }
  [[nodiscard]] std::string save() const override {
    use_device();
    return save_filters(filters_);
  }
  void load(std::string_view state) override {
    use_device();
    load_filters(filters_, state);
  }

  [[nodiscard]] std::string description() const override {
    return "CUDA, " + device_.name + " (device " + std::to_string(device_.number) + ", " +
           std::to_string(device_.major) + "." + std::to_string(device_.minor) + ")";
  }

 private:
  /// Place of one frame on the device; slots are used in turn.
  struct Slot {
    Slot(const ImageDesc& input, const ImageDesc& output, std::size_t marks)
        : device_in(input),
          device_out(output),
          uploaded(cuda::make_event()),
          computed(cuda::make_event()),
          downloaded(cuda::make_event()),
          upload_timer(1),
          kernel_timer(marks),
          download_timer(1) {}

    DeviceFrame device_in;
    DeviceFrame device_out;
    cuda::Event uploaded;
    cuda::Event computed;
    cuda::Event downloaded;
    cuda::KernelTimer upload_timer;
    cuda::KernelTimer kernel_timer;
    cuda::KernelTimer download_timer;
    FramePtr in;
    FramePtr out;
    bool measured = false;
    bool keep_original = false;
  };

  /// Waits for all work on the device, which writes into slots and frames, before they are freed.
  void settle() const noexcept {
    cuda::ignore(cudaSetDevice(device_.number));
    cuda::ignore(cudaDeviceSynchronize());
  }

  void use_device() const { cuda::use_device(device_.number); }

  /// Allocates as many slots as asked for, or fewer where device memory is short.
  void make_slots(const ImageDesc& input, const ImageDesc& output) {
    for (std::size_t i = 0; i < depth_; ++i) {
      try {
        slots_.push_back(std::make_unique<Slot>(input, output, kMarksAFilter * filters_.size()));
      } catch (const Error&) {
        if (i == 0) throw;
        break;
      }
    }
  }

  void enqueue(Slot& slot) {
    const bool measure = slot.measured;
    if (!slot.in->on_device) {
      if (measure) slot.upload_timer.begin(upload_.get());
      upload(slot);
      if (measure) slot.upload_timer.mark("upload", upload_.get());
      order(slot.uploaded, upload_, compute_);
    }
    if (measure) slot.kernel_timer.begin(compute_.get());
    compute(slot);
    order(slot.computed, compute_, download_);
    if (measure) slot.download_timer.begin(download_.get());
    download(slot);
    if (measure) slot.download_timer.mark("download", download_.get());
    cuda::check(cudaEventRecord(slot.downloaded.get(), download_.get()), "recording an event");
  }

  /// Makes later work on `after` wait for the work enqueued on `before`.
  static void order(const cuda::Event& event, const cuda::Stream& before,
                    const cuda::Stream& after) {
    cuda::check(cudaEventRecord(event.get(), before.get()), "recording an event");
    cuda::check(cudaStreamWaitEvent(after.get(), event.get(), 0), "ordering streams");
  }

  void upload(Slot& slot) {
    const cuda::TraceRange range("upload");
    const ConstImageView& from = slot.in->image;
    const DeviceFrame& to = slot.device_in;
    if (laid_out_alike(from, to.layout)) {
      cuda::check(cudaMemcpyAsync(to.memory.get(), from.data[0], to.layout.bytes,
                                  cudaMemcpyHostToDevice, upload_.get()),
                  "uploading a frame");
    } else {
      copy_planes(from, to.view, cudaMemcpyHostToDevice, upload_.get());
    }
  }

  void compute(Slot& slot) {
    FrameContext context = context_of(*slot.out);
    context.marks = slot.measured ? &slot.kernel_timer : nullptr;
    context.stream = compute_.get();
    // Takes the format from the stream: the filter was configured for that, and the source may know
    // more about single frames, such as the matrix.
    ConstImageView from = slot.in->on_device ? slot.in->image : slot.device_in.view;
    from.desc = slot.device_in.view.desc;
    if (filters_.empty() || passes_untouched(*slot.out, from.desc, slot.device_out.view.desc)) {
      copy_planes(from, slot.device_out.view, cudaMemcpyDeviceToDevice, compute_.get());
      return;
    }
    for (std::size_t i = 0; i < filters_.size(); ++i) {
      const ImageView to = i < between_.size() ? between_[i].view : slot.device_out.view;
      filters_[i]->submit(from, to, context);
      from = to;
    }
  }

  void download(Slot& slot) {
    const cuda::TraceRange range("download");
    const DeviceFrame& from = slot.device_out;
    const ImageView& to = slot.out->target;
    if (laid_out_alike(to, from.layout)) {
      cuda::check(cudaMemcpyAsync(to.data[0], from.memory.get(), from.layout.bytes,
                                  cudaMemcpyDeviceToHost, download_.get()),
                  "downloading a frame");
    } else {
      copy_planes(from.view, to, cudaMemcpyDeviceToHost, download_.get());
    }
  }

  static void read_times(const Slot& slot, Frame& frame) {
    FrameTimings& timings = frame.timings;
    // Moves the times of the copies out of the stages' vector, which keeps its memory.
    if (!slot.in->on_device) {
      slot.upload_timer.read(timings.stages);
      timings.upload_ms = timings.stages.back().ms;
      timings.stages.pop_back();
    }
    slot.download_timer.read(timings.stages);
    timings.download_ms = timings.stages.back().ms;
    timings.stages.pop_back();
    slot.kernel_timer.read(timings.stages);
  }

  std::vector<std::unique_ptr<Filter>> filters_;
  CudaDevice device_;
  std::size_t depth_;
  cuda::Stream upload_;
  cuda::Stream compute_;
  cuda::Stream download_;
  // Frames between filters. All filters run on one stream, so one frame between two filters serves
  // all slots.
  std::vector<DeviceFrame> between_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::size_t oldest_ = 0;     // slot of the oldest frame in flight
  std::size_t under_way_ = 0;  // frames in flight, in the slots from there on
};

}  // namespace

std::unique_ptr<Processor> make_cuda_processor(std::vector<std::unique_ptr<Filter>> filters,
                                               const CudaDevice& device, std::size_t depth) {
  return std::make_unique<CudaProcessor>(std::move(filters), device,
                                         std::max<std::size_t>(1, depth));
}

}  // namespace equalux

#include "pipelines/plugin/cuda_memory_processor.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cuda/runtime/handles.h"
#include "cuda/runtime/kernel_timer.h"
#include "pipelines/cuda/copy_planes.h"

namespace equalux::gst {

namespace {

constexpr std::size_t kMarksAFrame = 64;
// Other elements, and copies of this library in the application, use the context, too.
constexpr CudaOptions kOptions{kCurrentContext, Launches::separate};

void copy_in_context(const ConstImageView& from, const ImageView& to, void* stream) {
  copy_planes(from, to, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream));
}

void clear_in_context(const ImageView& to, void* stream) {
  clear_planes(to, static_cast<cudaStream_t>(stream));
}

std::string describe(int device) {
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, device), "asking for the device's name");
  return std::string("CUDA memory, ") + properties.name + " (device " + std::to_string(device) +
         ", " + std::to_string(properties.major) + "." + std::to_string(properties.minor) + ")";
}

/// Processes frames on one stream; each frame has an event after its kernels, for which collect()
/// waits.
class CudaMemoryProcessor final : public Processor {
 public:
  CudaMemoryProcessor(std::unique_ptr<AreaFilter> filter, int device, std::size_t depth)
      : filter_(std::move(filter)), stream_(cuda::make_stream()), description_(describe(device)) {
    for (std::size_t i = 0; i < std::max<std::size_t>(1, depth); ++i)
      slots_.push_back(std::make_unique<Slot>());
  }

  ~CudaMemoryProcessor() override {
    // Work in flight writes into the frames and must end before they are destroyed.
    cuda::ignore(cudaStreamSynchronize(stream_.get()));
  }

  [[nodiscard]] bool accepts(PixelFormat format) const override { return filter_->accepts(format); }
  ImageDesc configure(const ImageDesc& input) override { return filter_->configure(input); }
  [[nodiscard]] std::size_t depth() const override { return slots_.size(); }
  [[nodiscard]] std::string description() const override { return description_; }

  void submit(FramePtr in, FramePtr out, bool measure, bool keep_original) override {
    Slot& slot = *slots_[(oldest_ + under_way_) % slots_.size()];
    inherit(*out, *in);
    slot.measured = measure;
    slot.keep_original = keep_original;
    slot.in = std::move(in);
    slot.out = std::move(out);
    ++under_way_;  // From here on the slot holds the frames, even if a call fails.
    if (measure) slot.timer.begin(stream_.get());
    FrameContext context = context_of(*slot.out);
    context.marks = measure ? &slot.timer : nullptr;
    context.stream = stream_.get();
    filter_->submit(slot.in->image, slot.out->target, context);
    cuda::check(cudaEventRecord(slot.done.get(), stream_.get()), "recording an event");
  }

  FramePtr collect(bool wait) override {
    if (under_way_ == 0) return nullptr;
    Slot& slot = *slots_[oldest_];
    const cudaError_t status =
        wait ? cudaEventSynchronize(slot.done.get()) : cudaEventQuery(slot.done.get());
    if (status == cudaErrorNotReady) return nullptr;
    cuda::check(status, "filtering a frame");
    oldest_ = (oldest_ + 1) % slots_.size();
    --under_way_;
    FramePtr out = std::move(slot.out);
    if (slot.measured) slot.timer.read(out->timings.stages);
    if (slot.keep_original) out->original = std::move(slot.in);
    slot.in.reset();
    return out;
  }

 private:
  struct Slot {
    cuda::Event done = cuda::make_event();
    cuda::KernelTimer timer{kMarksAFrame};
    FramePtr in;
    FramePtr out;
    bool measured = false;
    bool keep_original = false;
  };

  std::unique_ptr<AreaFilter> filter_;
  cuda::Stream stream_;
  std::string description_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::size_t oldest_ = 0;
  std::size_t under_way_ = 0;
};

}  // namespace

AreaProcessor make_cuda_memory_processor(const RecipePtr& recipe, int device, std::size_t depth) {
  auto area = std::make_unique<AreaFilter>(
      recipe, [](const FilterRecipe& each) { return each.make(kOptions); },
      LeaveFrame{copy_in_context, clear_in_context});
  AreaProcessor made;
  made.filter = area.get();
  made.processor = std::make_unique<CudaMemoryProcessor>(std::move(area), device, depth);
  return made;
}

}  // namespace equalux::gst

#include "backend.h"

#include <utility>
#include <vector>

#include <equalux/device.h>
#include <equalux/error.h>
#include <equalux/filter.h>

#include "log.h"
#ifdef EQUALUX_HAVE_CUDA
#include "cuda/cuda_processor.h"
#endif

namespace equalux::cli {
namespace {

std::unique_ptr<Processor> on_cpu(const CommonOptions& options) {
  const CpuOptions cpu{options.threads};
  std::vector<std::unique_ptr<Filter>> filters;
  for (const FilterSpec& spec : filter_chain(options)) {
    filters.push_back(make_cpu_filter(spec, options.equalize, cpu));
    if (!options.curve_to.empty()) filters.back()->collect_curves();
  }
  return make_cpu_processor(std::move(filters), options.threads);
}

std::unique_ptr<Processor> on_cuda(const CommonOptions& options) {
  const CudaDevice device = choose_cuda_device(options.device);
#ifdef EQUALUX_HAVE_CUDA
  std::vector<std::unique_ptr<Filter>> filters;
  for (const FilterSpec& spec : filter_chain(options)) {
    filters.push_back(make_cuda_filter(spec, options.equalize, {device.number}));
    if (!options.curve_to.empty()) filters.back()->collect_curves();
  }
  return make_cuda_processor(std::move(filters), device);
#else
  throw Error(ExitCode::unavailable, "cuda: " + device.trouble);
#endif
}

/// CUDA until it turns out, before the first frame, that it can't: then the CPU.
class AutomaticProcessor final : public Processor {
 public:
  AutomaticProcessor(const CommonOptions& options, std::unique_ptr<Processor> cuda)
      : options_(options), processor_(std::move(cuda)) {}

  [[nodiscard]] bool accepts(PixelFormat format) const override {
    return processor_->accepts(format);
  }

  ImageDesc configure(const ImageDesc& input) override {
    try {
      return processor_->configure(input);
    } catch (const Error& error) {
      if (error.code() != ExitCode::unavailable) throw;
      logger().warn("{}; the CPU takes over", error.what());
    }
    processor_ = on_cpu(options_);
    return processor_->configure(input);
  }

  [[nodiscard]] std::size_t depth() const override { return processor_->depth(); }
  [[nodiscard]] const ImageMemory* frame_memory() const override {
    return processor_->frame_memory();
  }
  [[nodiscard]] int frame_device() const override { return processor_->frame_device(); }
  void submit(FramePtr in, FramePtr out, bool measure, bool keep_original) override {
    processor_->submit(std::move(in), std::move(out), measure, keep_original);
  }
  FramePtr collect(bool wait) override { return processor_->collect(wait); }
  [[nodiscard]] std::optional<CurveSum> curve_sum() const override {
    return processor_->curve_sum();
  }
  [[nodiscard]] std::string save() const override { return processor_->save(); }
  void load(std::string_view state) override { processor_->load(state); }
  bool update(std::size_t filter, const EqualizeParams& params) override {
    return processor_->update(filter, params);
  }
  [[nodiscard]] std::string description() const override { return processor_->description(); }

 private:
  CommonOptions options_;
  std::unique_ptr<Processor> processor_;
};

}  // namespace

std::unique_ptr<Processor> make_processor(const CommonOptions& options) {
  check_filters(options);
  if (options.backend == Backend::cpu) return on_cpu(options);
  if (options.backend == Backend::cuda) return on_cuda(options);
  const std::string knob = knob_missing_on(Backend::cpu, options);
  const std::string cpu_knob = knob_missing_on(Backend::cuda, options);
  if (!knob.empty() && !cpu_knob.empty()) throw Error(ExitCode::usage, knob + "; " + cpu_knob);
  if (!cpu_knob.empty()) return on_cpu(options);
  const CudaStatus cuda = cuda_status();
  if (!knob.empty()) {
    if (!cuda.available) throw Error(ExitCode::unavailable, knob + "; " + cuda.reason);
    return on_cuda(options);
  }
  if (!cuda.available) {
    logger().debug("auto takes the CPU: {}", cuda.reason);
    return on_cpu(options);
  }
  return std::make_unique<AutomaticProcessor>(options, on_cuda(options));
}

}  // namespace equalux::cli

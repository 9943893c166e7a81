#include "src/cli/stream/backend.h"

#include <deque>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <equalux/device.h>
#include <equalux/error.h>
#include <equalux/filter.h>

#include "src/common/filter_recipe.h"
#include "src/common/log.h"
#include "src/options/option_values.h"
#ifdef EQUALUX_HAVE_CUDA
#include "pipelines/cuda/cuda_processor.h"
#endif

namespace equalux::cli {
namespace {

/// Makes the chosen filters on the backend that the options' type selects.
template <typename BackendOptions>
std::vector<std::unique_ptr<Filter>> make_filters(const CommonOptions& options,
                                                  const BackendOptions& backend) {
  std::vector<std::unique_ptr<Filter>> filters;
  for (const FilterSpec& spec : chosen_filters(options)) {
    filters.push_back(make_changeable(read_recipe(spec, options.equalize), backend));
    FilterCurves* curves = filters.back()->curves();
    if (!options.curve_to.empty() && curves != nullptr) curves->collect();
  }
  return filters;
}

std::unique_ptr<Processor> on_cpu(const CommonOptions& options) {
  return make_cpu_processor(make_filters(options, CpuOptions{options.threads}), options.threads);
}

std::unique_ptr<Processor> on_cuda(const CommonOptions& options) {
  const CudaDevice device = choose_cuda_device(options.device);
#ifdef EQUALUX_HAVE_CUDA
  return make_cuda_processor(make_filters(options, CudaOptions{device.number}), device);
#else
  throw Error(ExitCode::unavailable, "cuda: " + device.trouble);
#endif
}

/// Processor that begins on CUDA and moves to the CPU where CUDA turns out to be unavailable before
/// its first result; the CPU then gets the frames that CUDA had.
class AutomaticProcessor final : public Processor {
 public:
  AutomaticProcessor(const CommonOptions& options, std::unique_ptr<Processor> cuda)
      : options_(options), processor_(std::move(cuda)) {}

  [[nodiscard]] bool accepts(PixelFormat format) const override {
    return processor_->accepts(format);
  }

  ImageDesc configure(const ImageDesc& input) override {
    input_ = input;
    return attempt([&](Processor& processor) { return processor.configure(input); });
  }

  [[nodiscard]] std::size_t depth() const override { return processor_->depth(); }
  [[nodiscard]] const ImageMemory* frame_memory() const override {
    return processor_->frame_memory();
  }
  [[nodiscard]] int frame_device() const override { return processor_->frame_device(); }
  void submit(FramePtr in, FramePtr out, bool measure, bool keep_original) override {
    try {
      processor_->submit(std::move(in), std::move(out), measure, keep_original);
    } catch (const Error& error) {
      if (settled_ || error.code() != ExitCode::unavailable) throw;
      switch_to_cpu(error);  // includes this frame, which CUDA gives back
      return;
    }
    if (!results_.empty()) results_.push_back(processor_->collect(true));
  }
  FramePtr collect(bool wait) override {
    if (results_.empty()) {
      FramePtr frame = attempt([&](Processor& processor) { return processor.collect(wait); });
      settled_ = settled_ || frame != nullptr;
      // A switch to the CPU has filled results_ during this call; the frame just collected follows
      // those.
      if (results_.empty()) return frame;
      if (frame) results_.push_back(std::move(frame));
    }
    FramePtr first = std::move(results_.front());
    results_.pop_front();
    return first;
  }
  [[nodiscard]] std::vector<SubmittedFrame> withdraw() override { return processor_->withdraw(); }
  [[nodiscard]] std::optional<CurveSum> curve_sum() const override {
    return processor_->curve_sum();
  }
  [[nodiscard]] std::string save() const override { return processor_->save(); }
  void load(std::string_view state) override {
    state_ = state;
    attempt([&](Processor& processor) { processor.load(state); });
  }
  bool update(std::size_t filter, const OptionValues& options) override {
    if (!settled_) updates_.emplace_back(filter, options);
    return attempt([&](Processor& processor) { return processor.update(filter, options); });
  }
  [[nodiscard]] std::string description() const override { return processor_->description(); }

 private:
  /// Calls on CUDA, or, where that fails before the first result, on the CPU.
  template <typename Call>
  std::invoke_result_t<Call, Processor&> attempt(const Call& call) {
    try {
      return call(*processor_);
    } catch (const Error& error) {
      if (settled_ || error.code() != ExitCode::unavailable) throw;
      switch_to_cpu(error);
    }
    return call(*processor_);
  }

  /// Moves to the CPU; to be called inside the catch block of `error`.
  void switch_to_cpu(const Error& error) {
    std::vector<SubmittedFrame> frames = processor_->withdraw();
    for (const SubmittedFrame& frame : frames) {
      if (frame.in->on_device) throw;  // the CPU can't read it
    }
    logger().warn("{}; the CPU takes over", error.what());
    settled_ = true;
    processor_ = on_cpu(options_);
    if (input_) static_cast<void>(processor_->configure(*input_));
    if (state_) processor_->load(*state_);
    for (const auto& [filter, options] : updates_)
      processor_->update(filter, options);
    for (SubmittedFrame& frame : frames) {
      processor_->submit(std::move(frame.in), std::move(frame.out), frame.measure,
                         frame.keep_original);
      results_.push_back(processor_->collect(true));
    }
  }

  CommonOptions options_;
  std::unique_ptr<Processor> processor_;
  bool settled_ = false;  // there was a result, or the CPU has taken over
  // State for the start of the CPU's processor.
  std::optional<ImageDesc> input_;
  std::optional<std::string> state_;
  std::vector<std::pair<std::size_t, OptionValues>> updates_;
  std::deque<FramePtr> results_;  // results of the frames that CUDA gave back
};

}  // namespace

std::unique_ptr<Processor> make_processor(const CommonOptions& options) {
  check_filters(options);
  if (options.backend == Backend::cpu) return on_cpu(options);
  if (options.backend == Backend::cuda) return on_cuda(options);
  const std::string knob = knob_missing_on(Backend::cpu, options);
  const std::string cpu_knob = knob_missing_on(Backend::cuda, options);
  if (!knob.empty() && !cpu_knob.empty()) throw_usage(knob + "; " + cpu_knob);
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
  try {
    return std::make_unique<AutomaticProcessor>(options, on_cuda(options));
  } catch (const Error& error) {
    if (error.code() != ExitCode::unavailable) throw;
    logger().warn("{}; the CPU takes over", error.what());
    return on_cpu(options);
  }
}

}  // namespace equalux::cli

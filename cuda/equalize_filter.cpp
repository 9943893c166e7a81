#include <optional>

#include <equalux/device.h>
#include <equalux/error.h>
#include <equalux/filter.h>

#include "check.h"
#include "deep_chain.h"
#include "fused_chain.h"
#include "space_chain.h"
#include "staged_chain.h"
#include "trace.h"

namespace equalux {
namespace {

/// Equalization on one GPU: a chain of those that the parameters chose at creation, by the format.
class CudaEqualizeFilter : public Filter {
 public:
  CudaEqualizeFilter(const EqualizeParams& params, const CudaOptions& options)
      : params_(params), device_(options.device) {
    if (params.chain == Chain::fused) {
      fused_.emplace(params, options.launches);
    } else {
      staged_.emplace(params);
    }
  }

  ~CudaEqualizeFilter() override {
    if (device_ != kCurrentContext) cuda::ignore(cudaSetDevice(device_));
  }

  bool accepts(PixelFormat format) const override {
    const ColorModel model = traits(format).model;
    if (fused_) return space_takes(params_.space, format);
    return has_byte_samples(format) && model != ColorModel::yuv;
  }

  ImageDesc configure(const ImageDesc& input) override {
    validate(params_, Backend::cuda, &input);
    use_device();
    deep_.reset();
    space_.reset();
    if (fused_ && space_needs_tables(params_.space, input.format)) {
      space_.emplace(params_).configure(input);
      if (collects_) space_->collect_curves();
    } else if (fused_ && has_deep_samples(input.format)) {
      deep_.emplace(params_).configure(input);
      if (collects_) deep_->collect_curves();
    } else if (fused_) {
      fused_->configure(input);
    }
    if (staged_) staged_->configure(input);
    desc_ = input;
    return input;
  }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    if (in.desc != desc_ || out.desc != desc_) {
      throw Error(ExitCode::usage, "equalize: the frame is not what the filter was configured for");
    }
    use_device();
    const auto stream = static_cast<cudaStream_t>(context.stream);
    if (staged_) {
      staged_->enqueue(in, out, stream, context.marks);
      return;
    }
    if (deep_) {
      const cuda::TraceRange range("deep");
      deep_->enqueue(in, out, context, stream);
      return;
    }
    if (space_) {
      const cuda::TraceRange range("space");
      space_->enqueue(in, out, context, stream);
      return;
    }
    const cuda::TraceRange range("fused");
    fused_->enqueue(in, out, context, stream);
    if (context.marks != nullptr) context.marks->mark("fused", stream);
  }

  bool update(const EqualizeParams& params) override {
    validate(params, Backend::cuda, desc_.width == 0 ? nullptr : &desc_);
    if (!fused_ || params.chain != Chain::fused || params.space != params_.space) return false;
    use_device();
    fused_->update(params);
    if (deep_) deep_->update(params);
    if (space_) space_->update(params);
    params_ = params;
    return true;
  }

  void reset() override {
    if (deep_) return deep_->reset();
    if (space_) return space_->reset();
    if (fused_) fused_->reset();
  }
  std::string save() const override {
    use_device();
    if (deep_) return deep_->save();
    if (space_) return space_->save();
    return fused_ ? fused_->save() : "{}";
  }
  void load(std::string_view state) override {
    use_device();
    if (deep_) return deep_->load(state);
    if (space_) return space_->load(state);
    if (fused_) fused_->load(state);
  }

  bool collect_curves() override {
    if (!fused_ || params_.curve) return false;
    collects_ = true;
    fused_->collect_curves();
    return true;
  }
  std::optional<CurveSum> curve_sum() const override {
    use_device();
    if (deep_) return deep_->curve_sum();
    if (space_) return space_->curve_sum();
    return fused_ ? fused_->curve_sum() : std::nullopt;
  }

 private:
  void use_device() const {
    if (device_ == kCurrentContext) return;
    cuda::use_device(device_);
  }

  EqualizeParams params_;
  int device_;
  ImageDesc desc_;
  bool collects_ = false;
  std::optional<cuda::FusedChain> fused_;
  std::optional<cuda::StagedChain> staged_;
  // In place of fused_ where samples have more than 8 bits, and where a space needs tables.
  std::optional<cuda::DeepChain> deep_;
  std::optional<cuda::SpaceChain> space_;
};

}  // namespace

std::unique_ptr<Filter> make_cuda_filter(const EqualizeParams& params, const CudaOptions& options) {
  validate(params, Backend::cuda);
  CudaOptions chosen = options;
  if (options.device != kCurrentContext) chosen.device = choose_cuda_device(options.device).number;
  return std::make_unique<CudaEqualizeFilter>(params, chosen);
}

}  // namespace equalux

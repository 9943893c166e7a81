#include <optional>

#include <equalux/error.h>
#include <equalux/filter.h>

#include "cpu/deep_chain.h"
#include "cpu/fused_chain.h"
#include "cpu/space_chain.h"
#include "cpu/staged_chain.h"

namespace equalux {
namespace {

bool staged_takes(PixelFormat format) {
  const ColorModel model = traits(format).model;
  return has_byte_samples(format) && (model == ColorModel::rgb || model == ColorModel::gray);
}

/// Equalization on the CPU: a chain of those that the parameters chose at creation, by the format.
class CpuEqualizeFilter : public Filter {
 public:
  CpuEqualizeFilter(const EqualizeParams& params, const CpuOptions& options)
      : params_(params), executor_(options.threads) {
    if (params.chain == Chain::fused) {
      fused_.emplace(params, executor_, row_kernels());
    } else {
      staged_.emplace(params, executor_);
    }
  }

  bool accepts(PixelFormat format) const override {
    return fused_ ? space_takes(params_.space, format) : staged_takes(format);
  }

  ImageDesc configure(const ImageDesc& input) override {
    validate(params_, Backend::cpu, &input);
    deep_.reset();
    space_.reset();
    if (fused_ && space_needs_tables(params_.space, input.format)) {
      space_.emplace(params_, executor_).configure(input);
      if (collects_) space_->collect_curves();
    } else if (fused_ && has_deep_samples(input.format)) {
      deep_.emplace(params_, executor_).configure(input);
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
    if (deep_) {
      deep_->process(in, out, context);
      return;
    }
    if (space_) {
      space_->process(in, out, context);
      return;
    }
    if (fused_) fused_->process(in, out, context);
    if (staged_) staged_->process(in, out, context);
  }

  bool update(const EqualizeParams& params) override {
    validate(params, Backend::cpu, desc_.width == 0 ? nullptr : &desc_);
    if (!fused_ || params.chain != Chain::fused || params.space != params_.space) return false;
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
    if (deep_) return deep_->save();
    if (space_) return space_->save();
    return fused_ ? fused_->save() : "{}";
  }
  void load(std::string_view state) override {
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
    if (deep_) return deep_->curve_sum();
    if (space_) return space_->curve_sum();
    return fused_ ? fused_->curve_sum() : std::nullopt;
  }

 private:
  EqualizeParams params_;
  RowExecutor executor_;
  ImageDesc desc_;
  bool collects_ = false;
  std::optional<FusedChain> fused_;
  std::optional<StagedChain> staged_;
  // In place of fused_ where samples have more than 8 bits, and where a space needs tables.
  std::optional<DeepChain> deep_;
  std::optional<SpaceChain> space_;
};

}  // namespace

std::unique_ptr<Filter> make_cpu_filter(const EqualizeParams& params, const CpuOptions& options) {
  validate(params, Backend::cpu);
  return std::make_unique<CpuEqualizeFilter>(params, options);
}

}  // namespace equalux

#pragma once

#include <string_view>
#include <utility>

#include <equalux/filter.h>

#include "src/common/filter_recipe.h"
#include "src/common/frame_check.h"

namespace equalux {

/// Base of filters with fixed parameters that remember no frames: checks parameters and frames.
template <typename Params>
class PlainFilter : public Filter {
 public:
  [[nodiscard]] bool accepts(PixelFormat format) const final { return takes(params_, format); }

  ImageDesc configure(const ImageDesc& input) final {
    validate(params_, backend_, &input);
    equalux::validate(input);
    prepare(input);
    in_desc_ = input;
    out_desc_ = input;
    out_desc_.format = format_of_results(params_).value_or(input.format);
    return out_desc_;
  }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) final {
    check_frames(name_, in, in_desc_, out, out_desc_);
    process(in, out, context);
  }

 protected:
  /// `name` is for messages; it must live as long as the program. Throws Error(usage) for invalid
  /// parameters.
  PlainFilter(std::string_view name, Params params, Backend backend)
      : params_(std::move(params)), name_(name), backend_(backend) {
    validate(params_, backend_);
  }

  /// Allocates for frames of `input`, which the parameters allow.
  virtual void prepare(const ImageDesc& input) { (void)input; }
  /// Filters a frame; both have the descs of configure().
  virtual void process(const ConstImageView& in, const ImageView& out, FrameContext& context) = 0;

  const Params params_;
  ImageDesc in_desc_;
  ImageDesc out_desc_;

 private:
  const std::string_view name_;
  const Backend backend_;
};

}  // namespace equalux

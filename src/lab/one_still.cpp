#include "src/lab/one_still.h"

#include <utility>

#include "src/cli/stream/backend.h"

namespace equalux::cli::lab {

OneStill::OneStill(const ConstImageView& image, const EqualizeParams& params, Backend backend,
                   const CommonOptions& common)
    : image_(image) {
  CommonOptions options = common;
  options.backend = backend;
  options.equalize = params;
  processor_ = make_processor(options);
  const ImageDesc desc = processor_->configure(image.desc);
  inputs_ = std::make_unique<FramePool>(image.desc, 1, true);
  outputs_ = std::make_unique<FramePool>(desc, 1);
}

void OneStill::filter() {
  result_.reset();
  FramePtr in = inputs_->acquire();
  in->image = image_;
  processor_->submit(std::move(in), outputs_->acquire(), false, false);
  result_ = processor_->collect(true);
}

Image OneStill::take_result() {
  Image image(result_->image.desc);
  copy_image(result_->image, image.view());
  return image;
}

}  // namespace equalux::cli::lab

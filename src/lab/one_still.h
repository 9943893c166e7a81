#pragma once

#include <memory>

#include <equalux/image.h>
#include <equalux/params.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/core/processor.h"
#include "src/cli/options.h"

/// One image through the product's processor, again and again.
namespace equalux::cli::lab {

/// One thread at a time. `image` stays the caller's.
class OneStill {
 public:
  /// Throws as make_processor() does.
  OneStill(const ConstImageView& image, const EqualizeParams& params, Backend backend,
           const CommonOptions& common);

  /// Waits for the result.
  void filter();
  /// The last result; filter() was called.
  [[nodiscard]] Image take_result();

 private:
  ConstImageView image_;
  std::unique_ptr<Processor> processor_;
  std::unique_ptr<FramePool> inputs_;
  std::unique_ptr<FramePool> outputs_;
  FramePtr result_;
};

}  // namespace equalux::cli::lab

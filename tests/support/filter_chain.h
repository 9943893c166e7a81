#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <equalux/filter.h>
#include <equalux/image.h>

namespace equalux::test {

/// Filters one after another, and the frames that they hand to each other, as a run has them.
class FilterChain {
 public:
  using Filters = std::vector<std::unique_ptr<Filter>>;

  /// One filter or more, of the CPU, over frames of `desc`.
  FilterChain(Filters filters, const ImageDesc& desc) : filters_(std::move(filters)) {
    for (const ImageDesc& each : configure_chain(filters_, desc))
      behind_.emplace_back(each);
  }

  /// The last filter's frame, which the next call overwrites.
  ConstImageView process(const ConstImageView& in, FrameContext context = {}) {
    ConstImageView from = in;
    for (std::size_t i = 0; i < filters_.size(); ++i) {
      filters_[i]->submit(from, behind_[i].view(), context);
      from = behind_[i].view();
    }
    return from;
  }
  /// What filter i wrote last.
  [[nodiscard]] ConstImageView behind(std::size_t i) const {
    return std::as_const(behind_[i]).view();
  }
  [[nodiscard]] Filter& filter(std::size_t i) { return *filters_[i]; }

 private:
  Filters filters_;
  std::vector<Image> behind_;
};

}  // namespace equalux::test

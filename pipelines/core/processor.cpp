#include "pipelines/core/processor.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include <equalux/error.h>
#include <nlohmann/json.hpp>

#include "pipelines/picture/alpha_plane.h"
#include "src/common/json_text.h"

namespace equalux {
namespace {

class CpuProcessor final : public Processor {
 public:
  CpuProcessor(std::vector<std::unique_ptr<Filter>> filters, int threads)
      : filters_(std::move(filters)), threads_(threads) {}

  [[nodiscard]] bool accepts(PixelFormat format) const override {
    return filters_.empty() || filters_.front()->accepts(format);
  }

  ImageDesc configure(const ImageDesc& input) override {
    between_.clear();
    std::vector<ImageDesc> behind = configure_chain(filters_, input);
    const ImageDesc desc = behind.empty() ? input : behind.back();
    if (!behind.empty()) behind.pop_back();
    for (const ImageDesc& each : behind)
      between_.emplace_back(each);
    return desc;
  }

  [[nodiscard]] std::size_t depth() const override { return 1; }

  void submit(FramePtr in, FramePtr out, bool measure, bool keep_original) override {
    inherit(*out, *in);
    FrameContext context = context_of(*out);
    context.timings = measure ? &out->timings.stages : nullptr;
    if (passes_untouched(*out, in->image.desc, out->target.desc)) {
      copy_image(in->image, out->target);
    } else {
      filter(in->image, out->target, context);
    }
    if (keep_original) out->original = std::move(in);
    ready_ = std::move(out);
  }

  FramePtr collect(bool /*wait*/) override { return std::move(ready_); }

  [[nodiscard]] std::optional<CurveSum> curve_sum() const override {
    return curve_sum_of(filters_);
  }
  [[nodiscard]] std::string save() const override { return save_filters(filters_); }
  void load(std::string_view state) override { load_filters(filters_, state); }
  bool update(std::size_t filter, const OptionValues& options) override {
    return filter < filters_.size() && filters_[filter]->update(options);
  }

  [[nodiscard]] std::string description() const override {
    const int threads = threads_ > 0
                            ? threads_
                            : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    return "CPU, " + cpu_simd_target() + ", " + std::to_string(threads) +
           (threads == 1 ? " thread" : " threads");
  }

 private:
  void filter(const ConstImageView& in, const ImageView& out, FrameContext context) {
    if (filters_.empty()) {
      copy_image(in, out);
      return;
    }
    ConstImageView from = in;
    for (std::size_t i = 0; i < filters_.size(); ++i) {
      const ImageView to = i < between_.size() ? between_[i].view() : out;
      filters_[i]->submit(from, to, context);
      from = to;
    }
  }

  std::vector<std::unique_ptr<Filter>> filters_;
  std::vector<Image> between_;  // what filter i hands to filter i + 1
  int threads_;
  FramePtr ready_;
};

}  // namespace

void inherit(Frame& out, const Frame& in) {
  out.index = in.index;
  out.pts_ns = in.pts_ns;
  out.duration_ns = in.duration_ns;
  out.discontinuity = in.discontinuity;
  out.field_order = in.field_order;
  out.placeholder = in.placeholder;
  out.unfiltered = in.unfiltered;
  out.captured = in.captured;
  out.timings = in.timings;  // Element by element: the vector's memory stays out's own.
  copy_alpha(in, out);
}

std::optional<CurveSum> curve_sum_of(const std::vector<std::unique_ptr<Filter>>& filters) {
  for (const auto& filter : filters) {
    const FilterCurves* curves = filter->curves();
    if (curves == nullptr) continue;
    if (std::optional<CurveSum> sum = curves->sum()) return sum;
  }
  return std::nullopt;
}

bool passes_untouched(const Frame& frame, const ImageDesc& in, const ImageDesc& out) {
  return (frame.unfiltered || frame.placeholder) && in.format == out.format &&
         in.width == out.width && in.height == out.height;
}

FrameContext context_of(const Frame& frame) {
  FrameContext context;
  context.index = frame.index;
  context.pts_ns = frame.pts_ns;
  context.discontinuity = frame.discontinuity;
  context.field_order = frame.field_order;
  return context;
}

std::string save_filters(const std::vector<std::unique_ptr<Filter>>& filters) {
  nlohmann::json states = nlohmann::json::array();
  for (const auto& filter : filters)
    states.push_back(parse_json(filter->save()));
  return json_text(states);
}

void load_filters(const std::vector<std::unique_ptr<Filter>>& filters, std::string_view state) {
  const nlohmann::json states = json_or_discarded(state);
  if (!states.is_array() || states.size() != filters.size()) {
    throw Error(ExitCode::usage, "the filters' state is of another chain, must be of " +
                                     std::to_string(filters.size()) + " filters");
  }
  for (std::size_t i = 0; i < filters.size(); ++i)
    filters[i]->load(json_text(states[i]));
}

std::unique_ptr<Processor> make_cpu_processor(std::vector<std::unique_ptr<Filter>> filters,
                                              int threads) {
  return std::make_unique<CpuProcessor>(std::move(filters), threads);
}

}  // namespace equalux

#include "pipelines/core/processor.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include <equalux/error.h>

#include "pipelines/picture/alpha_plane.h"
#include "src/common/filter_chain.h"
#include "src/common/log.h"

namespace equalux {
namespace {

class CpuProcessor final : public Processor {
 public:
  CpuProcessor(std::vector<std::unique_ptr<Filter>> filters, int threads)
      : chain_(std::move(filters)), threads_(threads) {}

  [[nodiscard]] bool accepts(PixelFormat format) const override { return chain_.accepts(format); }

  ImageDesc configure(const ImageDesc& input) override { return chain_.configure(input); }

  [[nodiscard]] std::size_t depth() const override { return 1; }

  void submit(FramePtr in, FramePtr out, bool measure, bool keep_original) override {
    inherit(*out, *in);
    FrameContext context = context_of(*out);
    context.timings = measure ? &out->timings.stages : nullptr;
    if (passes_untouched(*out, in->image.desc, out->target.desc)) {
      copy_image(in->image, out->target);
    } else {
      chain_.submit(in->image, out->target, context);
    }
    if (keep_original) out->original = std::move(in);
    ready_ = std::move(out);
  }

  FramePtr collect(bool /*wait*/) override { return std::move(ready_); }

  [[nodiscard]] std::optional<CurveSum> curve_sum() const override {
    return curve_sum_of(chain_.filters());
  }
  [[nodiscard]] std::string save() const override { return save_filters(chain_.filters()); }
  void load(std::string_view state) override { load_filters(chain_.filters(), state); }
  bool update(std::size_t filter, const OptionValues& options) override {
    return filter < chain_.filters().size() && chain_.filters()[filter]->update(options);
  }

  [[nodiscard]] std::string description() const override {
    const int threads = threads_ > 0
                            ? threads_
                            : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    return "CPU, " + cpu_simd_target() + ", " +
           counted(static_cast<std::uint64_t>(threads), "thread");
  }

 private:
  FilterChain chain_;
  int threads_;
  FramePtr ready_;
};

}  // namespace

void inherit_place(Frame& out, const Frame& in) {
  out.place() = in;
  out.timings = in.timings;  // Copies elements, so that the vector keeps its memory.
}

void inherit(Frame& out, const Frame& in) {
  inherit_place(out, in);
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

std::unique_ptr<Processor> make_cpu_processor(std::vector<std::unique_ptr<Filter>> filters,
                                              int threads) {
  return std::make_unique<CpuProcessor>(std::move(filters), threads);
}

}  // namespace equalux

#include <cstring>
#include <optional>

#include <equalux/convolve.h>
#include <equalux/error.h>

#include "src/common/plain_filter.h"
#include "src/common/stage_clock.h"
#include "src/cpu/convolve/convolve.h"

namespace equalux {
namespace {

/// Convolution filter on the CPU, sequential or production, chosen at creation.
class CpuConvolveFilter final : public PlainFilter<ConvolveParams> {
 public:
  CpuConvolveFilter(const ConvolveParams& params, const CpuOptions& options)
      : PlainFilter("convolve", params, Backend::cpu),
        executor_(params.mode == ConvolveMode::sequential ? 1 : options.threads) {
    const BorderRule border{params.border, static_cast<std::uint8_t>(params.border_value)};
    if (params.mode == ConvolveMode::sequential) {
      sequential_.emplace(exact_kernel(params), border);
    } else {
      production_.emplace(exact_kernel(params), border, executor_, convolve_rows());
    }
  }

  [[nodiscard]] bool works_in_place() const override { return false; }

 private:
  void prepare(const ImageDesc& input) override {
    if (sequential_) sequential_->configure(input);
    if (production_) production_->configure(input);
  }

  void process(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    if (in.data[0] == out.data[0]) {
      throw Error(ExitCode::usage, "convolve: the output is the input's memory, must be another's");
    }
    StageClock clock(context.timings);
    if (sequential_) sequential_->process(in, out);
    if (production_) production_->process(in, out);
    clock.lap("convolve");
    if (traits(in_desc_.format).planes == 1) return;
    copy_chroma(in, out);
    clock.lap("chroma");
  }

  void copy_chroma(const ConstImageView& in, const ImageView& out) {
    for (int p = 1; p < traits(in_desc_.format).planes; ++p) {
      const std::size_t bytes = row_bytes(in_desc_, p);
      executor_.for_rows(plane_rows(in_desc_, p), [&in, &out, p, bytes](int begin, int end, int) {
        for (int y = begin; y < end; ++y)
          std::memcpy(out.row(p, y), in.row(p, y), bytes);
      });
    }
  }

  RowExecutor executor_;
  std::optional<SequentialConvolution> sequential_;
  std::optional<Convolution> production_;
};

}  // namespace

std::unique_ptr<Filter> make_cpu_filter(const ConvolveParams& params, const CpuOptions& options) {
  return std::make_unique<CpuConvolveFilter>(params, options);
}

}  // namespace equalux

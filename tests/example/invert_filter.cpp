#include <array>
#include <cmath>
#include <cstdint>

#include <equalux/error.h>

#include "src/common/plain_filter.h"
#include "src/cpu/common/parallel.h"
#include "src/options/option_values.h"
#include "tests/example/invert.h"

/// `invert` on the CPU. A real one is src/cpu/invert/invert_filter.cpp, and has a kernel beside it
/// in cuda/invert/.
namespace equalux {
namespace {

class CpuInvertFilter final : public PlainFilter<InvertParams> {
 public:
  CpuInvertFilter(const InvertParams& params, const CpuOptions& options)
      : PlainFilter("invert", params, Backend::cpu), executor_(options.threads) {
    for (std::size_t v = 0; v < levels_.size(); ++v) {
      const auto level = static_cast<double>(v);
      levels_[v] =
          static_cast<std::uint8_t>(std::lround(level + params.amount * (255 - 2 * level)));
    }
  }

 private:
  void process(const ConstImageView& in, const ImageView& out, FrameContext&) override {
    const std::size_t bytes = row_bytes(in_desc_, 0);
    executor_.for_rows(in_desc_.height, [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y) {
        for (std::size_t x = 0; x < bytes; ++x)
          out.row(0, y)[x] = levels_[in.row(0, y)[x]];
      }
    });
  }

  RowExecutor executor_;
  std::array<std::uint8_t, 256> levels_{};
};

}  // namespace

std::unique_ptr<Filter> make_cpu_filter(const InvertParams& params, const CpuOptions& options) {
  return std::make_unique<CpuInvertFilter>(params, options);
}

std::unique_ptr<Filter> make_cuda_filter(const InvertParams&, const CudaOptions&) {
  throw Error(ExitCode::unavailable, "invert runs on the CPU only");
}

}  // namespace equalux

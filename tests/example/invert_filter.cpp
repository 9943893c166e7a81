#include <array>
#include <cmath>
#include <cstdint>

#include <equalux/error.h>

#include "src/common/frame_check.h"
#include "src/cpu/common/parallel.h"
#include "src/options/option_values.h"
#include "tests/example/invert.h"

/// `invert` on the CPU. A real one is src/cpu/invert/invert_filter.cpp, and has a kernel beside it
/// in cuda/invert/.
namespace equalux {
namespace {

class CpuInvertFilter final : public Filter {
 public:
  CpuInvertFilter(const InvertParams& params, const CpuOptions& options)
      : params_(params), executor_(options.threads) {
    for (std::size_t v = 0; v < levels_.size(); ++v) {
      const auto level = static_cast<double>(v);
      levels_[v] =
          static_cast<std::uint8_t>(std::lround(level + params.amount * (255 - 2 * level)));
    }
  }

  [[nodiscard]] bool accepts(PixelFormat format) const override { return takes(params_, format); }

  ImageDesc configure(const ImageDesc& input) override {
    validate(params_, Backend::cpu, &input);
    desc_ = input;
    return input;
  }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext&) override {
    check_frames("invert", in, desc_, out, desc_);
    const std::size_t bytes = row_bytes(desc_, 0);
    executor_.for_rows(desc_.height, [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y) {
        for (std::size_t x = 0; x < bytes; ++x)
          out.row(0, y)[x] = levels_[in.row(0, y)[x]];
      }
    });
  }

 private:
  InvertParams params_;
  RowExecutor executor_;
  std::array<std::uint8_t, 256> levels_{};
  ImageDesc desc_;
};

}  // namespace

std::unique_ptr<Filter> make_cpu_filter(const InvertParams& params, const CpuOptions& options) {
  validate(params, Backend::cpu);
  return std::make_unique<CpuInvertFilter>(params, options);
}

std::unique_ptr<Filter> make_cuda_filter(const InvertParams&, const CudaOptions&) {
  throw Error(ExitCode::unavailable, "invert runs on the CPU only");
}

}  // namespace equalux

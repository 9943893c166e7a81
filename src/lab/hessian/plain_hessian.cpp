#include "src/lab/hessian/plain_hessian.h"

#include <algorithm>

#include "src/hessian/hessian_math.h"
#include "src/hessian/hessian_weights.h"
#include "src/lab/lab_clock.h"

namespace equalux::cli::lab {
namespace {

/// Row with its first and last sample repeated on both sides, for filters along x.
class WideRow {
 public:
  WideRow(int width, int radius)
      : width_(width), radius_(radius), samples_(static_cast<std::size_t>(width + 2 * radius)) {}

  [[nodiscard]] float* data() { return samples_.data() + radius_; }
  void widen() {
    std::fill_n(samples_.begin(), radius_, data()[0]);
    std::fill_n(samples_.end() - radius_, radius_, data()[width_ - 1]);
  }

 private:
  int width_;
  int radius_;
  std::vector<float> samples_;
};

}  // namespace

void PlainHessian::derive(const ConstImageView& image) {
  const HessianWeights weights =
      hessian_weights(params_.derivative, params_.sigma, params_.truncate);
  const int width = image.desc.width;
  const int height = image.desc.height;
  const int radius = weights.radius;
  WideRow smooth(width, radius);
  WideRow slope(width, radius);
  WideRow curve(width, radius);
  std::vector<const std::uint8_t*> rows(static_cast<std::size_t>(2 * radius + 1));
  for (int y = 0; y < height; ++y) {
    for (int k = -radius; k <= radius; ++k)
      rows[static_cast<std::size_t>(k + radius)] = image.row(0, std::clamp(y + k, 0, height - 1));
    for (int x = 0; x < width; ++x) {
      const auto down = [&](int k) {
        return static_cast<float>(rows[static_cast<std::size_t>(k + radius)][x]);
      };
      smooth.data()[x] = even_sum(weights.smooth.data(), radius, down);
      slope.data()[x] = odd_sum(weights.slope.data(), radius, down);
      curve.data()[x] = even_sum(weights.curve.data(), radius, down);
    }
    for (WideRow* row : {&smooth, &slope, &curve})
      row->widen();
    const std::size_t first = static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
    for (int x = 0; x < width; ++x) {
      const auto along = [x](WideRow& row) {
        return [at = row.data() + x](int k) { return at[k]; };
      };
      const std::size_t i = first + static_cast<std::size_t>(x);
      xx_[i] = even_sum(weights.curve.data(), radius, along(smooth));
      xy_[i] = odd_sum(weights.slope.data(), radius, along(slope));
      yy_[i] = even_sum(weights.smooth.data(), radius, along(curve));
    }
  }
}

PlainHessian::Steps PlainHessian::run(const ConstImageView& image, const ImageView& out) {
  const LabClock::time_point start = LabClock::now();
  derive(image);
  const double derivatives_ms = 1000.0 * seconds_since(start);
  const auto width = static_cast<std::size_t>(image.desc.width);
  for (int y = 0; y < image.desc.height; ++y) {
    const std::size_t first = static_cast<std::size_t>(y) * width;
    auto* lambda1 = reinterpret_cast<float*>(out.row(0, y));
    auto* lambda2 = reinterpret_cast<float*>(out.row(1, y));
    for (std::size_t x = 0; x < width; ++x) {
      const Eigenvalues values =
          hessian_eigenvalues(xx_[first + x], xy_[first + x], yy_[first + x]);
      lambda1[x] = values.first;
      lambda2[x] = values.second;
    }
  }
  return {derivatives_ms, 1000.0 * seconds_since(start) - derivatives_ms};
}

}  // namespace equalux::cli::lab

#include <algorithm>
#include <functional>
#include <optional>

#include <equalux/hessian.h>

#include "src/common/plain_filter.h"
#include "src/common/stage_clock.h"
#include "src/cpu/hessian/class_paint.h"
#include "src/cpu/hessian/components.h"
#include "src/cpu/hessian/field_of_view.h"
#include "src/cpu/hessian/hessian_tiles.h"
#include "src/cpu/hessian/vessel_rows.h"
#include "src/hessian/vessel_math.h"

namespace equalux {
namespace {

/// Rows that a tile keeps from scale to scale.
enum ResultRow : std::size_t { kFirst, kSecond, kMeasure, kLight, kGain, kOwnLevel, kResultRows };

/// Filter `vessel` on the CPU: a measure of every pixel, classes by vessel_class(), and components
/// of these.
class CpuVesselFilter final : public PlainFilter<VesselParams> {
 public:
  CpuVesselFilter(const VesselParams& params, const CpuOptions& options)
      : PlainFilter("vessel", params, Backend::cpu),
        executor_(options.threads),
        hessian_(hessian_rows()),
        vessel_(vessel_rows()),
        sign_(params.polarity == Polarity::dark ? 1.0f : -1.0f),
        largest_sigma_(*std::max_element(params.sigmas.begin(), params.sigmas.end())) {
    // Largest scale first: its smoothing is the local mean.
    std::vector<double> sigmas = params.sigmas;
    std::sort(sigmas.begin(), sigmas.end(), std::greater<>());
    for (const double sigma : sigmas)
      scales_.push_back(hessian_weights(params.derivative, sigma, params.truncate));
    own_level_ = hessian_weights(HessianDerivative::gaussian, own_level_sigma(largest_sigma_),
                                 params.truncate);
  }

 private:
  void prepare(const ImageDesc& input) override {
    int reach = own_level_.radius;
    for (const HessianWeights& weights : scales_)
      reach = std::max(reach, weights.radius);
    walker_.emplace(executor_, hessian_, params_.channel, reach, kResultRows, scales_.size() + 1);
    plane_.resize(static_cast<std::size_t>(input.width) * static_cast<std::size_t>(input.height));
    components_.emplace(input.width, input.height, Connectivity::eight);
    holes_.emplace(input.width, input.height, Connectivity::four);
    ground_.resize(static_cast<std::size_t>(input.width));
    field_of_view_.reset();
    if (params_.mask == FieldOfView::automatic && has_byte_samples(input.format)) {
      field_of_view_.emplace(input, vignette_margin(largest_sigma_));
    }
    colours_ = vessel_colours(input.matrix, input.range);
  }

  void process(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    StageClock clock(context.timings);
    measure(in);
    clock.lap("vesselness");
    if (field_of_view_ && field_of_view_->find(in)) clear_vignette();
    clock.lap("field_of_view");
    if (params_.output == VesselOutput::heat) {
      paint_heat(plane(), out, executor_);
      clock.lap("paint");
      return;
    }
    keep_vessels();
    fill_holes();
    clock.lap("hysteresis");
    if (params_.output == VesselOutput::mask) {
      write_mask(out);
    } else {
      paint_classes(in, out, plane(), colours_, context.field_order != FieldOrder::progressive,
                    executor_);
    }
    clock.lap("paint");
  }

  [[nodiscard]] ClassPlane plane() const { return {plane_.data(), in_desc_.width}; }
  [[nodiscard]] std::uint8_t* row(int y) {
    return plane_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(in_desc_.width);
  }

  /// Computes the classes, or heat levels, of all pixels.
  void measure(const ConstImageView& in) {
    const VesselThresholds thresholds = vessel_thresholds(params_);
    const auto low = static_cast<float>(thresholds.low);
    const auto high = static_cast<float>(thresholds.high);
    const auto full = static_cast<float>(255 / (2 * thresholds.high));
    walker_->run(in, [&](TileScratch& scratch) {
      const LevelTile& tile = scratch.tile();
      const auto n = static_cast<std::size_t>(tile.width);
      for (int j = 0; j < tile.height; ++j) {
        measure_row(scratch, j, n);
        std::uint8_t* out = row(tile.y + j) + tile.x;
        if (params_.output == VesselOutput::heat) {
          vessel_.heat(scratch.result(kMeasure), full, n, out);
        } else {
          vessel_.classify(scratch.result(kMeasure), low, high, n, out);
        }
      }
    });
  }

  void measure_row(TileScratch& scratch, int j, std::size_t n) const {
    float* first = scratch.result(kFirst);
    float* second = scratch.result(kSecond);
    float* best = scratch.result(kMeasure);
    float* light = scratch.result(kLight);
    float* gain = scratch.result(kGain);
    std::fill_n(best, n, 0.0f);
    for (std::size_t s = 0; s < scales_.size(); ++s) {
      scratch.eigenvalues(hessian_, scales_[s], j, {first, second, false});
      if (s == 0) {
        scratch.brightness(hessian_, light);
        vessel_.contrast_gains(light, n, gain);
      }
      if (params_.measure == VesselMeasure::frangi) {
        vessel_.add_frangi(sign_, first, second, gain, n, best);
      } else {
        vessel_.add_ridge(sign_, second, n, best);
      }
    }
    if (params_.measure == VesselMeasure::ridge) vessel_.scale(gain, n, best);
    scratch.smoothed(hessian_, own_level_, j, scratch.result(kOwnLevel));
    vessel_.keep_within(sign_, light, scratch.result(kOwnLevel), n, best);
  }

  void clear_vignette() {
    executor_.for_rows(in_desc_.height, [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y) {
        const std::uint8_t* outside = field_of_view_->outside(y);
        std::uint8_t* at = row(y);
        for (int x = 0; x < in_desc_.width; ++x)
          at[x] = outside[x] != 0 ? 0 : at[x];
      }
    });
  }

  /// Writes 1 for components that reach `high` somewhere and are large enough, else 0.
  void keep_vessels() {
    components_->clear();
    for (int y = 0; y < in_desc_.height; ++y)
      components_->add_row(row(y));
    for_runs(*components_, [&](std::size_t i, std::uint8_t* begin, std::uint8_t* end) {
      const bool kept = components_->marked(i) && components_->area(i) >= params_.min_size;
      std::fill(begin, end, static_cast<std::uint8_t>(kept ? 1 : 0));
    });
  }

  void fill_holes() {
    holes_->clear();
    for (int y = 0; y < in_desc_.height; ++y) {
      std::transform(row(y), row(y) + in_desc_.width, ground_.data(),
                     [](std::uint8_t kept) { return static_cast<std::uint8_t>(kept ^ 1); });
      holes_->add_row(ground_.data());
    }
    for_runs(*holes_, [&](std::size_t i, std::uint8_t* begin, std::uint8_t* end) {
      if (holes_->area(i) <= filled_hole(largest_sigma_)) std::fill(begin, end, std::uint8_t{1});
    });
  }

  /// Calls body(run, first pixel, end) for every run.
  template <typename Body>
  void for_runs(const Components& components, const Body& body) {
    for (int y = 0; y < in_desc_.height; ++y) {
      for (std::size_t i = components.first_run(y); i < components.last_run(y); ++i)
        body(i, row(y) + components.run(i).begin, row(y) + components.run(i).end);
    }
  }

  void write_mask(const ImageView& out) {
    executor_.for_rows(in_desc_.height, [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y) {
        std::transform(row(y), row(y) + in_desc_.width, out.row(0, y),
                       [](std::uint8_t kept) { return static_cast<std::uint8_t>(255 * kept); });
      }
    });
  }

  RowExecutor executor_;
  const HessianRows& hessian_;
  const VesselRows& vessel_;
  float sign_;
  double largest_sigma_;
  std::vector<HessianWeights> scales_;
  HessianWeights own_level_;
  std::optional<TileWalker> walker_;
  std::optional<VignetteFinder> field_of_view_;
  std::optional<Components> components_;
  std::optional<Components> holes_;
  std::vector<std::uint8_t> ground_;  // one row, 1 outside vessels
  std::vector<std::uint8_t> plane_;
  ClassColours colours_{};
};

}  // namespace

std::unique_ptr<Filter> make_cpu_filter(const VesselParams& params, const CpuOptions& options) {
  return std::make_unique<CpuVesselFilter>(params, options);
}

}  // namespace equalux

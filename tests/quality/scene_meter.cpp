#include "tests/quality/scene_meter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace equalux::scenes {
namespace {

using quality::BlockGrid;
using quality::BlockMask;
using quality::BlockValues;
using quality::Planes;

constexpr int kCoarseBlock = 60;
constexpr int kBefore = 20;            // frames
constexpr double kMostResidual = 1.0;  // levels: rounding of three channels leaves about 0.2

/// Blocks in which every pixel of a mask is set; the mask has one byte per pixel of the frame, in
/// rows of `width`.
BlockMask blocks_within(const std::vector<std::uint8_t>& pixels, int width, const BlockGrid& grid) {
  BlockMask mask(grid.count(), 1);
  for (std::size_t block = 0; block < mask.size(); ++block) {
    for (int y = grid.top(block); y < grid.top(block) + grid.size; ++y) {
      for (int x = grid.left(block); x < grid.left(block) + grid.size; ++x) {
        const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                        static_cast<std::size_t>(x);
        if (pixels[at] == 0) mask[block] = 0;
      }
    }
  }
  return mask;
}

/// Gain on each level of V that explains a result; levels in between that the frame does not have
/// get their neighbours'.
using Gains = std::array<float, 256>;
Gains gains_of(const Planes& original, const Planes& result) {
  std::array<double, 256> sums{};
  std::array<double, 256> counts{};
  for (std::size_t i = 0; i < original.value.size(); ++i) {
    sums[original.value[i]] += static_cast<double>(result.luma[i]);
    counts[original.value[i]] += static_cast<double>(original.luma[i]);
  }
  Gains gains{};
  float known = -1;
  for (std::size_t v = 1; v < gains.size(); ++v) {
    if (counts[v] > 0) known = static_cast<float>(sums[v] / counts[v]);
    gains[v] = known;
  }
  for (std::size_t v = gains.size() - 1; v-- > 1;) {
    if (gains[v] < 0) gains[v] = gains[v + 1];
  }
  return gains;
}

Planes through(const Gains& gains, const Planes& original) {
  Planes result = original;
  for (std::size_t i = 0; i < result.luma.size(); ++i)
    result.luma[i] *= gains[original.value[i]];
  return result;
}

}  // namespace

double step_over_source(const SceneFigures& result, const SceneFigures& source) {
  return result.step / source.step;
}

std::optional<double> step_over_frozen(const SceneFigures& result) {
  if (!result.frozen_step) return std::nullopt;
  return result.step / *result.frozen_step;
}

double step_beyond_source(const SceneFigures& result, const SceneFigures& source) {
  double most = result.steps.front() - source.steps.front();
  for (std::size_t i = 0; i < result.steps.size(); ++i)
    most = std::max(most, result.steps[i] - source.steps[i]);
  return most;
}

SceneMeter::SceneMeter(const StabilityScene& scene)
    : scene_(scene),
      grid_(StabilityScene::kDesc.width, StabilityScene::kDesc.height),
      still_(blocks_within(scene.still_mask(), StabilityScene::kDesc.width, grid_)),
      coarse_grid_(StabilityScene::kDesc.width, StabilityScene::kDesc.height, kCoarseBlock),
      coarse_still_(blocks_within(scene.still_mask(), StabilityScene::kDesc.width, coarse_grid_)),
      is_curve_(scene.kind() == SceneKind::object) {}

void SceneMeter::add(int frame, const ConstImageView& original, const ConstImageView& result) {
  if (first_ < 0) first_ = frame;
  std::swap(original_, last_original_);
  std::swap(result_, last_result_);
  quality::read_planes(original, original_);
  quality::read_planes(result, result_);
  means_.push_back(quality::block_means(result_, grid_));
  coarse_means_.push_back(quality::block_means(result_, coarse_grid_));
  const bool is_cut = scene_.kind() == SceneKind::cut;
  if (is_cut && frame >= scene_.event().begin) {
    curves_.push_back(quality::tone_curve_of(original_, result_));
  }
  if (frame > first_) add_step(frame);
}

void SceneMeter::add_step(int frame) {
  const std::size_t last = means_.size() - 1;
  const double step = quality::rms_difference(means_[last - 1], means_[last], still_);
  steps_.push_back(step);
  if (scene_.kind() == SceneKind::cut && frame == scene_.event().begin) return;
  step_sum_ += step * step;
  ++step_count_;
  if (is_curve_) add_frozen_step(last_original_, last_result_);
}

void SceneMeter::add_frozen_step(const Planes& last_original, const Planes& last_result) {
  const Gains gains = gains_of(last_original, last_result);
  const Planes before = through(gains, last_original);
  double residual = 0;
  for (std::size_t i = 0; i < before.luma.size(); ++i) {
    const double difference = static_cast<double>(before.luma[i] - last_result.luma[i]);
    residual += difference * difference;
  }
  if (std::sqrt(residual / static_cast<double>(before.luma.size())) > kMostResidual) {
    is_curve_ = false;
    return;
  }
  const double step =
      quality::rms_difference(quality::block_means(before, grid_),
                              quality::block_means(through(gains, original_), grid_), still_);
  frozen_sum_ += step * step;
  ++frozen_count_;
}

std::vector<double> SceneMeter::moves() const {
  const int begin = std::max(scene_.event().begin - first_, 1);
  const int first = std::max(0, begin - kBefore);
  BlockValues before(coarse_grid_.count(), 0);
  for (int i = first; i < begin; ++i) {
    for (std::size_t block = 0; block < before.size(); ++block)
      before[block] += coarse_means_[static_cast<std::size_t>(i)][block] / (begin - first);
  }
  std::vector<double> moves;
  for (const BlockValues& means : coarse_means_) {
    double most = 0;
    for (std::size_t block = 0; block < before.size(); ++block) {
      if (coarse_still_[block] != 0) most = std::max(most, std::fabs(means[block] - before[block]));
    }
    moves.push_back(most);
  }
  return moves;
}

SceneFigures SceneMeter::figures() const {
  SceneFigures figures;
  figures.step = std::sqrt(step_sum_ / step_count_);
  if (is_curve_ && frozen_count_ > 0) figures.frozen_step = std::sqrt(frozen_sum_ / frozen_count_);
  figures.steps = steps_;
  figures.moves = moves();
  const auto begin = figures.moves.begin() + std::max(scene_.event().begin - first_, 0);
  figures.largest_move = *std::max_element(begin, figures.moves.end());
  figures.settle_frames = quality::frames_to_settle(curves_);
  return figures;
}

}  // namespace equalux::scenes

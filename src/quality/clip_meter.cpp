#include "src/quality/clip_meter.h"

#include <cmath>
#include <utility>

#include "src/quality/noise.h"
#include "src/quality/over_time/temporal_noise.h"
#include "src/quality/similarity.h"
#include "src/quality/tone.h"

namespace equalux::quality {
namespace {

/// Lower bound of an original's noise or step in a ratio; below it the ratio is undefined.
constexpr double kLeastDivisor = 1e-6;

std::optional<double> ratio(const std::optional<double>& above,
                            const std::optional<double>& below) {
  if (!above || !below || *below < kLeastDivisor) return std::nullopt;
  return *above / *below;
}

std::optional<double> mean_angle(const HueDifference& hue) {
  if (hue.pixels == 0) return std::nullopt;
  return hue.sum_deg / static_cast<double>(hue.pixels);
}

std::optional<double> mean_skin(const SkinValues& skin, bool of_result) {
  if (skin.pixels == 0) return std::nullopt;
  return (of_result ? skin.result : skin.original) / static_cast<double>(skin.pixels);
}

std::optional<double> share_kept(const TextureSums& texture) {
  if (texture.original == 0) return std::nullopt;
  return texture.common / texture.original;
}

}  // namespace

void ClipMeter::Squares::add(double square, double weight) {
  sum += square * weight;
  count += weight;
}

std::optional<double> ClipMeter::Squares::root() const {
  if (count == 0) return std::nullopt;
  return std::sqrt(sum / count);
}

ClipMeter::ClipMeter(int width, int height, bool pair) : grid_(width, height), pair_(pair) {}

void ClipMeter::add(const ConstImageView& a, const ConstImageView* b) {
  const bool first = frames_.empty();
  FrameFigures frame;
  std::swap(a_.last, a_.now);
  read_planes(a, a_.now);
  const BlockMask flat = flat_blocks(a_.now, grid_);
  frame.a = measure_stream(a_, flat);
  if (pair_) {
    std::swap(b_.last, b_.now);
    read_planes(*b, b_.now);
    frame.b = measure_stream(b_, flat);
  }
  measure_colours(a, b, frame);
  histogram_ = value_histogram(a_.now);
  if (!first) measure_time(frame, find_stillness(a_.last, a_.now, grid_));
  if (pair_) measure_pair(a, *b, frame);
  last_cells_ = block_means(a_.now, BlockGrid(a_.now.width, a_.now.height, kCell));
  last_histogram_ = histogram_;
  frames_.push_back(frame);
}

StreamFigures ClipMeter::measure_stream(Stream& stream, const BlockMask& flat) {
  StreamFigures figures;
  figures.entropy_bits = entropy_bits(luma_histogram(stream.now));
  figures.mean_level = mean_level(value_histogram(stream.now));
  figures.eme_db = eme_db(stream.now);
  figures.noise_sigma = noise_sigma(stream.now, grid_, flat);
  if (figures.noise_sigma) stream.noise.add(*figures.noise_sigma * *figures.noise_sigma);
  std::swap(stream.last_means, stream.means);
  stream.means = block_means(stream.now, grid_);
  return figures;
}

void ClipMeter::measure_colours(const ConstImageView& a, const ConstImageView* b,
                                FrameFigures& frame) {
  const SkinValues skin = skin_values(a, b);
  skin_.add(skin);
  frame.a.colourfulness = colourfulness(a);
  frame.a.skin_level = mean_skin(skin, false);
  if (!pair_) return;
  frame.b->colourfulness = colourfulness(*b);
  frame.b->skin_level = mean_skin(skin, true);
}

void ClipMeter::measure_step(Stream& stream, const BlockMask& still, std::size_t blocks,
                             StreamFigures& figures) {
  if (blocks == 0) return;
  const double step = rms_difference(stream.last_means, stream.means, still);
  figures.still_step = step;
  stream.steps.add(step * step, static_cast<double>(blocks));
}

void ClipMeter::measure_change(Stream& stream, const BlockGrid& grid, const BlockMask& calm,
                               StreamFigures& figures) {
  const CellSum noise = temporal_noise(stream.last, stream.now, grid, calm);
  if (noise.cells == 0) return;
  figures.temporal_noise = std::sqrt(noise.sum / noise.cells);
  if (before_.frames() == longest_) stream.changes.add(noise.sum / noise.cells, noise.cells);
}

void ClipMeter::measure_time(FrameFigures& frame, const Stillness& stillness) {
  if (grid_.count() > 0) {
    frame.still_share = static_cast<double>(stillness.count) / static_cast<double>(grid_.count());
  }
  find_cut(frame, stillness.likeness);
  measure_step(a_, stillness.still, stillness.count, frame.a);
  if (pair_) measure_step(b_, stillness.still, stillness.count, *frame.b);
  if (frame.cut) {
    before_.clear();
  } else {
    measure_cells(frame, find_steady_cells(a_.last, a_.now, stillness));
  }
}

void ClipMeter::measure_cells(FrameFigures& frame, const SteadyCells& steady) {
  if (pair_) {
    const BlockMask fresh = fresh_cells(before_, last_cells_, steady);
    const GhostSums ghosts = ghost_sums(a_.last, b_.last, steady, fresh);
    frames_.back().pair->ghosting = ghosts.levels();
    ghosts_.add(ghosts);
  }
  before_.add(last_cells_);
  if (before_.frames() > longest_) {
    longest_ = before_.frames();
    a_.changes = b_.changes = {};
  }
  const BlockMask calm = calm_cells(before_, block_means(a_.now, steady.grid), steady);
  measure_change(a_, steady.grid, calm, frame.a);
  if (pair_) measure_change(b_, steady.grid, calm, *frame.b);
}

void ClipMeter::measure_pair(const ConstImageView& a, const ConstImageView& b,
                             FrameFigures& frame) {
  const HueDifference hue = hue_difference(a, b);
  hue_.sum_deg += hue.sum_deg;
  hue_.pixels += hue.pixels;
  PairFigures pair;
  pair.ambe = std::fabs(frame.a.mean_level - frame.b->mean_level);
  pair.ssim = ssim(a_.now, b_.now);
  pair.colour_difference = colour_difference(a, b);
  pair.noise_gain = ratio(frame.b->noise_sigma, frame.a.noise_sigma);
  pair.hue_error_deg = mean_angle(hue);
  pair.flicker_transfer = ratio(frame.b->still_step, frame.a.still_step);
  const TextureSums texture = texture_sums(a_.now, b_.now, frame.a.noise_sigma.value_or(0));
  texture_.common += texture.common;
  texture_.original += texture.original;
  pair.texture_kept = share_kept(texture);
  frame.pair = pair;
  curves_.push_back(tone_curve_of(a_.now, b_.now));
}

void ClipMeter::find_cut(FrameFigures& frame, double likeness) {
  frame.cut = grid_.count() > 1 && frame.still_share < kCutStillShare && likeness < kCutLikeness &&
              histogram_distance(last_histogram_, histogram_) >= kCutDistance &&
              histogram_shift(last_histogram_, histogram_) >= kCutShift;
}

ClipFigures ClipMeter::figures() const {
  ClipFigures figures;
  figures.a = mean_of(a_, false);
  if (pair_) {
    figures.b = mean_of(b_, true);
    figures.pair = mean_of_pairs(figures);
  }
  if (frames_.size() > 1 && grid_.count() > 0) {
    double still = 0;
    for (const FrameFigures& frame : frames_)
      still += frame.still_share;
    figures.still_share = still / static_cast<double>(frames_.size() - 1);
  }
  figures.cuts = settled_cuts();
  figures.frames = frames_;
  return figures;
}

StreamFigures ClipMeter::mean_of(const Stream& stream, bool second) const {
  const auto n = static_cast<double>(frames_.size());
  StreamFigures mean;
  for (const FrameFigures& frame : frames_) {
    const StreamFigures& one = second ? *frame.b : frame.a;
    mean.entropy_bits += one.entropy_bits / n;
    mean.mean_level += one.mean_level / n;
    mean.eme_db += one.eme_db / n;
    mean.colourfulness += one.colourfulness / n;
  }
  mean.skin_level = mean_skin(skin_, second);
  mean.noise_sigma = stream.noise.root();
  mean.still_step = stream.steps.root();
  mean.temporal_noise = stream.changes.root();
  return mean;
}

PairFigures ClipMeter::mean_of_pairs(const ClipFigures& figures) const {
  const auto n = static_cast<double>(frames_.size());
  PairFigures mean;
  double similarity = 0;
  for (const FrameFigures& frame : frames_) {
    mean.ambe += frame.pair->ambe / n;
    mean.colour_difference += frame.pair->colour_difference / n;
    similarity += frame.pair->ssim.value_or(0) / n;
  }
  if (frames_.front().pair->ssim) mean.ssim = similarity;
  mean.noise_gain = ratio(figures.b->noise_sigma, figures.a.noise_sigma);
  mean.hue_error_deg = mean_angle(hue_);
  mean.flicker_transfer = ratio(figures.b->still_step, figures.a.still_step);
  mean.texture_kept = share_kept(texture_);
  mean.ghosting = ghosts_.levels();
  return mean;
}

std::vector<Cut> ClipMeter::settled_cuts() const {
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    if (frames_[i].cut) cuts.push_back({i, std::nullopt});
  }
  if (!pair_) return cuts;
  for (std::size_t k = 0; k < cuts.size(); ++k) {
    const std::size_t end = k + 1 < cuts.size() ? cuts[k + 1].frame : frames_.size();
    const auto at = [&](std::size_t frame) {
      return curves_.begin() + static_cast<std::ptrdiff_t>(frame);
    };
    cuts[k].settle_frames = frames_to_settle({at(cuts[k].frame), at(end)});
  }
  return cuts;
}

}  // namespace equalux::quality

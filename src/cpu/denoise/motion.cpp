#include "src/cpu/denoise/motion.h"

#include <array>
#include <limits>

namespace equalux::denoise {
namespace {

/// Blocks a side of those that share a coarse search, and how far it looks, in eighths.
constexpr int kCoarse = 4;
constexpr int kCoarseReach = 4;
/// Blocks of them that must not be still for it: of noise alone, one or two are not.
constexpr int kMoving = 4;
/// Side of windows: in samples that of a block; in halves that of a block and 4 more on each side;
/// in eighths that of kCoarse blocks a side and 4 more.
constexpr int kWindow = SampleWindow::kSide;
constexpr int kHalfBorder = 4;
constexpr int kCoarseBorder = 4;
/// Up to 0.43 of the noise, differences of a window of halves are noise.
constexpr int kStill = kWindow * kWindow * 256 * 43 / 100;
/// What a vector that is not 0 costs: it must be better by as much.
constexpr int kHalfCost = kWindow * kWindow * kLevel / 4;
/// Steps of a half sample that the best candidate is moved by, at most.
constexpr int kMostSteps = 3;

constexpr std::array<std::array<int, 2>, 4> kAround{{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}};

int blocks_of(int samples) {
  return (samples + kBlock - 1) / kBlock;
}

/// The window of a plane from column x and row y on. Beyond its margins all is as in them.
SampleWindow window_of(const Plane<std::int16_t>& plane, int x, int y) {
  const int column = std::clamp(x, 2 - kMargin, plane.width() + kMargin - kWindow - 2);
  SampleWindow window;
  for (int k = 0; k < SampleWindow::kRows; ++k)
    window.row[static_cast<std::size_t>(k)] = plane.row(y + k - 1) + column;
  return window;
}

}  // namespace

MotionSearch::MotionSearch(int width, int height, RowExecutor& executor, const DenoiseRows& rows)
    : executor_(executor),
      rows_(rows),
      width_(width),
      height_(height),
      columns_(blocks_of(width)),
      block_rows_(blocks_of(height)) {
  const auto halved = [](int samples) { return (samples + 1) / 2; };
  for (Pyramid* pyramid : {&luma_, &estimate_}) {
    pyramid->half = Plane<std::int16_t>(halved(width), halved(height));
    pyramid->fourth =
        Plane<std::int16_t>(halved(pyramid->half.width()), halved(pyramid->half.height()));
    pyramid->eighth =
        Plane<std::int16_t>(halved(pyramid->fourth.width()), halved(pyramid->fourth.height()));
  }
  const auto blocks = static_cast<std::size_t>(columns_) * static_cast<std::size_t>(block_rows_);
  unmoved_.resize(blocks);
  still_.resize(blocks);
  before_.resize(blocks);
  const auto coarse = [](int count) {
    return static_cast<std::size_t>((count + kCoarse - 1) / kCoarse);
  };
  coarse_.resize(coarse(columns_) * coarse(block_rows_));
  scratch_.assign(
      static_cast<std::size_t>(executor.threads()),
      {Plane<std::int16_t>(kBlock, kBlock + kTaps - 1), Plane<std::int16_t>(kBlock, kBlock)});
}

MotionField MotionSearch::no_motion() const {
  return {columns_, block_rows_, std::vector<Vector>(before_.size())};
}

void MotionSearch::halve(const Plane<std::int16_t>& from, int begin, int end,
                         Plane<std::int16_t>& to) {
  for (int y = begin; y < std::min(end, to.height()); ++y) {
    rows_.halve(from.row(2 * y), from.row(2 * y + 1), static_cast<std::size_t>(to.width()),
                to.row(y));
    to.pad(y);
  }
}

void MotionSearch::shrink(const Plane<std::int16_t>& from, int unit, Pyramid& pyramid) {
  halve(from, 4 * unit, 4 * unit + 4, pyramid.half);
  halve(pyramid.half, 2 * unit, 2 * unit + 2, pyramid.fourth);
  halve(pyramid.fourth, unit, unit + 1, pyramid.eighth);
}

void MotionSearch::shrink_luma(const Plane<std::int16_t>& luma, int unit) {
  shrink(luma, unit, luma_);
}

void MotionSearch::shrink_estimate(const Plane<std::int16_t>& estimate, int block_row) {
  for (int unit = block_row * kBlock / kUnit; unit < (block_row + 1) * kBlock / kUnit; ++unit)
    shrink(estimate, unit, estimate_);
}

void MotionSearch::shrink_estimate(const Plane<std::int16_t>& estimate) {
  for (int row = 0; row < block_rows_; ++row)
    shrink_estimate(estimate, row);
}

int MotionSearch::half_difference(int column, int row, Step step) const {
  const int x = column * kBlock / 2 - kHalfBorder;
  const int y = row * kBlock / 2 - kHalfBorder;
  return rows_.difference(window_of(luma_.half, x, y),
                          window_of(estimate_.half, x + step.x, y + step.y));
}

void MotionSearch::find_still(const Plane<std::int16_t>& estimate,
                              const Plane<std::uint8_t>& weight, const LevelCurve& sigma, int begin,
                              int end) {
  for (int row = begin; row < end; ++row) {
    for (int column = 0; column < columns_; ++column) {
      const auto block = static_cast<std::size_t>(row * columns_ + column);
      unmoved_[block] = half_difference(column, row, {0, 0});
      // Means of 4 samples have half the noise, and the magnitudes of differences 0.8 of it, times
      // what the estimate's own noise adds: 0.4 / certainty.
      const int x = std::min(column * kBlock + kBlock / 2, width_ - 1);
      const int y = row * kBlock + kBlock / 2;
      const int certainty = weight_tables().certainty[weight.row(y)[x]];
      still_[block] = static_cast<std::int64_t>(unmoved_[block]) * certainty <=
                      static_cast<std::int64_t>(sigma.at(estimate.row(y)[x])) * kStill;
    }
  }
}

void MotionSearch::find_coarse(int begin, int end) {
  const int across = (columns_ + kCoarse - 1) / kCoarse;
  for (int row = begin; row < end; ++row) {
    for (int column = 0; column < across; ++column) {
      int moving = 0;
      for (int j = row * kCoarse; j < std::min((row + 1) * kCoarse, block_rows_); ++j)
        for (int i = column * kCoarse; i < std::min((column + 1) * kCoarse, columns_); ++i)
          moving += still_[static_cast<std::size_t>(j * columns_ + i)] != 0 ? 0 : 1;
      Step best{0, 0};
      int least = std::numeric_limits<int>::max();
      const int x = column * kCoarse * kBlock / 8 - kCoarseBorder;
      const int y = row * kCoarse * kBlock / 8 - kCoarseBorder;
      const SampleWindow now = window_of(luma_.eighth, x, y);
      for (int dy = -kCoarseReach; moving >= kMoving && dy <= kCoarseReach; ++dy) {
        for (int dx = -kCoarseReach; dx <= kCoarseReach; ++dx) {
          const int sum = rows_.difference(now, window_of(estimate_.eighth, x + dx, y + dy)) +
                          kLevel / 2 * (std::abs(dx) + std::abs(dy));
          if (sum < least) {
            least = sum;
            best = {dx, dy};
          }
        }
      }
      coarse_[static_cast<std::size_t>(row * across + column)] = best;
    }
  }
}

Vector MotionSearch::within(Vector vector, int column, int row) const {
  const auto bound = [](int parts, int first, int size) {
    const int least = -kMostOutside - first;
    const int most = std::max(size - first - kBlock, 0) + kMostOutside;
    return static_cast<std::int16_t>(std::clamp(parts, least * kParts, most * kParts));
  };
  return {bound(vector.x, column * kBlock, width_), bound(vector.y, row * kBlock, height_)};
}

void MotionSearch::find_vectors(const Plane<std::int16_t>& luma,
                                const Plane<std::int16_t>& estimate, int row, MotionField& field) {
  const int across = (columns_ + kCoarse - 1) / kCoarse;
  for (int column = 0; column < columns_; ++column) {
    const auto block = static_cast<std::size_t>(row * columns_ + column);
    Vector& vector = field.vectors[block];
    vector = {};
    if (still_[block] != 0) continue;

    // Candidates in halves: none, the coarse search's, and the last frame's here and around.
    Step best{0, 0};
    int least = unmoved_[block];
    const auto take = [&](Step step) {
      if (step.x == best.x && step.y == best.y) return;
      const int cost =
          half_difference(column, row, step) + (step.x == 0 && step.y == 0 ? 0 : kHalfCost);
      if (cost >= least) return;
      least = cost;
      best = step;
    };
    const Step coarse =
        coarse_[static_cast<std::size_t>(row / kCoarse * across + column / kCoarse)];
    take({coarse.x * 4, coarse.y * 4});
    const auto take_last = [&](int i, int j) {
      const Vector& last = before_[static_cast<std::size_t>(
          std::clamp(j, 0, block_rows_ - 1) * columns_ + std::clamp(i, 0, columns_ - 1))];
      take({static_cast<int>(divided(last.x, 2 * kParts)),
            static_cast<int>(divided(last.y, 2 * kParts))});
    };
    take_last(column, row);
    for (const auto& [x, y] : kAround)
      take_last(column + x, row + y);
    for (int i = 0; i < kMostSteps; ++i) {
      const Step from = best;
      for (const auto& [x, y] : kAround)
        take({from.x + x, from.y + y});
      if (best.x == from.x && best.y == from.y) break;
    }

    // Then the displacement that is left, in halves and in samples.
    const auto left = [&](const Plane<std::int16_t>& now, const Plane<std::int16_t>& then, int x,
                          int y, Step step) {
      return displacement(
          rows_.slopes(window_of(now, x, y), window_of(then, x + step.x, y + step.y)),
          kWindow * kWindow);
    };
    const Vector rough = left(luma_.half, estimate_.half, column * kBlock / 2 - kHalfBorder,
                              row * kBlock / 2 - kHalfBorder, best);
    const Step whole{whole_samples((best.x * kParts + rough.x) * 2),
                     whole_samples((best.y * kParts + rough.y) * 2)};
    const Vector fine = left(luma, estimate, column * kBlock, row * kBlock, whole);
    vector = within({static_cast<std::int16_t>(whole.x * kParts + fine.x),
                     static_cast<std::int16_t>(whole.y * kParts + fine.y)},
                    column, row);
  }
}

int MotionSearch::block_difference(const Plane<std::int16_t>& luma,
                                   const Plane<std::int16_t>& estimate, int column, int row,
                                   Vector vector, Scratch& scratch) const {
  const int x = column * kBlock;
  const int y = row * kBlock;
  const int phase_x = 2 * (vector.x & (kParts - 1));
  const int phase_y = 2 * (vector.y & (kParts - 1));
  SampleWindow moved = window_of(estimate, x + (vector.x >> 3), y + (vector.y >> 3));
  if (phase_x != 0 || phase_y != 0) {
    // Two rows more above it, and three below.
    std::array<const std::int16_t*, kBlock + kTaps - 1> rows;
    for (int k = 0; k < kBlock + kTaps - 1; ++k) {
      const std::int16_t* const from =
          estimate.row(y + (vector.y >> 3) + k - 2) + x + (vector.x >> 3);
      rows[static_cast<std::size_t>(k)] = from;
      if (phase_x == 0) continue;
      std::int16_t* const out = scratch.across.row(k);
      rows_.across(from, taps_of(phase_x), kBlock, out);
      rows[static_cast<std::size_t>(k)] = out;
    }
    for (int k = 0; k < kBlock; ++k) {
      const auto at = static_cast<std::size_t>(k);
      moved.row[at + 1] = rows[at + 2];
      if (phase_y == 0) continue;
      std::array<const std::int16_t*, kTaps> six;
      std::copy_n(rows.begin() + k, kTaps, six.begin());
      rows_.down(six, taps_of(phase_y), kBlock, scratch.block.row(k));
      moved.row[at + 1] = scratch.block.row(k);
    }
  }
  return rows_.difference(window_of(luma, x, y), moved);
}

void MotionSearch::choose(const Plane<std::int16_t>& luma, const Plane<std::int16_t>& estimate,
                          int row, Scratch& scratch, MotionField& field) {
  for (int column = 0; column < columns_; ++column) {
    const auto block = static_cast<std::size_t>(row * columns_ + column);
    if (still_[block] != 0) continue;
    Vector& best = field.vectors[block];
    const int unmoved = block_difference(luma, estimate, column, row, {}, scratch);
    // Vectors must be better than none by a thirty-second, or they follow the noise.
    int least = unmoved - unmoved / 32;
    std::array<Vector, 6> tried{};  // the first is none
    std::size_t count = 1;
    const Vector own = before_[block];
    best = {};
    const auto take = [&](Vector vector, int advantage) {
      if (std::find(tried.begin(), tried.begin() + count, vector) != tried.begin() + count) return;
      if (count < tried.size()) tried[count++] = vector;
      const int difference = block_difference(luma, estimate, column, row, vector, scratch);
      if (difference - advantage * (difference / 128) >= least) return;
      least = difference;
      best = vector;
    };
    take(own, 1);
    for (const auto& [x, y] : kAround) {
      const int i = std::clamp(column + x, 0, columns_ - 1);
      const int j = std::clamp(row + y, 0, block_rows_ - 1);
      take(within(before_[static_cast<std::size_t>(j * columns_ + i)], column, row), 0);
    }
  }
}

void MotionSearch::search(const Plane<std::int16_t>& luma, const Plane<std::int16_t>& estimate,
                          const Plane<std::uint8_t>& weight, const LevelCurve& sigma,
                          MotionField& field) {
  executor_.for_rows(block_rows_, [&](int begin, int end, int) {
    find_still(estimate, weight, sigma, begin, end);
  });
  executor_.for_rows((block_rows_ + kCoarse - 1) / kCoarse,
                     [&](int begin, int end, int) { find_coarse(begin, end); });
  before_ = field.vectors;
  executor_.for_rows(block_rows_, [&](int begin, int end, int) {
    for (int row = begin; row < end; ++row)
      find_vectors(luma, estimate, row, field);
  });
  before_ = field.vectors;
  executor_.for_rows(block_rows_, [&](int begin, int end, int slot) {
    for (int row = begin; row < end; ++row)
      choose(luma, estimate, row, scratch_[static_cast<std::size_t>(slot)], field);
  });
}

}  // namespace equalux::denoise

#include "src/cpu/denoise/motion.h"

#include <array>
#include <cstring>
#include <limits>

#include <hwy/cache_control.h>

namespace equalux::denoise {
namespace {

static_assert(kWindow == SampleWindow::kSide);

/// Rows above and below a window that are read too.
struct RowsBeside {
  int above;
  int below;
};
constexpr RowsBeside kNoRows{0, 0};
constexpr RowsBeside kSlopeRows{1, 1};
constexpr RowsBeside kTapRows{SampleWindow::kAbove, SampleWindow::kBelow};

/// Windows of a plane, copied where they reach beyond its stored rows.
class WindowCopy {
 public:
  explicit WindowCopy(const DenoiseRows& loops) : loops_(loops) {}

  /// Returns the window from column x and row y on. Beyond the padding columns are clamped.
  SampleWindow of(const Plane<std::int16_t>& plane, int x, int y, RowsBeside beside) {
    constexpr int kAbove = SampleWindow::kAbove;
    const int column =
        std::clamp(x, kAbove - kPadding, plane.width() + kPadding - kWindow - SampleWindow::kBelow);
    if (plane.holds(y - beside.above, y + kWindow + beside.below))
      return {plane.row_or_beyond(y) + column, plane.stride()};
    std::int16_t* const first = samples_ + kAbove * kCopied;
    loops_.copy_rows(plane.row(0) + column - kAbove, plane.stride(), plane.height(),
                     y - beside.above, kWindow + beside.above + beside.below,
                     first - beside.above * kCopied);
    return {first + kAbove, kCopied};
  }

 private:
  static_assert(SampleWindow::kAll <= kCopied);
  const DenoiseRows& loops_;
  alignas(kRowAlignment) std::int16_t samples_[kCopied * SampleWindow::kAll];
};

/// Windows up to kCoarseReach around a place, copied to lie close together in the cache. They stay
/// within the plane's padding.
class WindowsAround {
 public:
  void fill(const Plane<std::int16_t>& plane, int x, int y) {
    for (int k = 0; k < kSide; ++k)
      std::memcpy(samples_ + k * kStride, plane.row(y + k - kCoarseReach) + x - kCoarseReach,
                  kSide * sizeof *samples_);
  }
  [[nodiscard]] SampleWindow window(int dx, int dy) const {
    return {samples_ + (kCoarseReach + dy) * kStride + kCoarseReach + dx, kStride};
  }

 private:
  static constexpr int kSide = kWindow + 2 * kCoarseReach;
  static constexpr int kStride = 32;
  static_assert(kCoarseBorder + kCoarseReach <= kPadding &&
                kWindow - kCoarseBorder + kCoarseReach <= kPadding);
  std::int16_t samples_[kStride * kSide];
};

/// Luma samples up to which most of what is compared stays in the L2 cache.
constexpr int kMostCached = 1 << 19;

/// Rows beyond halves that most windows of blocks at the border need.
constexpr RowsBeyond kHalfRowsBeyond{8, 16};

/// Position of a block's window in halves.
struct HalfPlace {
  int x;
  int y;

  HalfPlace(int column, int row)
      : x(column * kBlock / 2 - kHalfBorder), y(row * kBlock / 2 - kHalfBorder) {}
};

/// Prefetches windows of blocks to the right of column x, from row y on: the hardware does not
/// follow so many rows. Always inlined, as GCC 12 takes a function that only prefetches for one
/// without effects and drops its calls.
HWY_INLINE void prefetch(const Plane<std::int16_t>& plane, int x, int y) {
  const std::int16_t* at = plane.row(y) + std::min(x + 4 * kBlock, plane.width());
  const int rows = std::min(kWindow + SampleWindow::kBelow, plane.height() - y);
  for (int k = 0; k < rows; ++k, at += plane.stride())
    hwy::Prefetch(at);
}

/// Small set of candidates that were tried.
template <typename Item, std::size_t kMost>
class Tried {
 public:
  /// Adds an item, unless the set is full; returns false where it was tried before.
  bool add(const Item& item) {
    if (std::find(items_.begin(), items_.begin() + count_, item) != items_.begin() + count_)
      return false;
    if (count_ < static_cast<std::ptrdiff_t>(kMost))
      items_[static_cast<std::size_t>(count_++)] = item;
    return true;
  }

 private:
  std::array<Item, kMost> items_;
  std::ptrdiff_t count_ = 0;
};

}  // namespace

MotionSearch::MotionSearch(int width, int height, RowExecutor& executor, const DenoiseRows& rows)
    : executor_(executor),
      rows_(rows),
      taps_(all_taps()),
      width_(width),
      height_(height),
      columns_(blocks_of(width)),
      block_rows_(blocks_of(height)) {
  const auto halved = [](int samples) { return (samples + 1) / 2; };
  for (Pyramid* pyramid : {&luma_, &estimate_}) {
    pyramid->half = Plane<std::int16_t>(halved(width), halved(height), kHalfRowsBeyond);
    pyramid->fourth =
        Plane<std::int16_t>(halved(pyramid->half.width()), halved(pyramid->half.height()));
    pyramid->eighth =
        Plane<std::int16_t>(halved(pyramid->fourth.width()), halved(pyramid->fourth.height()));
  }
  const auto blocks = static_cast<std::size_t>(columns_) * static_cast<std::size_t>(block_rows_);
  unmoved_.resize(blocks);
  limits_.resize(blocks);
  state_.resize(blocks);
  followed_.resize(blocks);
  before_.resize(blocks);
  const auto coarse = [](int count) {
    return static_cast<std::size_t>((count + kCoarse - 1) / kCoarse);
  };
  coarse_.resize(coarse(columns_) * coarse(block_rows_));
  for (int slot = 0; slot < executor.threads(); ++slot)
    blocks_.push_back({Plane<std::int16_t>(width, kBlock), kNone});
}

MotionField MotionSearch::no_motion() const {
  return {columns_, block_rows_, std::vector<Vector>(before_.size()),
          std::vector<std::int16_t>(before_.size())};
}

/// Halves rows of a plane that begins at row `first` of a frame, to rows `begin` to `end` - 1.
void MotionSearch::halve(const Plane<std::int16_t>& from, int first, int begin, int end,
                         Plane<std::int16_t>& to) {
  for (int y = begin; y < std::min(end, to.height()); ++y) {
    rows_.halve(from.row(2 * y - first), from.row(2 * y + 1 - first),
                static_cast<std::size_t>(to.width()), to.row(y));
    to.pad(y);
  }
}

void MotionSearch::shrink(const Plane<std::int16_t>& from, int first, int unit, Pyramid& pyramid) {
  halve(from, first, 4 * unit, 4 * unit + 4, pyramid.half);
  halve(pyramid.half, 0, 2 * unit, 2 * unit + 2, pyramid.fourth);
  halve(pyramid.fourth, 0, unit, unit + 1, pyramid.eighth);
}

void MotionSearch::shrink_luma(const Plane<std::int16_t>& rows, int unit) {
  shrink(rows, unit * kUnit, unit, luma_);
}

void MotionSearch::shrink_estimate(const Plane<std::int16_t>& estimate, int block_row) {
  for (int unit = block_row * kBlock / kUnit; unit < (block_row + 1) * kBlock / kUnit; ++unit)
    shrink(estimate, 0, unit, estimate_);
}

void MotionSearch::shrink_estimate(const Plane<std::int16_t>& estimate) {
  for (int row = 0; row < block_rows_; ++row)
    shrink_estimate(estimate, row);
}

/// Gain of a block with this drift.
std::int16_t MotionSearch::gain(int column, int row, int drift) const {
  if (drift == 0) return 0;
  const std::int16_t* const above = estimate_.eighth.row(2 * row) + std::ptrdiff_t{2} * column;
  const std::int16_t* const below = estimate_.eighth.row(2 * row + 1) + std::ptrdiff_t{2} * column;
  return static_cast<std::int16_t>(
      gain_of(drift, block_mean(above[0], above[1], below[0], below[1])));
}

/// Window of a block of luma, whose rows are loaded unless the block before was in the same ones.
SampleWindow MotionSearch::block_window(const Frames& frames, RowOfBlocks& blocks, int column,
                                        int row) const {
  if (blocks.row != row) {
    blocks.row = row;
    for (int k = 0; k < kBlock; ++k) {
      frames.load_luma(std::min(row * kBlock + k, height_ - 1), blocks.samples.row(k));
      blocks.samples.pad(k);
    }
  }
  return {blocks.samples.row(0) + std::ptrdiff_t{kBlock} * column, blocks.samples.stride()};
}

/// Sets the vectors of blocks that are still or that go on as in the last frame.
void MotionSearch::find_known(const Frames& frames, const Plane<std::uint8_t>& weight,
                              const LevelCurve& sigma, int row, RowOfBlocks& blocks,
                              MotionField& field) {
  WindowCopy now_copy(rows_);
  WindowCopy then_copy(rows_);
  for (int column = 0; column < columns_; ++column) {
    const std::size_t block = number(column, row);
    const HalfPlace half(column, row);
    const SampleWindow now = now_copy.of(luma_.half, half.x, half.y, kNoRows);
    const SampleWindow then = then_copy.of(estimate_.half, half.x, half.y, kNoRows);
    const int x = std::min(column * kBlock + kBlock / 2, width_ - 1);
    const int y = row * kBlock + kBlock / 2;
    const Noise noise{weight_tables().certainty[weight.row(y)[x]],
                      sigma.at(frames.estimate.row(y)[x])};
    const int limit = drift_limit(noise.certainty, noise.sigma);
    const WindowDifference unmoved = rows_.differences(now, then, limit);
    unmoved_[block] = unmoved.magnitudes;
    limits_[block] = static_cast<std::int16_t>(limit);
    followed_[block] = {};
    state_[block] = is_still(unmoved.magnitudes, noise.certainty, noise.sigma)
                        ? Found::still
                        : follow(frames, blocks, column, row, noise, limit);
    field.vectors[block] = {};
    field.gains[block] = gain(column, row, drift_of(unmoved.drift, limit));
    if (state_[block] == Found::followed) keep(followed_[block], column, row, field);
  }
}

/// Prefetches for the blocks to the right, unless the L2 cache holds the planes.
void MotionSearch::ask_ahead(const Frames& frames, int column, int row) const {
  if (std::int64_t{width_} * height_ <= kMostCached) return;
  prefetch(frames.estimate, column * kBlock, row * kBlock);
}

/// Tries the median of the last frame's vectors around a block.
MotionSearch::Found MotionSearch::follow(const Frames& frames, RowOfBlocks& blocks, int column,
                                         int row, Noise noise, int limit) {
  const auto median = [&](std::int16_t Vector::*part) {
    const auto beside = [&](int i) {
      return before(column + around(i).x, row + around(i).y).*part;
    };
    return static_cast<std::int16_t>(
        median_of(beside(0), beside(1), beside(2), beside(3), before(column, row).*part));
  };
  const Vector middle = within({median(&Vector::x), median(&Vector::y)}, column, row);
  if (middle == Vector{} && before(column, row) == Vector{}) return Found::open;
  ask_ahead(frames, column, row);
  const SampleWindow now = block_window(frames, blocks, column, row);
  Match& best = followed_[number(column, row)];
  best.difference = std::numeric_limits<int>::max();
  const auto take = [&](Vector vector) {
    if (vector == Vector{} || vector == best.vector) return;
    const WindowDifference found = compare(now, frames.estimate, column, row, vector, limit);
    if (found.magnitudes < best.difference) best.set(vector, found);
  };
  take(middle);
  if (best.vector != Vector{} && is_well_explained(best.difference, noise.certainty, noise.sigma))
    return Found::followed;
  take(
      refined(now, frames.estimate, column, row, whole_samples(middle.x), whole_samples(middle.y)));
  const bool followed =
      best.vector != Vector{} && is_explained(best.difference, noise.certainty, noise.sigma);
  return followed ? Found::followed : Found::open;
}

void MotionSearch::find_coarse(int begin, int end) {
  const int across = (columns_ + kCoarse - 1) / kCoarse;
  WindowCopy now_copy(rows_);
  WindowsAround around_copy;
  for (int row = begin; row < end; ++row) {
    for (int column = 0; column < across; ++column) {
      int moving = 0;
      for (int j = row * kCoarse; j < std::min((row + 1) * kCoarse, block_rows_); ++j)
        for (int i = column * kCoarse; i < std::min((column + 1) * kCoarse, columns_); ++i)
          moving += state_[number(i, j)] == Found::open ? 1 : 0;
      Step best{0, 0};
      int least = std::numeric_limits<int>::max();
      const int x = column * kCoarse * kBlock / 8 - kCoarseBorder;
      const int y = row * kCoarse * kBlock / 8 - kCoarseBorder;
      if (moving >= kMoving) around_copy.fill(estimate_.eighth, x, y);
      const SampleWindow now = now_copy.of(luma_.eighth, x, y, kNoRows);
      for (int dy = -kCoarseReach; moving >= kMoving && dy <= kCoarseReach; ++dy) {
        for (int dx = -kCoarseReach; dx <= kCoarseReach; ++dx) {
          const int sum = rows_.difference(now, around_copy.window(dx, dy)) +
                          kCoarseCost * (std::abs(dx) + std::abs(dy));
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
  return {denoise::within(vector.x, column, width_), denoise::within(vector.y, row, height_)};
}

const Vector& MotionSearch::before(int column, int row) const {
  return before_[number(std::clamp(column, 0, columns_ - 1), std::clamp(row, 0, block_rows_ - 1))];
}

/// Vector of a block with subsample precision, from its approximate position (x, y).
Vector MotionSearch::refined(SampleWindow now, const Plane<std::int16_t>& estimate, int column,
                             int row, int x, int y) const {
  WindowCopy then_copy(rows_);
  const Vector fine = displacement(
      rows_.slopes(now, then_copy.of(estimate, column * kBlock + x, row * kBlock + y, kSlopeRows)),
      kWindow * kWindow);
  return within({static_cast<std::int16_t>(x * kParts + fine.x),
                 static_cast<std::int16_t>(y * kParts + fine.y)},
                column, row);
}

/// Full search of the vector of a block, which `block` shows.
Vector MotionSearch::search_block(const Frames& frames, SampleWindow block, int column,
                                  int row) const {
  WindowCopy now_copy(rows_);
  WindowCopy then_copy(rows_);
  // Candidates in halves: none, the coarse search's, the last frame's here and around.
  const HalfPlace half(column, row);
  const SampleWindow now = now_copy.of(luma_.half, half.x, half.y, kNoRows);
  Step best{0, 0};
  int least = unmoved_[number(column, row)];
  Tried<Step, 6 + 4 * kMostSteps> tried;
  tried.add(best);
  const auto take = [&](Step step) {
    if (!tried.add(step)) return;
    const int cost = rows_.difference(now, then_copy.of(estimate_.half, half.x + step.x,
                                                        half.y + step.y, kNoRows)) +
                     kHalfCost;
    if (cost >= least) return;
    least = cost;
    best = step;
  };
  const int across = (columns_ + kCoarse - 1) / kCoarse;
  const Step coarse = coarse_[static_cast<std::size_t>(row / kCoarse * across + column / kCoarse)];
  take({coarse.x * 4, coarse.y * 4});
  const auto take_last = [&](int i, int j) {
    const Vector& last = before(i, j);
    take({static_cast<int>(divided(last.x, 2 * kParts)),
          static_cast<int>(divided(last.y, 2 * kParts))});
  };
  take_last(column, row);
  for (int i = 0; i < kAround; ++i)
    take_last(column + around(i).x, row + around(i).y);
  for (int i = 0; i < kMostSteps; ++i) {
    const Step from = best;
    for (int k = 0; k < kAround; ++k)
      take({from.x + around(k).x, from.y + around(k).y});
    if (best == from) break;
  }

  // Remaining displacement by gradients, in halves and then in samples.
  const Vector rough = displacement(
      rows_.slopes(now, then_copy.of(estimate_.half, half.x + best.x, half.y + best.y, kSlopeRows)),
      kWindow * kWindow);
  return refined(block, frames.estimate, column, row,
                 whole_samples((best.x * kParts + rough.x) * 2),
                 whole_samples((best.y * kParts + rough.y) * 2));
}

/// Difference and drift of a block against the estimate at a vector.
WindowDifference MotionSearch::compare(SampleWindow now, const Plane<std::int16_t>& estimate,
                                       int column, int row, Vector vector, int limit) const {
  const int x = column * kBlock;
  const int y = row * kBlock;
  const int across_phases = phases_of(vector.x, 0);
  const int down_phases = phases_of(vector.y, 0);
  const auto taps = [&](int phases) {
    const int phase = phase_of(phases);
    return phase == 0 ? nullptr : &taps_[static_cast<std::size_t>(phase)];
  };
  const Taps* const across = taps(across_phases);
  const Taps* const down = taps(down_phases);
  WindowCopy then(rows_);
  const WindowDifference difference = rows_.moved_differences(
      now,
      then.of(estimate, x + sample_before(across_phases), y + sample_before(down_phases),
              down == nullptr ? kNoRows : kTapRows),
      across, down, limit);
  return {difference.magnitudes, drift_of(difference.drift, limit)};
}

/// Best of three vectors of a block: the one found, the one of follow(), and none.
MotionSearch::Match MotionSearch::choose(const Frames& frames, SampleWindow now, int column,
                                         int row, Vector found) const {
  const int limit = limits_[number(column, row)];
  Match best;
  best.set({}, compare(now, frames.estimate, column, row, {}, limit));
  best.difference = least_without_vector(best.difference);
  const Match& followed = followed_[number(column, row)];
  if (followed.vector != Vector{} && followed.difference < best.difference) best = followed;
  if (found == Vector{} || found == followed.vector) return best;
  const WindowDifference own = compare(now, frames.estimate, column, row, found, limit);
  if (least_of_found(own.magnitudes) < best.difference) best.set(found, own);
  return best;
}

void MotionSearch::search(LoadLuma load_luma, const Plane<std::int16_t>& estimate,
                          const Plane<std::uint8_t>& weight, const LevelCurve& sigma,
                          MotionField& field) {
  const Frames frames{load_luma, estimate};
  for (RowOfBlocks& each : blocks_)
    each.row = kNone;
  before_ = field.vectors;
  luma_.half.repeat_end_rows();
  estimate_.half.repeat_end_rows();
  executor_.for_rows(block_rows_, [&](int begin, int end, int slot) {
    RowOfBlocks& blocks = blocks_[static_cast<std::size_t>(slot)];
    for (int row = begin; row < end; ++row)
      find_known(frames, weight, sigma, row, blocks, field);
  });
  executor_.for_rows((block_rows_ + kCoarse - 1) / kCoarse,
                     [&](int begin, int end, int) { find_coarse(begin, end); });
  executor_.for_rows(block_rows_, [&](int begin, int end, int slot) {
    RowOfBlocks& blocks = blocks_[static_cast<std::size_t>(slot)];
    for (int row = begin; row < end; ++row) {
      for (int column = 0; column < columns_; ++column) {
        const std::size_t block = number(column, row);
        if (state_[block] == Found::open) {
          ask_ahead(frames, column, row);
          const SampleWindow now = block_window(frames, blocks, column, row);
          const Match best =
              choose(frames, now, column, row, search_block(frames, now, column, row));
          if (best.vector != Vector{}) keep(best, column, row, field);
        }
      }
    }
  });
}

}  // namespace equalux::denoise

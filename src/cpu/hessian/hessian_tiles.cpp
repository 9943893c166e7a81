#include "src/cpu/hessian/hessian_tiles.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

namespace equalux {
namespace {

// Alignment in columns, for which vectors of all targets lie within cache lines.
constexpr int kAligned = 16;

// Floats from one row of derivatives to the next: two copies.
constexpr std::size_t kDerivedPitch = 2 * kSecondCopy;
static_assert(kDerivedPitch % kAligned == 0);

constexpr int whole_lanes(int n) {
  return (n + kAligned - 1) / kAligned * kAligned;
}

/// Reads the levels of columns x .. x + n - 1 of a row.
void read_levels(const HessianRows& loops, const ConstImageView& in, HessianChannel channel, int x,
                 int y, std::size_t n, float* out) {
  const FormatTraits& form = traits(in.desc.format);
  const std::uint8_t* row = in.row(0, y) + std::ptrdiff_t{x} * form.step[0];
  switch (form.model) {
    case ColorModel::real:
      std::memcpy(out, row, n * sizeof *out);
      break;
    case ColorModel::rgb:
      loops.rgb_levels(channel, rgb_layout(in.desc.format), row, n, out);
      break;
    default:
      loops.gray_levels(row, n, out);
      break;
  }
}

}  // namespace

AlignedFloats::AlignedFloats(std::size_t n) {
  const std::size_t bytes =
      static_cast<std::size_t>(whole_lanes(static_cast<int>(n))) * sizeof(float);
  memory_.reset(static_cast<float*>(std::aligned_alloc(kAligned * sizeof(float), bytes)));
  if (memory_ == nullptr) throw std::bad_alloc();
  std::memset(memory_.get(), 0, bytes);
}

TileScratch::TileScratch(int reach, std::size_t rows_of_results, std::size_t scales)
    : left_(whole_lanes(reach)),
      pitch_(static_cast<std::size_t>(left_ + kTileWidth + whole_lanes(reach)) + kRowSlack),
      levels_(pitch_ * static_cast<std::size_t>(kTileHeight + 2 * reach)),
      results_(rows_of_results * kResultPitch),
      taps_(static_cast<std::size_t>(2 * reach + 2)) {
  if (pitch_ > kSecondCopy) throw std::logic_error("a tile's rows reach their second copies");
  for (std::size_t i = 0; i < scales; ++i)
    pairs_.push_back({nullptr, -1, 0, AlignedFloats(6 * kDerivedPitch)});
  tile_.reach = reach;
  tile_.rows.resize(static_cast<std::size_t>(kTileHeight + 2 * reach));
}

void TileScratch::load(const HessianRows& loops, const ConstImageView& in, HessianChannel channel,
                       int x, int y, int y_end) {
  const int reach = tile_.reach;
  const int frame_width = in.desc.width;
  tile_.x = x;
  tile_.y = y;
  tile_.width = std::min(kTileWidth, frame_width - x);
  tile_.height = y_end - y;
  for (RowPair& pair : pairs_)
    pair.rows = 0;
  const int first = std::max(0, x - reach);
  const int last = std::min(frame_width, x + tile_.width + reach);
  const int top = std::max(0, y - reach);
  const int bottom = std::min(in.desc.height, y_end + reach);
  for (int j = y - reach; j < y_end + reach; ++j) {
    // Rows above and below the frame replicate its first and last.
    const int held = std::clamp(j, top, bottom - 1) - top;
    tile_.rows[static_cast<std::size_t>(j - (y - reach))] =
        levels_.data() + static_cast<std::size_t>(held) * pitch_ + left_;
  }
  for (int j = top; j < bottom; ++j) {
    float* row = levels_.data() + static_cast<std::size_t>(j - top) * pitch_ + left_ - reach;
    float* at = row + (first - (x - reach));
    const auto n = static_cast<std::size_t>(last - first);
    read_levels(loops, in, channel, first, j, n, at);
    std::fill(row, at, *at);
    std::fill(at + n, row + tile_.width + 2 * reach, at[n - 1]);
  }
}

TileScratch::RowPair& TileScratch::pair_of(const HessianWeights& weights) {
  for (RowPair& pair : pairs_) {
    if (pair.weights == &weights || pair.weights == nullptr) {
      pair.weights = &weights;
      return pair;
    }
  }
  throw std::logic_error("more scales than the scratch has memory for");
}

/// Returns the sums along y of row j: the first of three rows, kDerivedPitch floats apart, which
/// begin whole_lanes(radius) columns before the tile.
const float* TileScratch::vertical(const HessianRows& loops, const HessianWeights& weights, int j) {
  RowPair& pair = pair_of(weights);
  float* const at = pair.memory.data();
  if (pair.rows == 2 && pair.j + 1 == j) return at + 3 * kDerivedPitch;
  const int r = weights.radius;
  const int before = whole_lanes(r);
  pair.j = j;
  pair.rows = j + 1 < tile_.height ? 2 : 1;
  for (int k = -r; k < r + pair.rows; ++k)
    taps_[static_cast<std::size_t>(k + r)] = tile_.row(j + k) - before;
  const auto n = static_cast<std::size_t>(before + tile_.width + r);
  const auto rows = [&](float* first) {
    return DerivativeRows{first, first + kDerivedPitch, first + 2 * kDerivedPitch};
  };
  if (pair.rows == 2) {
    loops.vertical_pair(weights, taps_.data(), n, rows(at), rows(at + 3 * kDerivedPitch));
  } else {
    loops.vertical(weights, taps_.data(), n, rows(at));
  }
  return at;
}

void TileScratch::eigenvalues(const HessianRows& loops, const HessianWeights& weights, int j,
                              const EigenvalueRows& to) {
  const float* const at = vertical(loops, weights, j) + whole_lanes(weights.radius);
  last_weights_ = &weights;
  last_smooth_ = at;
  loops.eigenvalues(weights, {at, at + kDerivedPitch, at + 2 * kDerivedPitch},
                    static_cast<std::size_t>(tile_.width), to);
}

void TileScratch::brightness(const HessianRows& loops, float* out) const {
  loops.smooth(*last_weights_, last_smooth_, static_cast<std::size_t>(tile_.width), out);
}

void TileScratch::smoothed(const HessianRows& loops, const HessianWeights& weights, int j,
                           float* out) {
  loops.smooth(weights, vertical(loops, weights, j) + whole_lanes(weights.radius),
               static_cast<std::size_t>(tile_.width), out);
}

TileWalker::TileWalker(RowExecutor& executor, const HessianRows& loops, HessianChannel channel,
                       int reach, std::size_t result_rows, std::size_t scales)
    : executor_(executor), loops_(loops), channel_(channel) {
  scratch_.reserve(static_cast<std::size_t>(executor.threads()));
  for (int slot = 0; slot < executor.threads(); ++slot)
    scratch_.emplace_back(reach, result_rows, scales);
}

void TileWalker::run(const ConstImageView& in, Body body) {
  executor_.for_rows(in.desc.height, [&](int begin, int end, int slot) {
    TileScratch& scratch = scratch_[static_cast<std::size_t>(slot)];
    for (int y = begin; y < end; y += kTileHeight) {
      for (int x = 0; x < in.desc.width; x += kTileWidth) {
        scratch.load(loops_, in, channel_, x, y, std::min(end, y + kTileHeight));
        body(scratch);
      }
    }
    loops_.flush_stores();
  });
}

}  // namespace equalux

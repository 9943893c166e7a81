#include "cpu/hessian_tiles.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace equalux {
namespace {

// Vectors of any target that begin at such a column of a row lie within cache lines.
constexpr int kAligned = 16;

constexpr int round_up(int n) {
  return (n + kAligned - 1) / kAligned * kAligned;
}

/// Levels of columns x .. x + n - 1 of a row.
void read_levels(const HessianKernels& kernels, const ConstImageView& in,
                 const ChannelLayout& layout, int x, int y, std::size_t n, float* out) {
  const FormatTraits& form = traits(in.desc.format);
  const std::uint8_t* row = in.row(0, y) + std::ptrdiff_t{x} * form.step[0];
  switch (form.model) {
    case ColorModel::real:
      std::memcpy(out, row, n * sizeof *out);
      break;
    case ColorModel::rgb:
      kernels.rgb_levels(layout, row, n, out);
      break;
    default:
      kernels.gray_levels(row, n, out);
      break;
  }
}

}  // namespace

AlignedFloats::AlignedFloats(std::size_t n) {
  const std::size_t bytes = static_cast<std::size_t>(round_up(static_cast<int>(n))) * sizeof(float);
  memory_.reset(static_cast<float*>(std::aligned_alloc(kAligned * sizeof(float), bytes)));
  if (memory_ == nullptr) throw std::bad_alloc();
  std::memset(memory_.get(), 0, bytes);
}

TileScratch::TileScratch(int reach, std::size_t rows_of_results)
    : left_(round_up(reach)),
      pitch_(static_cast<std::size_t>(left_ + kTileWidth + round_up(reach)) + kRowSlack),
      levels_(pitch_ * static_cast<std::size_t>(kTileHeight + 2 * reach)),
      derivatives_(3 * pitch_),
      results_(rows_of_results * kResultPitch),
      taps_(static_cast<std::size_t>(2 * reach + 1)) {
  tile_.reach = reach;
  tile_.rows.resize(static_cast<std::size_t>(kTileHeight + 2 * reach));
}

void TileScratch::load(const HessianKernels& kernels, const ConstImageView& in,
                       const ChannelLayout& layout, int x, int y, int y_end) {
  const int reach = tile_.reach;
  const int frame_width = in.desc.width;
  tile_.x = x;
  tile_.y = y;
  tile_.width = std::min(kTileWidth, frame_width - x);
  tile_.height = y_end - y;
  const int first = std::max(0, x - reach);
  const int last = std::min(frame_width, x + tile_.width + reach);
  const int top = std::max(0, y - reach);
  const int bottom = std::min(in.desc.height, y_end + reach);
  for (int j = y - reach; j < y_end + reach; ++j) {
    // Rows above and below the frame are its first and last.
    const int held = std::clamp(j, top, bottom - 1) - top;
    tile_.rows[static_cast<std::size_t>(j - (y - reach))] =
        levels_.data() + static_cast<std::size_t>(held) * pitch_ + left_;
  }
  for (int j = top; j < bottom; ++j) {
    float* row = levels_.data() + static_cast<std::size_t>(j - top) * pitch_ + left_ - reach;
    float* at = row + (first - (x - reach));
    const auto n = static_cast<std::size_t>(last - first);
    read_levels(kernels, in, layout, first, j, n, at);
    std::fill(row, at, *at);
    std::fill(at + n, row + tile_.width + 2 * reach, at[n - 1]);
  }
}

/// The passes along y, into rows that begin round_up(radius) columns before the tile.
void TileScratch::vertical(const HessianKernels& kernels, const HessianWeights& weights, int j) {
  const int r = weights.radius;
  const int before = round_up(r);
  for (int k = -r; k <= r; ++k)
    taps_[static_cast<std::size_t>(k + r)] = tile_.row(j + k) - before;
  float* const rows = derivatives_.data();
  kernels.vertical(weights, taps_.data(), static_cast<std::size_t>(before + tile_.width + r),
                   {rows, rows + pitch_, rows + 2 * pitch_});
}

void TileScratch::eigenvalues(const HessianKernels& kernels, const HessianWeights& weights, int j,
                              float* first, float* second) {
  vertical(kernels, weights, j);
  float* const at = derivatives_.data() + round_up(weights.radius);
  kernels.eigenvalues(weights, {at, at + pitch_, at + 2 * pitch_},
                      static_cast<std::size_t>(tile_.width), first, second);
}

void TileScratch::brightness(const HessianKernels& kernels, const HessianWeights& weights,
                             float* out) const {
  kernels.smooth(weights, derivatives_.data() + round_up(weights.radius),
                 static_cast<std::size_t>(tile_.width), out);
}

void TileScratch::smoothed(const HessianKernels& kernels, const HessianWeights& weights, int j,
                           float* out) {
  vertical(kernels, weights, j);
  brightness(kernels, weights, out);
}

TileWalker::TileWalker(RowExecutor& executor, const HessianKernels& kernels, HessianChannel channel,
                       int reach, std::size_t result_rows)
    : executor_(executor), kernels_(kernels), channel_(channel) {
  scratch_.reserve(static_cast<std::size_t>(executor.threads()));
  for (int slot = 0; slot < executor.threads(); ++slot)
    scratch_.emplace_back(reach, result_rows);
}

void TileWalker::run(const ConstImageView& in, const Body& body) {
  const ChannelLayout layout{channel_, traits(in.desc.format).model == ColorModel::rgb
                                           ? rgb_layout(in.desc.format)
                                           : RgbLayout{0, 0, 0, -1, 1}};
  executor_.for_rows(in.desc.height, [&](int begin, int end, int slot) {
    TileScratch& scratch = scratch_[static_cast<std::size_t>(slot)];
    for (int y = begin; y < end; y += kTileHeight) {
      for (int x = 0; x < in.desc.width; x += kTileWidth) {
        scratch.load(kernels_, in, layout, x, y, std::min(end, y + kTileHeight));
        body(scratch);
      }
    }
    kernels_.flush_stores();
  });
}

}  // namespace equalux

#include "src/cpu/clahe/opencv_clahe_chain.h"

#include <algorithm>

#include "src/common/stage_clock.h"
#include "src/cpu/common/stores.h"

namespace equalux {
namespace {

constexpr std::size_t kByteLevels = 256;
constexpr std::size_t kWordLevels = 65536;

}  // namespace

OpencvClaheChain::OpencvClaheChain(const ClaheParams& params, RowExecutor& executor,
                                   const FusedRows& counting, const OpencvRows& mixing)
    : params_(params), executor_(executor), counting_(counting), mixing_(mixing) {}

void OpencvClaheChain::configure(const ImageDesc& desc) {
  desc_ = desc;
  words_ = has_deep_samples(desc.format);
  grid_ = opencv::Grid(params_, desc.width, desc.height);
  rule_ = opencv::tile_rule(params_.curve.clip_limit, grid_, traits(desc.format).depth);
  spans_.clear();
  for (int x = 0; x < desc.width; ++x) {
    const std::size_t left = grid_.x.first[static_cast<std::size_t>(x)];
    const std::size_t right = grid_.x.second[static_cast<std::size_t>(x)];
    if (spans_.empty() || spans_.back().left != left || spans_.back().right != right)
      spans_.push_back({x, x, left, right});
    spans_.back().end = x + 1;
  }
  const auto tiles = static_cast<std::size_t>(grid_.x.tiles * grid_.y.tiles);
  bytes_levels_.assign(words_ ? 0 : tiles * kByteLevels, 0);
  words_levels_.assign(words_ ? tiles * kWordLevels + 1 : 0, 0);
  scratch_.assign(static_cast<std::size_t>(executor_.threads()), Scratch{});
  for (Scratch& scratch : scratch_) {
    scratch.counts.assign(words_ ? kWordLevels : kByteLevels, 0);
    scratch.quads.assign(words_ ? 0 : spans_.size() * kByteLevels, 0);
  }
}

void OpencvClaheChain::update(const ClaheParams& params) {
  params_ = params;
  rule_ = opencv::tile_rule(params_.curve.clip_limit, grid_, traits(desc_.format).depth);
}

void OpencvClaheChain::process(const ConstImageView& in, const ImageView& out,
                               const FrameContext& context) {
  StageClock clock(context.timings);
  // All tiles are counted before anything is written: in place, mirrored lines would be
  // overwritten.
  executor_.for_rows(grid_.x.tiles * grid_.y.tiles, [&](int begin, int end, int slot) {
    Scratch& scratch = scratch_[static_cast<std::size_t>(slot)];
    for (int tile = begin; tile < end; ++tile) {
      count_tile(in, tile, scratch);
      make_table(tile, scratch);
    }
  });
  clock.lap("curve");
  for (Scratch& scratch : scratch_)
    scratch.mixed = false;
  executor_.for_rows(desc_.height, [&](int begin, int end, int slot) {
    for (int y = begin; y < end; ++y)
      apply_row(in, out, y, scratch_[static_cast<std::size_t>(slot)]);
  });
  clock.lap("apply");
}

void OpencvClaheChain::count_tile(const ConstImageView& in, int tile, Scratch& scratch) const {
  const int left = tile % grid_.x.tiles * grid_.x.size;
  const int right = left + grid_.x.size;
  const int top = tile / grid_.x.tiles * grid_.y.size;
  const int own = std::clamp(desc_.width - left, 0, grid_.x.size);
  std::uint32_t* const counts = scratch.counts.data();
  for (int i = top; i < top + grid_.y.size; ++i) {
    const std::uint8_t* row = in.row(0, grid_.y.source[static_cast<std::size_t>(i)]);
    if (words_) {
      for (int x = left; x < right; ++x)
        ++counts[load_word(row + 2 * grid_.x.source[static_cast<std::size_t>(x)])];
      continue;
    }
    if (own > 0) {
      counting_.count_gray(row + left, static_cast<std::size_t>(own), row + left,
                           {scratch.tables, nullptr});
    }
    for (int x = left + own; x < right; ++x)
      ++counts[row[grid_.x.source[static_cast<std::size_t>(x)]]];
  }
}

void OpencvClaheChain::make_table(int tile, Scratch& scratch) {
  const auto at = static_cast<std::size_t>(tile);
  if (words_) {
    opencv::make_table(rule_, scratch.counts.data(), words_levels_.data() + at * kWordLevels);
  } else {
    ValueHistogram counted{};
    counting_.fold({scratch.tables, nullptr}, counted);
    for (std::size_t v = 0; v < kByteLevels; ++v)
      scratch.counts[v] += counted[v];
    opencv::make_table(rule_, scratch.counts.data(), bytes_levels_.data() + at * kByteLevels);
  }
  std::fill(scratch.counts.begin(), scratch.counts.end(), 0);
}

/// Joins the four levels of each value, for each span of the row.
void OpencvClaheChain::take_quads(std::size_t above, std::size_t below, Scratch& scratch) const {
  if (scratch.mixed && scratch.above == above && scratch.below == below) return;
  scratch.mixed = true;
  scratch.above = above;
  scratch.below = below;
  const auto columns = static_cast<std::size_t>(grid_.x.tiles);
  const auto table = [&](std::size_t row, std::size_t column) {
    return bytes_levels_.data() + (row * columns + column) * kByteLevels;
  };
  for (std::size_t s = 0; s < spans_.size(); ++s) {
    const Span& span = spans_[s];
    mixing_.join(table(above, span.left), table(above, span.right), table(below, span.left),
                 table(below, span.right), scratch.quads.data() + s * kByteLevels);
  }
}

void OpencvClaheChain::apply_row(const ConstImageView& in, const ImageView& out, int y,
                                 Scratch& scratch) const {
  const auto line = static_cast<std::size_t>(y);
  const std::size_t above = grid_.y.first[line];
  const std::size_t below = grid_.y.second[line];
  const float of_below = grid_.y.weight[line];
  const std::uint8_t* const from = in.row(0, y);
  std::uint8_t* const to = out.row(0, y);
  if (!words_) take_quads(above, below, scratch);
  const auto columns = static_cast<std::size_t>(grid_.x.tiles);
  const auto table = [&](std::size_t row, std::size_t column) {
    return words_levels_.data() + (row * columns + column) * kWordLevels;
  };
  for (std::size_t s = 0; s < spans_.size(); ++s) {
    const Span& span = spans_[s];
    const auto begin = static_cast<std::size_t>(span.begin);
    const auto n = static_cast<std::size_t>(span.end - span.begin);
    const float* const of_right = grid_.x.weight.data() + begin;
    if (words_) {
      mixing_.mix_words({table(above, span.left), table(above, span.right), table(below, span.left),
                         table(below, span.right)},
                        of_right, of_below, from + 2 * begin, n, to + 2 * begin);
    } else {
      mixing_.mix_bytes(scratch.quads.data() + s * kByteLevels, of_right, of_below, from + begin, n,
                        to + begin);
    }
  }
}

}  // namespace equalux

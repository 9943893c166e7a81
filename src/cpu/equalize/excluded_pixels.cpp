#include "src/cpu/equalize/excluded_pixels.h"

#include <algorithm>
#include <numeric>

#include "src/cpu/equalize/fused/planar_line.h"

namespace equalux {

/// Memory of one thread.
struct ExcludedPixels::Scratch {
  alignas(64) SingleTables outside{};  // outside the region
  alignas(64) SingleTables around{};   // in marked blocks of the surround, bright pixels included
  ValueHistogram outside_counts{};
  ValueHistogram around_counts{};
  PlanarLine line;
};

ExcludedPixels::ExcludedPixels(const EqualizeParams& params, RowExecutor& executor,
                               const FusedRows& loops)
    : params_(params), executor_(executor), loops_(loops) {}

ExcludedPixels::~ExcludedPixels() = default;

void ExcludedPixels::configure(const ImageDesc& desc, const YuvWeights& weights) {
  outside_ = RegionOutside(params_.region, desc);
  desc_ = desc;
  weights_ = weights;
  surround_.configure(desc.width, desc.height, weights.luma_max);
  scratch_.clear();
  if (active()) make_scratch();
}

void ExcludedPixels::update(const EqualizeParams& params) {
  if (desc_.width != 0) {
    if (params.region != params_.region) outside_ = RegionOutside(params.region, desc_);
    // The surround is unknown after frames without tracking.
    if (params.surround != params_.surround) surround_.reset();
    if (leaves_out(params) && scratch_.empty()) make_scratch();
  }
  params_ = params;
}

void ExcludedPixels::make_scratch() {
  for (int slot = 0; slot < executor_.threads(); ++slot) {
    auto scratch = std::make_unique<Scratch>();
    if (traits(desc_.format).model == ColorModel::yuv) scratch->line.configure(desc_);
    scratch_.push_back(std::move(scratch));
  }
}

const ValueHistogram& ExcludedPixels::included(const ValueHistogram& counts,
                                               const ConstImageView& in,
                                               const FrameContext& context) {
  const PixelValues values =
      pixel_values(in, weights_, context.field_order != FieldOrder::progressive);
  if (params_.surround == Surround::ignore) surround_.follow(values, context.pts_ns);
  executor_.for_rows(desc_.height, [&](int begin, int end, int slot) {
    for (int y = begin; y < end; ++y)
      count_row(in, values, y, *scratch_[static_cast<std::size_t>(slot)]);
  });
  included_ = counts;
  const int dark = surround::dark_level(weights_.luma_max);
  for (const auto& scratch : scratch_) {
    loops_.fold({scratch->outside, nullptr}, scratch->outside_counts);
    loops_.fold({scratch->around, nullptr}, scratch->around_counts);
    for (std::size_t v = 0; v < included_.size(); ++v) {
      included_[v] -= scratch->outside_counts[v];
      if (static_cast<int>(v) <= dark) included_[v] -= scratch->around_counts[v];
    }
    scratch->outside_counts.fill(0);
    scratch->around_counts.fill(0);
  }
  if (std::all_of(included_.begin(), included_.end(), [](std::uint32_t n) { return n == 0; })) {
    included_ = counts;
  }
  return included_;
}

void ExcludedPixels::count_row(const ConstImageView& in, const PixelValues& values, int y,
                               Scratch& scratch) const {
  const std::span<const Columns> outside = outside_.row(y);
  for (const Columns& run : outside)
    count_span(in, values, y, run, scratch.outside, scratch);
  if (params_.surround != Surround::ignore || !surround_.marks_any()) return;
  const surround::Grid& grid = surround_.grid();
  const std::uint8_t* marks = surround_.marks(y / grid.side);
  auto run = outside.begin();
  for (int column = 0; column < grid.columns; ++column) {
    if (marks[column] == 0) continue;
    const int first = column * grid.side;
    while (column < grid.columns && marks[column] != 0)
      ++column;
    const int end = std::min(column * grid.side, desc_.width);
    // Counts what of the marked blocks lies inside the region.
    int x = first;
    for (; run != outside.end() && run->begin < end; ++run) {
      if (run->begin > x) count_span(in, values, y, {x, run->begin}, scratch.around, scratch);
      x = std::max(x, run->end);
      if (run->end >= end) break;  // the run may reach into later blocks
    }
    if (x < end) count_span(in, values, y, {x, end}, scratch.around, scratch);
  }
}

void ExcludedPixels::count_span(const ConstImageView& in, const PixelValues& values, int y,
                                Columns span, SingleTables& tables, Scratch& scratch) const {
  const FormatTraits& t = traits(desc_.format);
  const Counters counters{tables, nullptr};
  // The loops must begin with a whole chroma sample.
  if (t.chroma_shift_x != 0 && span.begin % 2 != 0) {
    ++tables[0][static_cast<std::size_t>(values(span.begin, y))];
    if (++span.begin == span.end) return;
  }
  const auto n = static_cast<std::size_t>(span.end - span.begin);
  if (t.model == ColorModel::yuv) {
    const LumaRows rows{y, y};
    const auto cell = static_cast<std::size_t>(span.begin >> t.chroma_shift_x);
    const YuvRowIn row = scratch.line.read(loops_, in, values.chroma_row(y), rows, cell,
                                           (n + t.chroma_shift_x) >> t.chroma_shift_x);
    loops_.count_yuv(sampling_of_line(sampling_of(desc_.format), rows), weights_, row, n, row,
                     counters);
    return;
  }
  const std::uint8_t* row = in.row(0, y) + static_cast<std::ptrdiff_t>(span.begin) * t.step[0];
  loops_.count_pixels(rgb_layout(desc_.format), row, n, row, counters);
}

}  // namespace equalux

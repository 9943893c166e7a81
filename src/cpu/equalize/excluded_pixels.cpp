#include "src/cpu/equalize/excluded_pixels.h"

#include <algorithm>

namespace equalux {

ExcludedPixels::ExcludedPixels(const EqualizeParams& params, RowExecutor& executor)
    : params_(params), executor_(executor) {}

void ExcludedPixels::configure(const ImageDesc& desc, const YuvWeights& weights) {
  outside_ = RegionOutside(params_.region, desc);
  desc_ = desc;
  weights_ = weights;
  surround_.configure(desc.width, desc.height, weights.luma_max, traits(desc.format).depth);
}

void ExcludedPixels::update(const EqualizeParams& params) {
  if (desc_.width != 0) {
    if (params.region != params_.region) outside_ = RegionOutside(params.region, desc_);
    // The surround is unknown after frames without tracking.
    if (params.surround != params_.surround) surround_.reset();
  }
  params_ = params;
}

void ExcludedPixels::count_spans(const ConstImageView& in, const FrameContext& context,
                                 CountSpan count) {
  const PixelValues values =
      pixel_values(in, weights_, context.field_order != FieldOrder::progressive);
  if (params_.surround == Surround::ignore) surround_.follow(values, context.pts_ns);
  executor_.for_rows(desc_.height, [&](int begin, int end, int slot) {
    for (int y = begin; y < end; ++y)
      count_row(values, y, slot, count);
  });
}

void ExcludedPixels::count_row(const PixelValues& values, int y, int slot, CountSpan count) const {
  const std::span<const Columns> outside = outside_.row(y);
  for (const Columns& run : outside)
    count(values, y, run, SpanKind::outside, slot);
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
      if (run->begin > x) count(values, y, {x, run->begin}, SpanKind::around, slot);
      x = std::max(x, run->end);
      if (run->end >= end) break;  // the run may reach into later blocks
    }
    if (x < end) count(values, y, {x, end}, SpanKind::around, slot);
  }
}

}  // namespace equalux

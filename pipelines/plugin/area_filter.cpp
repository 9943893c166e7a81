#include "pipelines/plugin/area_filter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <equalux/error.h>

#include "src/common/log.h"
#include "src/format/layout.h"

namespace equalux::gst {

namespace {

int round_down(int value, int step) {
  return value - value % step;
}

/// Returns the pixels and rows that must stay together: those of one chroma sample, which in an
/// interlaced 4:2:0 frame covers rows of one field.
std::pair<int, int> cell_of(const ImageDesc& desc, FieldOrder field_order) {
  const FormatTraits& t = traits(desc.format);
  const bool fields = t.chroma_shift_y > 0 && field_order != FieldOrder::progressive;
  return {1 << t.chroma_shift_x, (1 << t.chroma_shift_y) * (fields ? 2 : 1)};
}

/// Returns begin and length of a side, cut to `size` and extended to whole cells.
std::pair<int, int> fit_side(int begin, int length, int size, int cell) {
  const auto end = std::min<std::int64_t>(std::int64_t{begin} + std::max(length, 0), size);
  const int first = round_down(std::clamp(begin, 0, size), cell);
  if (end <= std::max(begin, 0)) return {first, 0};
  const auto last = std::min<std::int64_t>((end + cell - 1) / cell * cell, size);
  return {first, static_cast<int>(last) - first};
}

/// Returns a view of the pixels of a rectangle that comes from fit().
template <typename View>
View part_of(const View& view, const Rect& rect) {
  return equalux::part_of(view, rect.x, rect.y, rect.width, rect.height);
}

}  // namespace

Rect fit(const Rect& rect, const ImageDesc& desc, FieldOrder field_order) {
  const auto [cell_x, cell_y] = cell_of(desc, field_order);
  const auto [x, width] = fit_side(rect.x, rect.width, desc.width, cell_x);
  const auto [y, height] = fit_side(rect.y, rect.height, desc.height, cell_y);
  return {x, y, width, height};
}

AreaFilter::AreaFilter(RecipePtr recipe, MakeFilter make, const LeaveFrame& leave)
    : recipe_(std::move(recipe)), make_(std::move(make)), leave_(leave), whole_(make_(*recipe_)) {}

void AreaFilter::replace(RecipePtr recipe) {
  if (desc_.width > 0 && recipe->retune(*whole_)) {
    const bool all = std::all_of(regional_.begin(), regional_.end(), [&](const RegionFilter& each) {
      return each.filter && recipe->retune(*each.filter);
    });
    recipe_ = std::move(recipe);
    if (!all) regional_.clear();
    return;
  }
  std::unique_ptr<Filter> whole = make_(*recipe);
  if (desc_.width > 0) whole->configure(desc_);
  recipe_ = std::move(recipe);
  whole_ = std::move(whole);
  regional_.clear();
}

ImageDesc AreaFilter::configure(const ImageDesc& input) {
  const ImageDesc output = whole_->configure(input);
  desc_ = input;
  regional_.clear();
  return output;
}

void AreaFilter::reset() {
  whole_->reset();
  for (RegionFilter& each : regional_)
    if (each.filter) each.filter->reset();
}

Filter* AreaFilter::region_filter(std::size_t index, const ImageDesc& desc) {
  if (index == regional_.size()) regional_.emplace_back();
  RegionFilter& each = regional_[index];
  if (each.desc == desc) return each.filter.get();
  try {
    if (!each.filter) each.filter = make_(*recipe_);
    each.filter->configure(desc);
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage) throw;
    // A region comes from detection in a picture, so one that does not fit is no error of the
    // pipeline.
    each.filter.reset();
    if (!std::exchange(told_, true)) {
      logger().warn("a region of {}x{} stays as it was: {}", desc.width, desc.height, error.what());
    }
  }
  each.desc = desc;
  return each.filter.get();
}

void AreaFilter::leave(const ConstImageView& in, const ImageView& out, void* stream) const {
  if (recipe_->output_format()) {
    leave_.clear(out, stream);
  } else {
    leave_.copy(in, out, stream);
  }
}

void AreaFilter::submit(const ConstImageView& in, const ImageView& out, FrameContext& context) {
  if (areas_.regions_only) {
    leave(in, out, context.stream);
    std::size_t index = 0;
    for (const Rect& each : areas_.regions) {
      const Rect rect = fit(each, in.desc, context.field_order);
      if (rect.width == 0 || rect.height == 0) continue;
      const ConstImageView from = part_of(in, rect);
      Filter* const filter = region_filter(index++, from.desc);
      if (filter != nullptr) filter->submit(from, part_of(out, rect), context);
    }
  } else {
    whole_->submit(in, out, context);
  }
  if (areas_.split <= 0) return;
  const int columns = static_cast<int>(std::lround(areas_.split * in.desc.width));
  const Rect kept = fit({0, 0, columns, in.desc.height}, in.desc, context.field_order);
  if (kept.width > 0) leave(part_of(in, kept), part_of(out, kept), context.stream);
}

}  // namespace equalux::gst

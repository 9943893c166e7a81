#include "src/cpu/equalize/excluded_pixels.h"

#include <algorithm>
#include <numeric>

namespace equalux {

/// What one thread owns.
struct ExcludedPixels::Scratch {
  alignas(64) SingleTables outside{};  // of the region
  alignas(64) SingleTables around{};   // in blocks of the surround, bright pixels too
  ValueHistogram outside_counts{};
  ValueHistogram around_counts{};
  std::vector<std::uint8_t> luma;  // unpacked spans of interleaved formats
  std::vector<std::uint8_t> cb;
  std::vector<std::uint8_t> cr;
  std::vector<std::uint8_t> chroma;
};

ExcludedPixels::ExcludedPixels(const EqualizeParams& params, RowExecutor& executor,
                               const RowKernels& kernels)
    : params_(params), executor_(executor), kernels_(kernels) {}

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
    // What was not looked at in between is not known any more.
    if (params.surround != params_.surround) surround_.reset();
    if (leaves_out(params) && scratch_.empty()) make_scratch();
  }
  params_ = params;
}

void ExcludedPixels::make_scratch() {
  const auto width = static_cast<std::size_t>(desc_.width);
  for (int slot = 0; slot < executor_.threads(); ++slot) {
    auto scratch = std::make_unique<Scratch>();
    if (traits(desc_.format).model == ColorModel::yuv) {
      for (auto* row : {&scratch->luma, &scratch->cb, &scratch->cr, &scratch->chroma})
        row->resize(width + 2);
    }
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
    kernels_.fold({scratch->outside, nullptr}, scratch->outside_counts);
    kernels_.fold({scratch->around, nullptr}, scratch->around_counts);
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
    // Of the marked blocks what lies within the region.
    int x = first;
    for (; run != outside.end() && run->begin < end; ++run) {
      if (run->begin > x) count_span(in, values, y, {x, run->begin}, scratch.around, scratch);
      x = std::max(x, run->end);
      if (run->end >= end) break;  // it may reach into the blocks after these
    }
    if (x < end) count_span(in, values, y, {x, end}, scratch.around, scratch);
  }
}

void ExcludedPixels::count_span(const ConstImageView& in, const PixelValues& values, int y,
                                Columns span, SingleTables& tables, Scratch& scratch) const {
  const FormatTraits& t = traits(desc_.format);
  const Counters counters{tables, nullptr};
  // The kernels begin with whole chroma samples.
  if (t.chroma_shift_x != 0 && span.begin % 2 != 0) {
    ++tables[0][static_cast<std::size_t>(values(span.begin, y))];
    if (++span.begin == span.end) return;
  }
  const auto n = static_cast<std::size_t>(span.end - span.begin);
  if (t.model == ColorModel::yuv) {
    const YuvRowIn row = yuv_span(in, values, y, span, scratch);
    kernels_.count_yuv(t.chroma_shift_x != 0 ? YuvLayout::s422 : YuvLayout::s444, weights_, row, n,
                       row, counters);
    return;
  }
  const std::uint8_t* row = in.row(0, y) + static_cast<std::ptrdiff_t>(span.begin) * t.step[0];
  switch (t.step[0]) {
    case 1:
      kernels_.count_gray(row, n, row, counters);
      break;
    case 3:
      kernels_.count_rgb3(row, n, row, counters);
      break;
    default:
      kernels_.count_rgb4(row, n, t.color_offset, row, counters);
      break;
  }
}

YuvRowIn ExcludedPixels::yuv_span(const ConstImageView& in, const PixelValues& values, int y,
                                  Columns span, Scratch& scratch) const {
  const std::size_t pairs = (static_cast<std::size_t>(span.end - span.begin) + 1) / 2;
  std::uint8_t* luma = scratch.luma.data();
  std::uint8_t* cb = scratch.cb.data();
  std::uint8_t* cr = scratch.cr.data();
  std::uint8_t* chroma = scratch.chroma.data();
  if (traits(desc_.format).planes == 1) {
    const std::uint8_t* row = in.row(0, y) + 2 * static_cast<std::ptrdiff_t>(span.begin);
    const bool luma_first = desc_.format == PixelFormat::yuy2;
    kernels_.split(row, 2 * pairs, luma_first ? luma : chroma, luma_first ? chroma : luma);
    kernels_.split(chroma, pairs, cb, cr);
    return {{luma, luma}, cb, cr};
  }
  const std::uint8_t* row = in.row(0, y) + span.begin;
  const int chroma_row = chroma_row_of(y, values.shift_y, values.chroma_rows, values.interlaced);
  const int column = span.begin >> values.shift_x;
  if (desc_.format == PixelFormat::nv12) {
    kernels_.split(in.row(1, chroma_row) + 2 * static_cast<std::ptrdiff_t>(column), pairs, cb, cr);
    return {{row, row}, cb, cr};
  }
  return {{row, row}, in.row(1, chroma_row) + column, in.row(2, chroma_row) + column};
}

}  // namespace equalux

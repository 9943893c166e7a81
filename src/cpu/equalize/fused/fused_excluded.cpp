#include "src/cpu/equalize/fused/fused_excluded.h"

#include <algorithm>

#include "src/cpu/equalize/fused/planar_line.h"

namespace equalux {

/// Memory of one thread.
struct FusedExcluded::Scratch {
  alignas(64) SingleTables outside{};
  alignas(64) SingleTables around{};  // bright pixels included
  ValueHistogram outside_counts{};
  ValueHistogram around_counts{};
  PlanarLine line;
};

FusedExcluded::FusedExcluded(const FusedRows& loops) : loops_(loops) {}

FusedExcluded::~FusedExcluded() = default;

void FusedExcluded::clear() {
  scratch_.clear();
}

void FusedExcluded::configure(const ImageDesc& desc, const YuvWeights& weights, int threads) {
  desc_ = desc;
  weights_ = weights;
  scratch_.clear();
  for (int slot = 0; slot < threads; ++slot) {
    auto scratch = std::make_unique<Scratch>();
    if (traits(desc_.format).model == ColorModel::yuv) scratch->line.configure(desc_);
    scratch_.push_back(std::move(scratch));
  }
}

const ValueHistogram& FusedExcluded::included(ExcludedPixels& excluded,
                                              const ValueHistogram& counts,
                                              const ConstImageView& in,
                                              const FrameContext& context) {
  excluded.count_spans(
      in, context, [&](const PixelValues& values, int y, Columns span, SpanKind kind, int slot) {
        count(in, values, y, span, kind, *scratch_[static_cast<std::size_t>(slot)]);
      });
  included_ = counts;
  const int dark = excluded.dark_level();
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

void FusedExcluded::count(const ConstImageView& in, const PixelValues& values, int y, Columns span,
                          SpanKind kind, Scratch& scratch) const {
  const FormatTraits& t = traits(desc_.format);
  SingleTables& tables = kind == SpanKind::outside ? scratch.outside : scratch.around;
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

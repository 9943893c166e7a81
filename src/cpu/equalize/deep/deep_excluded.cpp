#include "src/cpu/equalize/deep/deep_excluded.h"

#include <algorithm>

#include "src/format/layout.h"

namespace equalux {
namespace {

/// Row of YCbCr from chroma sample `cell` on.
YuvRowIn from_cell(const ConstImageView& in, YuvRowIn row, const FormatTraits& format, int cell) {
  row.luma[0] += (std::ptrdiff_t{cell} << format.chroma_shift_x) * samples_of(in, 0).step;
  row.luma[1] = row.luma[0];
  row.cb += std::ptrdiff_t{cell} * samples_of(in, 1).step;
  row.cr += std::ptrdiff_t{cell} * samples_of(in, 2).step;
  return row;
}

}  // namespace

void DeepExcluded::configure(const ImageDesc& desc, const DeepSamples& form, int threads) {
  desc_ = desc;
  form_ = form;
  const auto levels = static_cast<std::size_t>(form.weights.luma_max) + 1;
  const std::vector<std::uint32_t> zeros(levels);
  scratch_.assign(static_cast<std::size_t>(threads), {{zeros, zeros}, {zeros, zeros}});
  included_ = zeros;
}

const std::vector<std::uint32_t>& DeepExcluded::included(ExcludedPixels& excluded,
                                                         const std::vector<std::uint32_t>& counts,
                                                         const ConstImageView& in,
                                                         const FrameContext& context) {
  excluded.count_spans(
      in, context, [&](const PixelValues& values, int y, Columns span, SpanKind kind, int slot) {
        Scratch& scratch = scratch_[static_cast<std::size_t>(slot)];
        count(in, values, y, span, kind == SpanKind::outside ? scratch.outside : scratch.around);
      });
  std::copy(counts.begin(), counts.end(), included_.begin());
  const auto leave_out = [&](Tables& tables, std::size_t values) {
    for (std::size_t v = 0; v < values; ++v)
      included_[v] -= tables.even[v] + tables.odd[v];
    std::fill(tables.even.begin(), tables.even.end(), 0);
    std::fill(tables.odd.begin(), tables.odd.end(), 0);
  };
  for (Scratch& scratch : scratch_) {
    leave_out(scratch.outside, included_.size());
    leave_out(scratch.around, static_cast<std::size_t>(excluded.dark_level()) + 1);
  }
  if (std::all_of(included_.begin(), included_.end(), [](std::uint32_t n) { return n == 0; })) {
    std::copy(counts.begin(), counts.end(), included_.begin());
  }
  return included_;
}

void DeepExcluded::count(const ConstImageView& in, const PixelValues& values, int y, Columns span,
                         Tables& tables) const {
  const FormatTraits& t = traits(desc_.format);
  // The loops must begin with a whole chroma sample.
  if (t.chroma_shift_x != 0 && span.begin % 2 != 0) {
    ++tables.even[static_cast<std::size_t>(values(span.begin, y))];
    if (++span.begin == span.end) return;
  }
  const DeepCounters counters{{tables.even.data(), tables.odd.data()}};
  const auto n = static_cast<std::size_t>(span.end - span.begin);
  if (t.model == ColorModel::yuv) {
    const YuvRowIn row = from_cell(in, yuv_row_of(in, values.chroma_row(y), LumaRows{y, y}), t,
                                   span.begin >> t.chroma_shift_x);
    return loops_.count_yuv({form_, deep_chroma_of(t), 1}, row, n, counters);
  }
  const std::uint8_t* row = in.row(0, y) + std::ptrdiff_t{span.begin} * t.step[0];
  if (t.model == ColorModel::gray) return loops_.count_gray(form_, row, n, counters);
  loops_.count_rgb(form_, rgb_layout(desc_.format), row, n, counters);
}

}  // namespace equalux

#include "src/cpu/equalize/deep_chain.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "src/common/stage_clock.h"
#include "src/common/with_constant.h"
#include "src/equalize/fixed_curve.h"
#include "src/format/layout.h"

namespace equalux {
namespace {

// Rows have no alignment.
std::uint32_t load(const std::uint8_t* at) {
  std::uint16_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

void store(std::uint8_t* at, std::uint16_t word) {
  std::memcpy(at, &word, sizeof word);
}

template <int kN>
using Constant = std::integral_constant<int, kN>;

template <typename View>
auto yuv_row(const View& view, int row, LumaRows rows) {
  return YuvRow<std::remove_pointer_t<decltype(view.row(0, 0))>>{
      {view.row(0, rows.first), view.row(0, rows.second)},
      samples_of(view, 1).row(row),
      samples_of(view, 2).row(row)};
}

/// What a chroma sample says of its luma samples.
struct Chroma {
  std::int32_t u;
  std::int32_t w;
  std::int32_t above;
};

Chroma read_chroma(const DeepSamples& form, const YuvRowIn& in, std::size_t at) {
  const std::int32_t u = deep_code(form, load(in.cb + at)) - form.chroma_middle;
  const std::int32_t w = deep_code(form, load(in.cr + at)) - form.chroma_middle;
  return {u, w, deep_value_above_luma(form.weights, u, w)};
}

/// The frame's chroma rows: each is given to `use` with the number of its luma rows, 1 or 2, as a
/// constant.
template <typename Use>
void with_luma_rows(const ImageDesc& desc, bool interlaced, int row, Use use) {
  const LumaRows rows = luma_rows_of(sampling_of(desc.format), row, desc.height, interlaced);
  with_constant<1, 2>(rows.first == rows.second ? 1 : 2, [&](auto count) { use(rows, count); });
}

/// Columns of chroma, each given to `use` with its luma column and the number of those, 1 or 2.
template <typename Use>
void for_each_cell(std::size_t width, int chroma_shift_x, Use use) {
  if (chroma_shift_x == 0) {
    for (std::size_t x = 0; x < width; ++x)
      use(x, x, Constant<1>{});
    return;
  }
  for (std::size_t c = 0; c < width / 2; ++c)
    use(c, 2 * c, Constant<2>{});
  if (width % 2 != 0) use(width / 2, width - 1, Constant<1>{});
}

/// The form with its depth known to the compiler: shifts by constants are half the work.
template <int kDepth>
DeepSamples with_depth(DeepSamples form) {
  form.depth = kDepth;
  form.most = (1 << kDepth) - 1;
  form.chroma_middle = 1 << (kDepth - 1);
  return form;
}

constexpr int log2_of(int count) {
  return count == 4 ? 2 : count - 1;
}

/// Counters of a thread, taken in turn.
struct TurnCounters {
  std::uint32_t* tables[2];

  void count(std::size_t turn, std::int32_t v) const { ++tables[turn % 2][v]; }
};

void count_gray(DeepSamples form, const std::uint8_t* row, std::size_t width,
                const TurnCounters& counters) {
  for (std::size_t x = 0; x < width; ++x)
    counters.count(x, deep_code(form, load(row + 2 * x)));
}

void count_rgb(DeepSamples form, RgbLayout pixel, const std::uint8_t* row, std::size_t width,
               const TurnCounters& counters) {
  const std::uint8_t* at = row + pixel.first();
  for (std::size_t x = 0; x < width; ++x, at += pixel.step)
    counters.count(x, deep_code(form, std::max({load(at), load(at + 2), load(at + 4)})));
}

template <int kRows>
void count_yuv(DeepSamples form, const FormatTraits& format, const YuvRowIn& in, std::size_t width,
               const TurnCounters& counters) {
  const auto step = static_cast<std::size_t>(format.step[1]);
  for_each_cell(width, format.chroma_shift_x, [&](std::size_t c, std::size_t x, auto columns) {
    const Chroma chroma = read_chroma(form, in, c * step);
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t i = 0; i < columns; ++i) {
        const std::int32_t luma = deep_code(form, load(in.luma[r] + 2 * (x + i)));
        counters.count(i + r, yuv_value(form.weights, luma, chroma.above));
      }
    }
  });
}

void apply_gray(DeepSamples form, const std::uint16_t* words, const std::uint8_t* in,
                std::uint8_t* out, std::size_t width) {
  for (std::size_t x = 0; x < width; ++x)
    store(out + 2 * x, words[deep_code(form, load(in + 2 * x))]);
}

void apply_rgb(DeepSamples form, RgbLayout pixel, const std::uint64_t* gains,
               const std::uint8_t* in, std::uint8_t* out, std::size_t width) {
  const int first = pixel.first();
  for (std::size_t x = 0; x < width; ++x, in += pixel.step, out += pixel.step) {
    std::int32_t c[3];
    for (int i = 0; i < 3; ++i)
      c[i] = deep_code(form, load(in + first + 2 * i));
    const std::uint64_t gain = gains[std::max({c[0], c[1], c[2]})];
    for (int i = 0; i < 3; ++i)
      store(out + first + 2 * i, deep_word(form, deep_scaled(c[i], gain, form.depth)));
    if (pixel.alpha >= 0) std::memmove(out + pixel.alpha, in + pixel.alpha, 2);
  }
}

template <int kRows, int kDepth>
void apply_yuv(const DeepSamples& any_depth, const FormatTraits& format, const std::uint64_t* gains,
               const YuvRowIn& in, const YuvRowOut& out, std::size_t width) {
  const DeepSamples form = with_depth<kDepth>(any_depth);
  const auto step = static_cast<std::size_t>(format.step[1]);
  const std::uint64_t one = deep_gain_one(form.depth);
  for_each_cell(width, format.chroma_shift_x, [&](std::size_t c, std::size_t x, auto columns) {
    const Chroma chroma = read_chroma(form, in, c * step);
    std::int64_t sum = 0;
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t i = 0; i < columns; ++i) {
        const std::size_t at = 2 * (x + i);
        const std::int32_t luma = deep_code(form, load(in.luma[r] + at));
        const std::int32_t v = yuv_value(form.weights, luma, chroma.above);
        const std::uint64_t gain = luma < form.weights.luma_offset ? one : gains[v];
        store(out.luma[r] + at, deep_word(form, deep_scaled_luma(form, luma, gain)));
        sum += deep_gain_share(gain);
      }
    }
    constexpr int kCount = log2_of(kRows * columns);
    store(out.cb + c * step, deep_word(form, deep_scaled_chroma(form, chroma.u, sum, kCount)));
    store(out.cr + c * step, deep_word(form, deep_scaled_chroma(form, chroma.w, sum, kCount)));
  });
}

}  // namespace

void make_deep_curve(const std::vector<std::uint32_t>& counts,
                     const std::vector<std::uint32_t>& bin_ends, Scaler scaler,
                     std::vector<std::uint32_t>& levels) {
  // First the cumulative sums, which give way to the curve from the darkest on: a bin's end is
  // never below its values, and read for the last time there.
  std::uint32_t sum = 0;
  std::uint32_t darkest = 0;
  for (std::size_t v = 0; v < counts.size(); ++v) {
    if (sum == 0) darkest = static_cast<std::uint32_t>(v);
    levels[v] = sum += counts[v];
  }
  const CurveScale scale = curve_scale(scaler, levels[bin_ends[0]], levels[bin_ends[darkest]], sum);
  const auto max_value = static_cast<std::uint32_t>(counts.size() - 1);
  const double half_inverse = 0.5 / static_cast<double>(scale.span);  // not read where span is 0
  for (std::size_t v = 0; v < counts.size(); ++v) {
    levels[v] = deep_curve_level(scale, levels[bin_ends[v]], static_cast<std::uint32_t>(v),
                                 max_value, half_inverse);
  }
}

struct DeepChain::Job {
  const ConstImageView& in;
  const ImageView& out;
  bool interlaced;
};

DeepChain::DeepChain(const EqualizeParams& params, RowExecutor& executor)
    : CurveChain(params), executor_(executor) {}

std::size_t DeepChain::levels() const {
  return static_cast<std::size_t>(form_.weights.luma_max) + 1;
}

void DeepChain::configure(const ImageDesc& desc) {
  desc_ = desc;
  form_ = deep_samples(desc, params_.space);
  counts_.assign(levels(), 0);
  curve_.assign(levels(), 0);
  gains_.assign(levels(), deep_gain_one(form_.depth));
  words_.assign(levels(), 0);
  bin_ends_.resize(levels());
  start_curves(static_cast<int>(coarse_max(form_)));
  scratch_.assign(static_cast<std::size_t>(executor_.threads()),
                  {std::vector<std::uint32_t>(levels()), std::vector<std::uint32_t>(levels())});
}

void DeepChain::set_bins() {
  const int bins = deep_bins(params_.bins, form_.depth);
  for (std::size_t v = 0; v < levels(); ++v)
    bin_ends_[v] = last_of_bin(static_cast<std::uint32_t>(v), bins, form_.weights.luma_max);
  CurveChain::set_bins();
}

void DeepChain::fix_curve() {
  curve_ = deep_curve_table(*params_.curve, form_.weights.luma_max);
  std::fill(counts_.begin(), counts_.end(), 1);  // any value may come
  make_gains();
}

void DeepChain::process(const ConstImageView& in, const ImageView& out,
                        const FrameContext& context) {
  StageClock clock(context.timings);
  const Job job{in, out, context.field_order != FieldOrder::progressive};
  const bool yuv = traits(desc_.format).model == ColorModel::yuv;
  const int rows = yuv ? plane_rows(desc_, 1) : desc_.height;
  if (!params_.curve) {
    executor_.for_rows(rows, [&](int begin, int end, int slot) {
      count_rows(job, begin, end, scratch_[static_cast<std::size_t>(slot)]);
    });
    sum_histograms();
    clock.lap("histogram");
    make_curve(context);
    make_gains();
    clock.lap("curve");
  }
  executor_.for_rows(rows, [&](int begin, int end, int) { apply_rows(job, begin, end); });
  clock.lap("apply");
}

void DeepChain::sum_histograms() {
  std::fill(counts_.begin(), counts_.end(), 0);
  for (Scratch& scratch : scratch_) {
    for (std::size_t v = 0; v < levels(); ++v)
      counts_[v] += scratch.even[v] + scratch.odd[v];
    std::fill(scratch.even.begin(), scratch.even.end(), 0);
    std::fill(scratch.odd.begin(), scratch.odd.end(), 0);
  }
}

void DeepChain::make_curve(const FrameContext& context) {
  if (control_.active()) {
    shape_curve(control_.next(context));
  } else {
    make_deep_curve(counts_, bin_ends_, params_.scaler, curve_);
    if (collector_.active()) collector_.add_deep(form_, curve_);
  }
}

void DeepChain::shape_curve(const tone::Frame& frame) {
  ValueHistogram coarse{};
  for (std::size_t v = 0; v < levels(); ++v)
    coarse[coarse_level(form_, static_cast<std::uint32_t>(v))] += counts_[v];
  const CurveTable& curve = curves_.make(coarse, frame);
  if (collector_.active()) collector_.add(curve);
  for (std::size_t v = 0; v < levels(); ++v) {
    if (counts_[v] == 0) continue;
    curve_[v] = deep_level_between(form_, curve.data(), static_cast<std::uint32_t>(v));
  }
}

void DeepChain::make_gains() {
  if (traits(desc_.format).model == ColorModel::gray) {
    // A sample is its own v, which its gain would only be divided by and multiplied with.
    constexpr std::uint32_t kHalf = 1 << (kDeepCurveBits - 1);
    for (std::size_t v = 1; v < levels(); ++v) {
      words_[v] =
          deep_word(form_, static_cast<std::int32_t>((curve_[v] + kHalf) >> kDeepCurveBits));
    }
    return;
  }
  for (std::size_t v = 1; v < levels(); ++v) {
    if (counts_[v] == 0) continue;  // Nobody looks there, and a division is what this loop costs.
    gains_[v] = deep_gain(curve_[v], static_cast<std::uint32_t>(v), form_.depth);
  }
}

void DeepChain::count_rows(const Job& job, int begin, int end, Scratch& scratch) const {
  const FormatTraits& format = traits(desc_.format);
  const auto width = static_cast<std::size_t>(desc_.width);
  const TurnCounters counters{{scratch.even.data(), scratch.odd.data()}};
  for (int y = begin; y < end; ++y) {
    switch (format.model) {
      case ColorModel::gray:
        count_gray(form_, job.in.row(0, y), width, counters);
        break;
      case ColorModel::rgb:
        count_rgb(form_, rgb_layout(desc_.format), job.in.row(0, y), width, counters);
        break;
      default:
        with_luma_rows(desc_, job.interlaced, y, [&](LumaRows rows, auto count) {
          count_yuv<count>(form_, format, yuv_row(job.in, y, rows), width, counters);
        });
    }
  }
}

void DeepChain::apply_rows(const Job& job, int begin, int end) const {
  const FormatTraits& format = traits(desc_.format);
  const auto width = static_cast<std::size_t>(desc_.width);
  for (int y = begin; y < end; ++y) {
    switch (format.model) {
      case ColorModel::gray:
        apply_gray(form_, words_.data(), job.in.row(0, y), job.out.row(0, y), width);
        break;
      case ColorModel::rgb:
        apply_rgb(form_, rgb_layout(desc_.format), gains_.data(), job.in.row(0, y),
                  job.out.row(0, y), width);
        break;
      default:
        with_luma_rows(desc_, job.interlaced, y, [&](LumaRows rows, auto count) {
          with_constant<10, 12, 16>(form_.depth, [&](auto depth) {
            apply_yuv<count, depth>(form_, format, gains_.data(), yuv_row(job.in, y, rows),
                                    yuv_row(job.out, y, rows), width);
          });
        });
    }
  }
}

}  // namespace equalux

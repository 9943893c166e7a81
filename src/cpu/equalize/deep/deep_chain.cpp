#include "src/cpu/equalize/deep/deep_chain.h"

#include <algorithm>

#include "src/common/stage_clock.h"
#include "src/equalize/fixed_curve.h"
#include "src/format/layout.h"

namespace equalux {

void make_deep_curve(const std::vector<std::uint32_t>& counts,
                     const std::vector<std::uint32_t>& bin_ends, Scaler scaler,
                     const DeepRows& loops, std::vector<std::uint32_t>& levels) {
  std::uint32_t sum = 0;
  for (std::size_t v = 0; v < counts.size(); ++v)
    levels[v] = sum += counts[v];
  const auto darkest = static_cast<std::size_t>(
      std::find_if(counts.begin(), counts.end(), [](std::uint32_t count) { return count != 0; }) -
      counts.begin());
  // Sums are read before they are overwritten, as the end of a bin is never below its levels.
  for (std::size_t v = 0; v < bin_ends.size(); ++v)
    levels[v] = levels[bin_ends[v]];
  const CurveScale scale = curve_scale(scaler, levels[0], levels[darkest], sum);
  loops.curve_levels(scale, static_cast<std::uint32_t>(counts.size() - 1), levels.data());
}

struct DeepChain::Job {
  const ConstImageView& in;
  const ImageView& out;
  bool interlaced;
  Dither dither;
  Stores stores;
};

DeepChain::DeepChain(const EqualizeParams& params, RowExecutor& executor, const DeepRows& loops)
    : CurveChain(params), executor_(executor), loops_(loops), not_counted_(loops), colours_(loops) {
  excluded_ = std::make_unique<ExcludedPixels>(params, executor);
}

std::size_t DeepChain::levels() const {
  return static_cast<std::size_t>(form_.weights.luma_max) + 1;
}

void DeepChain::round_to(std::optional<PixelFormat> format) {
  rounder_.reset();
  if (format) rounder_.emplace(*format);
}

void DeepChain::configure(const ImageDesc& desc) {
  desc_ = desc;
  form_ = deep_samples(desc, params_.space);
  excluded_->configure(desc, form_.weights);
  not_counted_.clear();
  if (excluded_->active()) not_counted_.configure(desc, form_, executor_.threads());
  counts_.assign(levels(), 0);
  gains_.resize(form_);
  colours_.configure(desc);
  if (params_.space == Space::luma) {
    colours_.prepare();
  } else {
    saturation_.resize(form_);
  }
  bin_ends_.reserve(levels());
  start_curves(static_cast<int>(coarse_max(form_)));
  scratch_.assign(
      static_cast<std::size_t>(executor_.threads()),
      {std::vector<std::uint32_t>(levels()), std::vector<std::uint32_t>(levels()), {}, {}});
  if (!rounder_) return;
  const std::size_t row = row_bytes(desc, 0);
  for (Scratch& each : scratch_) {
    each.fine.resize((traits(desc.format).model == ColorModel::yuv ? 4 : 1) * row);
    each.levels.resize(2 * row);
  }
}

void DeepChain::update(const EqualizeParams& params) {
  CurveChain::update(params);
  if (desc_.width != 0 && excluded_->active() && !not_counted_.configured())
    not_counted_.configure(desc_, form_, executor_.threads());
}

void DeepChain::set_bins() {
  const int bins = deep_bins(params_.bins, form_.depth);
  bin_ends_.resize(bins > form_.weights.luma_max ? 0 : levels());
  for (std::size_t v = 0; v < bin_ends_.size(); ++v)
    bin_ends_[v] = last_of_bin(static_cast<std::uint32_t>(v), bins, form_.weights.luma_max);
  CurveChain::set_bins();
}

void DeepChain::fix_curve() {
  gains_.curve = deep_curve_table(*params_.curve, form_.weights.luma_max);
  std::fill(counts_.begin(), counts_.end(), 1);  // any level may occur
  saturates_ = false;
  colours_.set({});
  make_gains();
}

void DeepChain::process(const ConstImageView& in, const ImageView& out,
                        const FrameContext& context) {
  StageClock clock(context.timings);
  const bool in_place = in.data[0] == out.data[0];
  const Job job{
      in, out, context.field_order != FieldOrder::progressive, context.dither,
      !in_place && tight_bytes(out.desc) > kStreamingBytes ? Stores::streaming : Stores::cached};
  const bool yuv = traits(desc_.format).model == ColorModel::yuv;
  const int rows = yuv ? plane_rows(desc_, 1) : desc_.height;
  if (!params_.curve) {
    executor_.for_rows(rows, [&](int begin, int end, int slot) {
      count_rows(job, begin, end, scratch_[static_cast<std::size_t>(slot)]);
    });
    sum_histograms();
    clock.lap("histogram");
    make_curve(in, context);
    make_gains();
    clock.lap("curve");
  }
  executor_.for_rows(rows, [&](int begin, int end, int slot) {
    if (rounder_) {
      apply_rounded(job, begin, end, scratch_[static_cast<std::size_t>(slot)]);
    } else {
      apply_rows(job, begin, end);
    }
  });
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

void DeepChain::make_curve(const ConstImageView& in, const FrameContext& context) {
  const std::vector<std::uint32_t>& included =
      excluded_->active() ? not_counted_.included(*excluded_, counts_, in, context) : counts_;
  saturates_ = false;
  if (control_.active()) {
    const tone::Frame frame = control_.next(context);
    saturates_ = params_.space != Space::luma && traits(desc_.format).model != ColorModel::gray &&
                 saturation::changes(frame.saturation);
    shape_curve(included, frame);
  } else {
    colours_.set({});
    make_deep_curve(included, bin_ends_, params_.scaler, loops_, gains_.curve);
    if (collector_.active()) collector_.add_deep(form_, gains_.curve);
  }
}

void DeepChain::shape_curve(const std::vector<std::uint32_t>& included, const tone::Frame& frame) {
  ValueHistogram coarse{};
  for (std::size_t v = 0; v < levels(); ++v)
    coarse[coarse_level(form_, static_cast<std::uint32_t>(v))] += included[v];
  const CurveTable& curve = curves_.make(coarse, frame);
  if (collector_.active()) collector_.add(curve);
  for (std::size_t v = 0; v < levels(); ++v) {
    if (counts_[v] == 0) continue;
    gains_.curve[v] = deep_level_between(form_, curve.data(), static_cast<std::uint32_t>(v));
  }
  if (saturates_) make_factors(frame.saturation, curve);
  if (params_.space == Space::luma) colours_.set(frame.saturation, curve.data());
}

void DeepChain::make_factors(const saturation::Rule& rule, const CurveTable& curve) {
  const std::uint32_t last = coarse_max(form_);
  CurveTable coarse{};
  for (std::uint32_t i = 0; i <= last; ++i)
    coarse[i] = saturation::factor_at(rule, curve.data(), i, last);
  saturation_.set_factors(form_, coarse.data());
}

void DeepChain::make_gains() {
  const ColorModel model = traits(desc_.format).model;
  if (model == ColorModel::gray) {
    make_gray_words(form_, gains_);
  } else if (saturates_) {
    make_lines(form_, model, counts_, gains_.curve, saturation_);
  } else {
    loops_.make_gains(form_, counts_, gains_);
  }
}

void DeepChain::scale_rgb(Stores stores, const std::uint8_t* in, std::uint8_t* out) const {
  const auto width = static_cast<std::size_t>(desc_.width);
  const RgbLayout at = rgb_layout(desc_.format);
  if (saturates_)
    return loops_.saturate_rgb(form_, at, gains_, saturation_, stores, in, width, out);
  loops_.apply_rgb(form_, at, gains_, stores, in, width, out);
}

void DeepChain::scale_yuv(Stores stores, LumaRows rows, const YuvRowIn& in,
                          const YuvRowOut& out) const {
  const auto width = static_cast<std::size_t>(desc_.width);
  const DeepYuvForm form = yuv_form(rows);
  if (saturates_) return loops_.saturate_yuv(form, gains_, saturation_, stores, in, width, out);
  loops_.apply_yuv(form, gains_, colours_.active() ? Stores::cached : stores, in, width, out);
  if (colours_.active()) colours_.apply_yuv(Stores::cached, form.rows, out, width, out);
}

void DeepChain::count_rows(const Job& job, int begin, int end, Scratch& scratch) const {
  const ColorModel model = traits(desc_.format).model;
  const auto width = static_cast<std::size_t>(desc_.width);
  const DeepCounters counters{{scratch.even.data(), scratch.odd.data()}};
  for (int y = begin; y < end; ++y) {
    if (model == ColorModel::gray) {
      loops_.count_gray(form_, job.in.row(0, y), width, counters);
    } else if (model == ColorModel::rgb) {
      loops_.count_rgb(form_, rgb_layout(desc_.format), job.in.row(0, y), width, counters);
    } else {
      const LumaRows rows = luma_rows(job, y);
      loops_.count_yuv(yuv_form(rows), yuv_row_of(job.in, y, rows), width, counters);
    }
  }
}

void DeepChain::apply_rows(const Job& job, int begin, int end) const {
  const ColorModel model = traits(desc_.format).model;
  const auto width = static_cast<std::size_t>(desc_.width);
  for (int y = begin; y < end; ++y) {
    if (model == ColorModel::gray) {
      loops_.apply_gray(form_, gains_, job.stores, job.in.row(0, y), width, job.out.row(0, y));
    } else if (model == ColorModel::rgb) {
      scale_rgb(job.stores, job.in.row(0, y), job.out.row(0, y));
    } else {
      const LumaRows rows = luma_rows(job, y);
      scale_yuv(job.stores, rows, yuv_row_of(job.in, y, rows), yuv_row_of(job.out, y, rows));
    }
  }
  loops_.flush_stores();
}

void DeepChain::apply_rounded(const Job& job, int begin, int end, Scratch& scratch) const {
  const ColorModel model = traits(desc_.format).model;
  const auto width = static_cast<std::size_t>(desc_.width);
  for (int y = begin; y < end; ++y) {
    if (model == ColorModel::yuv) {
      round_yuv(job, y, yuv_row_of(job.in, y, luma_rows(job, y)), scratch);
      continue;
    }
    if (model == ColorModel::gray) {
      loops_.apply_gray(form_, gains_, Stores::cached, job.in.row(0, y), width,
                        scratch.fine.data());
    } else {
      scale_rgb(Stores::cached, job.in.row(0, y), scratch.fine.data());
    }
    rounder_->round(0, y, scratch.fine.data(), row_bytes(desc_, 0) / 2, job.dither, job.stores,
                    job.out.row(0, y));
  }
  rounder_->flush_stores();
}

void DeepChain::round_yuv(const Job& job, int y, const YuvRowIn& in, Scratch& scratch) const {
  const auto width = static_cast<std::size_t>(desc_.width);
  const LumaRows rows = luma_rows(job, y);
  const std::size_t stride = row_bytes(desc_, 0);
  std::uint8_t* const first = scratch.fine.data();
  std::uint8_t* const second = rows.first == rows.second ? first : first + stride;
  const bool pairs = traits(desc_.format).planes == 2;
  const YuvRowOut fine{
      {first, second}, first + 2 * stride, pairs ? first + 2 * stride + 2 : first + 3 * stride};
  scale_yuv(Stores::cached, rows, in, fine);
  if (traits(job.out.desc.format).planes == 1) {
    rounder_->pack(y, {{first, second}, fine.cb, fine.cr}, width, job.dither, scratch.levels.data(),
                   job.out.row(0, y));
    return;
  }
  rounder_->round(0, rows.first, first, width, job.dither, job.stores, job.out.row(0, rows.first));
  if (second != first)
    rounder_->round(0, rows.second, second, width, job.dither, job.stores,
                    job.out.row(0, rows.second));
  for (int plane = 1; plane < traits(desc_.format).planes; ++plane) {
    rounder_->round(plane, y, plane == 1 ? fine.cb : fine.cr, row_bytes(desc_, plane) / 2,
                    job.dither, job.stores, job.out.row(plane, y));
  }
}

LumaRows DeepChain::luma_rows(const Job& job, int row) const {
  return luma_rows_of(sampling_of(desc_.format), row, desc_.height, job.interlaced);
}

DeepYuvForm DeepChain::yuv_form(LumaRows rows) const {
  return {form_, deep_chroma_of(traits(desc_.format)), rows.first == rows.second ? 1 : 2};
}

}  // namespace equalux

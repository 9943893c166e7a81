#include "src/cpu/equalize/fused/fused_chain.h"

#include <algorithm>

#include "src/common/stage_clock.h"
#include "src/cpu/equalize/fused/gain_tables.h"
#include "src/cpu/equalize/fused/planar_line.h"
#include "src/equalize/fixed_curve.h"
#include "src/equalize/opencv_curve.h"
#include "src/equalize/space.h"

namespace equalux {

/// Memory of one thread.
struct FusedChain::Scratch {
  alignas(64) SingleTables single{};
  std::unique_ptr<PairTables> pairs;  // null for small frames
  ValueHistogram folded{};

  Counters counters() { return {single, pairs.get()}; }
  PlanarLine line;
  std::vector<std::uint8_t> pixels;  // row of packed RGB before its saturation changes
};

struct FusedChain::Job {
  FusedChain* chain;
  const ConstImageView& in;
  const ImageView& out;
  Stores stores;
};

FusedChain::FusedChain(const EqualizeParams& params, RowExecutor& executor, const FusedRows& loops)
    : CurveChain(params),
      executor_(executor),
      loops_(loops),
      colours_(loops),
      not_counted_(loops),
      gains_(std::make_unique<GainTables>()) {
  excluded_ = std::make_unique<ExcludedPixels>(params, executor);
}

FusedChain::~FusedChain() = default;

void FusedChain::configure(const ImageDesc& desc) {
  desc_ = desc;
  sampling_ = sampling_of(desc.format);
  cells_ = cells_of(desc);
  const bool yuv = traits(desc.format).model == ColorModel::yuv;
  rgb_luma_ = params_.space == Space::luma && sampling_ == Sampling::rgb;
  weights_ = yuv ? space_weights(params_.space, desc) : YuvWeights{0, 255, 0, 0, 0, 0};
  excluded_->configure(desc, weights_);
  not_counted_.clear();
  if (excluded_->active()) not_counted_.configure(desc, weights_, executor_.threads());
  colours_.configure(desc);
  prepare_colours();
  start_curves(weights_.luma_max);
  scratch_.clear();
  for (int slot = 0; slot < executor_.threads(); ++slot) {
    auto scratch = std::make_unique<Scratch>();
    if (counts_pairs()) scratch->pairs = std::make_unique<PairTables>();
    if (yuv) scratch->line.configure(desc);
    if (rgb_luma_) scratch->pixels.resize(row_bytes(desc, 0));
    scratch_.push_back(std::move(scratch));
  }
}

LumaRows FusedChain::luma_rows(int row) const {
  return luma_rows_of(sampling_, row, desc_.height, interlaced_);
}

void FusedChain::process(const ConstImageView& in, const ImageView& out,
                         const FrameContext& context) {
  StageClock clock(context.timings);
  interlaced_ = context.field_order != FieldOrder::progressive;
  const bool in_place = in.data[0] == out.data[0];
  const Job job{
      this, in, out,
      !in_place && tight_bytes(desc_) > kStreamingBytes ? Stores::streaming : Stores::cached};
  if (!params_.curve) {
    executor_.for_rows(cells_.rows, [&job](int begin, int end, int slot) {
      job.chain->count_rows(job, begin, end, slot);
    });
    sum_histograms();
    clock.lap("histogram");
    make_curve(in, context);
    clock.lap("curve");
  }
  executor_.for_rows(cells_.rows, [&job](int begin, int end, int slot) {
    job.chain->apply_rows(job, begin, end, slot);
  });
  clock.lap("apply");
}

void FusedChain::make_curve(const ConstImageView& in, const FrameContext& context) {
  const std::int32_t max_code = 255 - weights_.luma_offset;
  const ValueHistogram& included =
      excluded_->active() ? not_counted_.included(*excluded_, counts_, in, context) : counts_;
  saturates_ = false;
  colours_.set({});
  if (params_.compatible == Compatible::opencv) {
    opencv::make_levels(counts_, gains_->gray);
    gains_->step_gray();
    return;
  }
  if (!control_.active() && !rgb_luma_) {
    make_gains(counts_, included, params_.scaler, bins_, weights_.luma_max, max_code, loops_,
               *gains_);
    if (collector_.active()) collector_.add_plain(included, params_.scaler, bins_);
    return;
  }
  const tone::Frame frame = control_.next(context);
  const CurveTable& curve = curves_.make(included, frame);
  if (collector_.active()) collector_.add(curve);
  const ColorModel model = traits(desc_.format).model;
  if (params_.space == Space::luma) {
    colours_.set(frame.saturation, curve.data());
  } else {
    saturates_ = model != ColorModel::gray && saturation::changes(frame.saturation);
  }
  if (saturates_) {
    make_saturated_frame(frame.saturation, curve, counts_, weights_.luma_max, max_code,
                         rgb_layout(desc_.format).step, loops_, saturated_,
                         model == ColorModel::yuv ? gains_.get() : nullptr);
    return;
  }
  make_gains_of(counts_, curve);
}

void FusedChain::make_gains_of(const ValueHistogram& present, const CurveTable& curve) {
  if (rgb_luma_) return make_luma_gains(present, curve, loops_, *gains_);
  make_gains(present, curve, weights_.luma_max, 255 - weights_.luma_offset, loops_, *gains_);
}

void FusedChain::fix_curve() {
  saturates_ = false;
  colours_.set({});
  ValueHistogram all;
  all.fill(1);
  make_gains_of(all, curve_table(*params_.curve, weights_.luma_max));
}

/// Allocates for the second step of saturation, before frames need it.
void FusedChain::prepare_colours() {
  if (params_.space == Space::luma && params_.saturation != 1) colours_.prepare();
}

void FusedChain::update(const EqualizeParams& params) {
  CurveChain::update(params);
  prepare_colours();
  if (desc_.width != 0 && excluded_->active() && !not_counted_.configured())
    not_counted_.configure(desc_, weights_, executor_.threads());
}

void FusedChain::set_bins() {
  bins_ = params_.bins == 0 ? 256 : params_.bins;
  CurveChain::set_bins();
}

bool FusedChain::counts_pairs() const {
  const auto pixels =
      static_cast<std::size_t>(desc_.width) * static_cast<std::size_t>(desc_.height);
  return pixels / static_cast<std::size_t>(executor_.threads()) >= kPairsFrom;
}

void FusedChain::sum_histograms() {
  executor_.for_rows(executor_.threads(), [this](int begin, int end, int) {
    for (int slot = begin; slot < end; ++slot) {
      Scratch& scratch = *scratch_[static_cast<std::size_t>(slot)];
      loops_.fold(scratch.counters(), scratch.folded);
    }
  });
  counts_.fill(0);
  for (const auto& scratch : scratch_) {
    for (std::size_t v = 0; v < counts_.size(); ++v)
      counts_[v] += scratch->folded[v];
    scratch->folded.fill(0);
  }
}

void FusedChain::count_rows(const Job& job, int begin, int end, int slot) {
  Scratch& scratch = *scratch_[static_cast<std::size_t>(slot)];
  const FormatTraits& t = traits(desc_.format);
  const auto width = static_cast<std::size_t>(desc_.width);
  for (int y = begin; y < end; ++y) {
    if (t.model == ColorModel::yuv) {
      count_yuv_row(job, y, scratch);
      continue;
    }
    const std::uint8_t* in = job.in.row(0, y);
    const std::uint8_t* next = job.in.row(0, std::min(y + 1, desc_.height - 1));
    const RgbLayout at = rgb_layout(desc_.format);
    if (rgb_luma_) {
      loops_.count_luma(at, in, width, next, scratch.counters());
    } else {
      loops_.count_pixels(at, in, width, next, scratch.counters());
    }
  }
}

void FusedChain::apply_rows(const Job& job, int begin, int end, int slot) {
  const FormatTraits& t = traits(desc_.format);
  const auto width = static_cast<std::size_t>(desc_.width);
  Scratch& scratch = *scratch_[static_cast<std::size_t>(slot)];
  for (int y = begin; y < end; ++y) {
    if (t.model == ColorModel::yuv) {
      apply_yuv_row(job, y, scratch);
      continue;
    }
    const std::uint8_t* in = job.in.row(0, y);
    std::uint8_t* out = job.out.row(0, y);
    if (rgb_luma_ && colours_.active()) {
      loops_.apply_luma(*gains_, Stores::cached, rgb_layout(desc_.format), in, width,
                        scratch.pixels.data());
      colours_.apply_rgb(job.stores, scratch.pixels.data(), width, out);
      continue;
    }
    if (rgb_luma_) {
      loops_.apply_luma(*gains_, job.stores, rgb_layout(desc_.format), in, width, out);
      continue;
    }
    if (saturates_) {
      loops_.saturate_rgb(saturated_, job.stores, rgb_layout(desc_.format), in, width, out);
      continue;
    }
    switch (t.step[0]) {
      case 1:
        loops_.apply_gray(*gains_, job.stores, in, width, out);
        break;
      case 3:
        loops_.apply_rgb3(*gains_, job.stores, in, width, out);
        break;
      default:
        loops_.apply_rgb4(*gains_, job.stores, in, width, rgb_layout(desc_.format).first(), out);
        break;
    }
  }
  loops_.flush_stores();
}

void FusedChain::count_yuv_row(const Job& job, int row, Scratch& scratch) {
  const LumaRows rows = luma_rows(row);
  const int next = std::min(row + 1, cells_.rows - 1);
  const auto n = static_cast<std::size_t>(cells_.columns);
  loops_.count_yuv(sampling_of_line(sampling_, rows), weights_,
                   scratch.line.read(loops_, job.in, row, rows, 0, n),
                   static_cast<std::size_t>(desc_.width),
                   PlanarLine::bytes(job.in, next, luma_rows(next), 0, n), scratch.counters());
}

void FusedChain::apply_yuv_row(const Job& job, int row, Scratch& scratch) {
  const LumaRows rows = luma_rows(row);
  const bool planar = traits(desc_.format).planes == 3;
  const auto width = static_cast<std::size_t>(desc_.width);
  const YuvRowIn in =
      scratch.line.read(loops_, job.in, row, rows, 0, static_cast<std::size_t>(cells_.columns));
  const YuvRowOut out = scratch.line.results(job.out, row, rows);
  const Stores stores = planar ? job.stores : Stores::cached;
  if (colours_.active()) {
    const YuvRowOut before = scratch.line.own();
    loops_.apply_yuv(sampling_, weights_, *gains_, Stores::cached, in, width, before);
    colours_.apply_yuv(stores, before, width, out);
  } else if (saturates_) {
    loops_.saturate_yuv(saturated_, gains_->gain48.data(), sampling_, weights_, stores, in, width,
                        out);
  } else {
    loops_.apply_yuv(sampling_, weights_, *gains_, stores, in, width, out);
  }
  scratch.line.write(loops_, job.out, row);
}

}  // namespace equalux

#include "src/cpu/equalize/fused/fused_chain.h"

#include <algorithm>

#include "src/common/stage_clock.h"
#include "src/cpu/equalize/fused/gain_tables.h"
#include "src/equalize/fixed_curve.h"
#include "src/equalize/space.h"

namespace equalux {
namespace {

/// Frames with at least so many pixels a thread count neighbouring values in pairs: half the
/// increments, for half a mebibyte of counters that has to be folded at the end.
constexpr std::size_t kPairsFrom = std::size_t{1} << 19;

}  // namespace

/// What one thread owns.
struct FusedChain::Scratch {
  alignas(64) SingleTables single{};
  std::unique_ptr<PairTables> pairs;  // null for small frames
  ValueHistogram folded{};

  Counters counters() { return {single, pairs.get()}; }
  std::vector<std::uint8_t> luma;  // unpacked rows of interleaved formats
  std::vector<std::uint8_t> cb;
  std::vector<std::uint8_t> cr;
  std::vector<std::uint8_t> chroma;  // Cb Cr pairs of packed 4:2:2
};

struct FusedChain::Job {
  FusedChain* chain;
  const ConstImageView& in;
  const ImageView& out;
  Stores stores;
};

FusedChain::FusedChain(const EqualizeParams& params, RowExecutor& executor,
                       const RowKernels& kernels)
    : CurveChain(params),
      executor_(executor),
      kernels_(kernels),
      excluded_(params, executor, kernels),
      gains_(std::make_unique<GainTables>()) {}

FusedChain::~FusedChain() = default;

void FusedChain::configure(const ImageDesc& desc) {
  desc_ = desc;
  const bool yuv = traits(desc.format).model == ColorModel::yuv;
  weights_ = yuv ? space_weights(params_.space, desc) : YuvWeights{0, 255, 0, 0, 0, 0};
  excluded_.configure(desc, weights_);
  start_curves(weights_.luma_max);
  const auto width = static_cast<std::size_t>(desc.width);
  scratch_.clear();
  for (int slot = 0; slot < executor_.threads(); ++slot) {
    auto scratch = std::make_unique<Scratch>();
    if (counts_pairs()) scratch->pairs = std::make_unique<PairTables>();
    if (yuv) {
      // Two bytes of slack: packed 4:2:2 stores whole pairs, also where the width is odd.
      scratch->luma.resize(width + 2);
      scratch->cb.resize(width + 2);
      scratch->cr.resize(width + 2);
      scratch->chroma.resize(width + 2);
    }
    scratch_.push_back(std::move(scratch));
  }
}

YuvLayout FusedChain::layout() const {
  const FormatTraits& t = traits(desc_.format);
  if (t.chroma_shift_y != 0) return YuvLayout::s420;
  return t.chroma_shift_x != 0 ? YuvLayout::s422 : YuvLayout::s444;
}

LumaRows FusedChain::luma_rows(int row) const {
  if (traits(desc_.format).chroma_shift_y == 0) return {row, row};
  return luma_rows_of(row, desc_.height, interlaced_);
}

void FusedChain::process(const ConstImageView& in, const ImageView& out,
                         const FrameContext& context) {
  StageClock clock(context.timings);
  interlaced_ = context.field_order != FieldOrder::progressive;
  const bool in_place = in.data[0] == out.data[0];
  const Job job{
      this, in, out,
      !in_place && tight_bytes(desc_) > kStreamingBytes ? Stores::streaming : Stores::cached};
  const bool yuv = traits(desc_.format).model == ColorModel::yuv;
  const int rows = yuv ? plane_rows(desc_, traits(desc_.format).planes - 1) : desc_.height;
  if (!params_.curve) {
    executor_.for_rows(rows, [&job](int begin, int end, int slot) {
      job.chain->count_rows(job, begin, end, slot);
    });
    sum_histograms();
    clock.lap("histogram");
    make_curve(in, context);
    clock.lap("curve");
  }
  executor_.for_rows(
      rows, [&job](int begin, int end, int slot) { job.chain->apply_rows(job, begin, end, slot); });
  clock.lap("apply");
}

void FusedChain::make_curve(const ConstImageView& in, const FrameContext& context) {
  const std::int32_t max_code = 255 - weights_.luma_offset;
  const ValueHistogram& included =
      excluded_.active() ? excluded_.included(counts_, in, context) : counts_;
  if (!control_.active()) {
    make_gains(counts_, included, params_.scaler, bins_, weights_.luma_max, max_code, kernels_,
               *gains_);
    if (collector_.active()) collector_.add_plain(included, params_.scaler, bins_);
    return;
  }
  const CurveTable& curve = curves_.make(included, control_.next(context));
  if (collector_.active()) collector_.add(curve);
  make_gains(counts_, curve, weights_.luma_max, max_code, kernels_, *gains_);
}

void FusedChain::fix_curve() {
  ValueHistogram all;
  all.fill(1);
  make_gains(all, curve_table(*params_.curve, weights_.luma_max), weights_.luma_max,
             255 - weights_.luma_offset, kernels_, *gains_);
}

void FusedChain::update(const EqualizeParams& params) {
  excluded_.update(params);
  CurveChain::update(params);
}

void FusedChain::reset() {
  excluded_.reset();
  CurveChain::reset();
}

std::string FusedChain::save() const {
  return excluded_.with_surround(CurveChain::save());
}

void FusedChain::load(std::string_view state) {
  // Read before anything changes: a state is taken whole or not at all.
  const std::optional<surround::State> surround = excluded_.surround_in(state);
  CurveChain::load(state);
  excluded_.go_on(surround);
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
      kernels_.fold(scratch.counters(), scratch.folded);
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
    switch (t.step[0]) {
      case 1:
        kernels_.count_gray(in, width, next, scratch.counters());
        break;
      case 3:
        kernels_.count_rgb3(in, width, next, scratch.counters());
        break;
      default:
        kernels_.count_rgb4(in, width, t.color_offset, next, scratch.counters());
        break;
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
    switch (t.step[0]) {
      case 1:
        kernels_.apply_gray(*gains_, job.stores, in, width, out);
        break;
      case 3:
        kernels_.apply_rgb3(*gains_, job.stores, in, width, out);
        break;
      default:
        kernels_.apply_rgb4(*gains_, job.stores, in, width, t.color_offset, out);
        break;
    }
  }
  kernels_.flush_stores();
}

YuvRowIn FusedChain::gather_yuv_row(const ConstImageView& in, int row, LumaRows rows,
                                    Scratch& scratch) const {
  const std::size_t pairs = (static_cast<std::size_t>(desc_.width) + 1) / 2;
  switch (desc_.format) {
    case PixelFormat::nv12:
      kernels_.split(in.row(1, row), pairs, scratch.cb.data(), scratch.cr.data());
      return {
          {in.row(0, rows.first), in.row(0, rows.second)}, scratch.cb.data(), scratch.cr.data()};
    case PixelFormat::yuy2:
      kernels_.split(in.row(0, row), 2 * pairs, scratch.luma.data(), scratch.chroma.data());
      kernels_.split(scratch.chroma.data(), pairs, scratch.cb.data(), scratch.cr.data());
      return {{scratch.luma.data(), nullptr}, scratch.cb.data(), scratch.cr.data()};
    case PixelFormat::uyvy:
      kernels_.split(in.row(0, row), 2 * pairs, scratch.chroma.data(), scratch.luma.data());
      kernels_.split(scratch.chroma.data(), pairs, scratch.cb.data(), scratch.cr.data());
      return {{scratch.luma.data(), nullptr}, scratch.cb.data(), scratch.cr.data()};
    default:
      return {{in.row(0, rows.first), in.row(0, rows.second)}, in.row(1, row), in.row(2, row)};
  }
}

YuvRowIn FusedChain::packed_yuv_row(const ConstImageView& in, int row) const {
  const LumaRows rows = luma_rows(row);
  const std::size_t pairs = (static_cast<std::size_t>(desc_.width) + 1) / 2;
  const YuvRowIn luma{{in.row(0, rows.first), in.row(0, rows.second)}, nullptr, nullptr};
  switch (traits(desc_.format).planes) {
    case 1:
      return {luma.luma, luma.luma[0] + 2 * pairs, luma.luma[0] + 3 * pairs};
    case 2:
      return {luma.luma, in.row(1, row), in.row(1, row) + pairs};
    default:
      return {luma.luma, in.row(1, row), in.row(2, row)};
  }
}

void FusedChain::count_yuv_row(const Job& job, int row, Scratch& scratch) {
  const LumaRows rows = luma_rows(row);
  const int last = plane_rows(desc_, traits(desc_.format).planes - 1) - 1;
  const bool one_row = layout() == YuvLayout::s420 && rows.first == rows.second;
  kernels_.count_yuv(one_row ? YuvLayout::s422 : layout(), weights_,
                     gather_yuv_row(job.in, row, rows, scratch),
                     static_cast<std::size_t>(desc_.width),
                     packed_yuv_row(job.in, std::min(row + 1, last)), scratch.counters());
}

void FusedChain::apply_yuv_row(const Job& job, int row, Scratch& scratch) {
  const LumaRows rows = luma_rows(row);
  const YuvRowIn in = gather_yuv_row(job.in, row, rows, scratch);
  const auto width = static_cast<std::size_t>(desc_.width);
  const std::size_t pairs = (width + 1) / 2;
  std::uint8_t* cb = scratch.cb.data();
  std::uint8_t* cr = scratch.cr.data();
  const ImageView& out = job.out;
  switch (desc_.format) {
    case PixelFormat::nv12:
      kernels_.apply_yuv(layout(), weights_, *gains_, Stores::cached, in, width,
                         {{out.row(0, rows.first), out.row(0, rows.second)}, cb, cr});
      kernels_.merge(cb, cr, pairs, out.row(1, row));
      return;
    case PixelFormat::yuy2:
    case PixelFormat::uyvy: {
      std::uint8_t* luma = scratch.luma.data();
      std::uint8_t* chroma = scratch.chroma.data();
      kernels_.apply_yuv(layout(), weights_, *gains_, Stores::cached, in, width,
                         {{luma, nullptr}, cb, cr});
      kernels_.merge(cb, cr, pairs, chroma);
      const bool luma_first = desc_.format == PixelFormat::yuy2;
      kernels_.merge(luma_first ? luma : chroma, luma_first ? chroma : luma, 2 * pairs,
                     out.row(0, row));
      return;
    }
    default:
      kernels_.apply_yuv(
          layout(), weights_, *gains_, job.stores, in, width,
          {{out.row(0, rows.first), out.row(0, rows.second)}, out.row(1, row), out.row(2, row)});
  }
}

}  // namespace equalux

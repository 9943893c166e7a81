#include "src/cpu/equalize/space_chain.h"

#include <algorithm>

#include "src/common/stage_clock.h"
#include "src/cpu/equalize/hue_batch.h"
#include "src/equalize/fixed_curve.h"

namespace equalux {

SpaceChain::SpaceChain(const EqualizeParams& params, RowExecutor& executor)
    : CurveChain(params),
      executor_(executor),
      tables_(std::make_unique<const SpaceTables>(make_space_tables(params.space))),
      scaled_(std::make_unique<Scaled>()) {}

void SpaceChain::configure(const ImageDesc& desc) {
  desc_ = desc;
  layout_ = rgb_layout(desc.format);
  scratch_.assign(static_cast<std::size_t>(executor_.threads()), {});
  start_curves(255);
}

void SpaceChain::fix_curve() {
  const auto curve = curve_table(*params_.curve, 255);
  for (std::uint32_t v = 0; v < 256; ++v) {
    if (params_.space == Space::luma) {
      make_table<Space::luma>(v, curve[v]);
    } else {
      make_table<Space::lightness>(v, curve[v]);
    }
  }
}

void SpaceChain::process(const ConstImageView& in, const ImageView& out,
                         const FrameContext& context) {
  if (params_.space == Space::luma) {
    process_in<Space::luma>(in, out, context);
  } else {
    process_in<Space::lightness>(in, out, context);
  }
}

template <Space kSpace>
void SpaceChain::process_in(const ConstImageView& in, const ImageView& out,
                            const FrameContext& context) {
  StageClock clock(context.timings);
  if (!params_.curve) {
    const ValueHistogram counts = count<kSpace>(in);
    clock.lap("histogram");
    const CurveTable& curve = curves_.make(counts, control_.next(context));
    if (collector_.active()) collector_.add(curve);
    executor_.for_rows(256, [&](int begin, int end, int) {
      for (auto v = static_cast<std::size_t>(begin); v < static_cast<std::size_t>(end); ++v) {
        if (counts[v] != 0) make_table<kSpace>(static_cast<std::uint32_t>(v), curve[v]);
      }
    });
    clock.lap("curve");
  }
  executor_.for_rows(desc_.height,
                     [&](int begin, int end, int) { apply_rows<kSpace>(in, out, begin, end); });
  clock.lap("apply");
}

template <Space kSpace>
ValueHistogram SpaceChain::count(const ConstImageView& in) {
  executor_.for_rows(desc_.height, [&](int begin, int end, int slot) {
    count_rows<kSpace>(in, begin, end, scratch_[static_cast<std::size_t>(slot)]);
  });
  ValueHistogram counts{};
  for (ValueHistogram& each : scratch_) {
    for (std::size_t v = 0; v < counts.size(); ++v)
      counts[v] += each[v];
    each.fill(0);
  }
  return counts;
}

template <Space kSpace>
void SpaceChain::make_table(std::uint32_t v, std::uint32_t curve) {
  const std::uint64_t gain = space_gain(kSpace, v, curve);
  gains_[v] = gain;
  codes_[v] = space_codes(kSpace, *tables_, gain);
  for (std::uint32_t code = 0; code < 256; ++code)
    (*scaled_)[v][code] = space_scaled(kSpace, *tables_, code, gain);
}

template <Space kSpace>
void SpaceChain::count_rows(const ConstImageView& in, int begin, int end,
                            ValueHistogram& counts) const {
  const RgbLayout at = layout_;
  ValueHistogram odd{};  // for neighbours of equal value not to wait on each other
  for (int y = begin; y < end; ++y) {
    const std::uint8_t* pixel = in.row(0, y);
    const auto level = [&](const std::uint8_t* p) {
      return space_level(kSpace, *tables_, p[at.r], p[at.g], p[at.b]);
    };
    int x = 0;
    for (; x + 1 < desc_.width; x += 2, pixel += 2 * at.step) {
      ++counts[level(pixel)];
      ++odd[level(pixel + at.step)];
    }
    if (x < desc_.width) ++counts[level(pixel)];
  }
  for (std::size_t v = 0; v < counts.size(); ++v)
    counts[v] += odd[v];
}

template <Space kSpace>
void SpaceChain::apply_rows(const ConstImageView& in, const ImageView& out, int begin,
                            int end) const {
  const RgbLayout at = layout_;
  HueBatch others(*tables_, at);
  for (int y = begin; y < end; ++y) {
    const std::uint8_t* p = in.row(0, y);
    std::uint8_t* q = out.row(0, y);
    for (int x = 0; x < desc_.width; ++x, p += at.step, q += at.step) {
      const std::uint8_t r = p[at.r];
      const std::uint8_t g = p[at.g];
      const std::uint8_t b = p[at.b];
      const std::uint32_t v = space_level(kSpace, *tables_, r, g, b);
      if (at.alpha >= 0) q[at.alpha] = p[at.alpha];
      if constexpr (kSpace == Space::lightness) {
        const bool gray = r == g && g == b;
        if (!gray && !space_scales(codes_[v], {r, g, b})) {
          others.add({r, g, b}, gains_[v], q);
          continue;
        }
      }
      const auto& scaled = (*scaled_)[v];
      q[at.r] = scaled[r];
      q[at.g] = scaled[g];
      q[at.b] = scaled[b];
    }
  }
  others.flush();
}

}  // namespace equalux

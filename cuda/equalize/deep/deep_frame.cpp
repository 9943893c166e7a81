#include <cstddef>
#include <cstdint>

#include "cuda/equalize/deep/deep_stages.h"

namespace equalux::cuda {
namespace {

bool lies_at(const void* first, std::ptrdiff_t stride, std::uintptr_t granule) {
  return (reinterpret_cast<std::uintptr_t>(first) | static_cast<std::uintptr_t>(stride)) %
             granule ==
         0;
}

}  // namespace

DeepFrame deep_frame_of(const ImageDesc& desc, const DeepSamples& form) {
  const FormatTraits& t = traits(desc.format);
  DeepFrame frame{};
  frame.form = form;
  frame.sampling = sampling_of(desc.format);
  frame.width = desc.width;
  frame.height = desc.height;
  const bool yuv = t.model == ColorModel::yuv;
  const CellCount cells = cells_of(desc);
  frame.columns = static_cast<std::uint32_t>(cells.columns);
  frame.rows = static_cast<std::uint32_t>(cells.rows);
  frame.step = yuv ? t.step[1] : t.step[0];
  frame.color_offset = rgb_layout(desc.format).first();
  frame.alpha_offset = t.alpha_offset;
  return frame;
}

void set_planes(DeepFrame& frame, const ConstImageView& in, const ImageView& out) {
  const FormatTraits& t = traits(in.desc.format);
  frame.aligned = true;
  for (int plane = 0; plane < t.planes; ++plane) {
    frame.planes[plane] = PlanePair::of_plane(in, out, plane);
    frame.aligned = frame.aligned && frame.planes[plane].is_multiple(4);
  }
  if (t.planes == 2) frame.planes[2] = PlanePair::of_component(in, out, 2);
}

bool reads_yuv_strips(const DeepFrame& frame) {
  if (!is_yuv(frame)) return false;
  const auto reads_at = [&](int plane, std::uintptr_t granule) {
    return lies_at(frame.planes[plane].in, frame.planes[plane].in_stride, granule);
  };
  if (!reads_at(0, 16)) return false;
  if (frame.step == 4) {
    return frame.sampling == Sampling::s420 && reads_at(1, 16) &&
           frame.planes[2].in == frame.planes[1].in + 2;
  }
  const std::uintptr_t granule = frame.sampling == Sampling::s444 ? 16 : 8;
  return frame.step == 2 && reads_at(1, granule) && reads_at(2, granule);
}

bool writes_yuv_strips(const DeepFrame& frame) {
  const bool paired = frame.step == 4;
  const std::uintptr_t bytes = frame.sampling == Sampling::s444 ? 8 : 4;
  const DeepRounding& rounding = frame.rounding;
  if (rounding.active) {
    if (frame.form.depth > 12) return false;  // no such fractions exist
    const auto writes_at = [&](int component, std::uintptr_t granule) {
      return lies_at(rounding.out[component].first, rounding.out[component].stride, granule);
    };
    if (rounding.dither != Dither::none || rounding.out[0].step != 1 || !writes_at(0, 8))
      return false;
    const Samples<std::uint8_t>& cb = rounding.out[1];
    const Samples<std::uint8_t>& cr = rounding.out[2];
    if (paired) return cb.step == 2 && cr.step == 2 && cr.first == cb.first + 1 && writes_at(1, 8);
    return cb.step == 1 && cr.step == 1 && writes_at(1, bytes) && writes_at(2, bytes);
  }
  const auto writes_at = [&](int plane, std::uintptr_t granule) {
    return lies_at(frame.planes[plane].out, frame.planes[plane].out_stride, granule);
  };
  if (!writes_at(0, 16)) return false;
  if (paired) return writes_at(1, 16) && frame.planes[2].out == frame.planes[1].out + 2;
  return writes_at(1, 2 * bytes) && writes_at(2, 2 * bytes);
}

bool reads_pixel_strips(const DeepFrame& frame) {
  return !is_yuv(frame) && frame.form.depth == 16 &&
         lies_at(frame.planes[0].in, frame.planes[0].in_stride, 16);
}

bool writes_pixel_strips(const DeepFrame& frame) {
  const DeepRounding& rounding = frame.rounding;
  if (!rounding.active) return lies_at(frame.planes[0].out, frame.planes[0].out_stride, 16);
  const Samples<std::uint8_t>& first = rounding.out[0];
  return rounding.dither == Dither::none && first.step == frame.step / 2 &&
         lies_at(first.first - frame.color_offset / 2, first.stride, 8);
}

}  // namespace equalux::cuda

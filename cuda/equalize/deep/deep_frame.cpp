#include "cuda/equalize/deep/deep_stages.h"

namespace equalux::cuda {

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

}  // namespace equalux::cuda

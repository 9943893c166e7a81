#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <equalux/image.h>

#include "src/format/layout.h"

/// Components that noise reduction works on, of frames or of the fields of one parity.
namespace equalux::denoise {

/// Size of a component in a sequence of pictures.
struct ComponentShape {
  int columns;
  int rows;
  int shift_x;  ///< log2 of the luma columns of one sample
  int shift_y;  ///< log2 of the luma rows of one sample
  bool chroma;
};

/// Storage of samples.
struct Words {
  int depth;  ///< bits of a value
  int shift;  ///< unused bits below the value
};

/// Rows of a picture in its frame.
struct FrameRows {
  int first = 0;
  int step = 1;
};

/// Rows of frames, or of fields of a parity.
[[nodiscard]] inline FrameRows frame_rows(std::optional<int> parity) {
  return parity ? FrameRows{*parity, 2} : FrameRows{};
}

/// Components in the order of processing. Green comes first, as most of the light is in it; the
/// first one decides on motion.
[[nodiscard]] inline std::vector<int> component_order(PixelFormat format) {
  switch (traits(format).model) {
    case ColorModel::gray:
      return {0};
    case ColorModel::rgb:
      return {1, 0, 2};
    default:
      return {0, 1, 2};
  }
}

/// Samples of one field: every second row.
template <typename Byte>
[[nodiscard]] Samples<Byte> field_of(Samples<Byte> frame, int parity) {
  frame.first += frame.stride * parity;
  frame.stride *= 2;
  frame.rows = (frame.rows + 1 - parity) / 2;
  return frame;
}

/// Samples of a component of a ConstImageView or ImageView, or of its field of a parity.
template <typename View>
[[nodiscard]] auto picture_samples(const View& view, int index, std::optional<int> parity) {
  const auto samples = samples_of(view, index);
  return parity ? field_of(samples, *parity) : samples;
}

/// Samples of no component, which are copied: the fourth of packed RGB, and in packed 4:2:2 of odd
/// width the luma behind the last column. No columns where a format has none.
template <typename View>
[[nodiscard]] auto copied_samples(const View& view, std::optional<int> parity) {
  const FormatTraits& format = traits(view.desc.format);
  auto samples = picture_samples(view, 0, parity);
  if (format.alpha_offset >= 0) {
    samples.first += format.alpha_offset - component_of(view.desc.format, 0).offset;
  } else if (format.model == ColorModel::yuv && format.planes == 1 && view.desc.width % 2 != 0) {
    samples.first += static_cast<std::ptrdiff_t>(samples.step) * samples.columns;
    samples.columns = 1;
  } else {
    samples.columns = 0;
  }
  return samples;
}

/// Shapes of all components in component_order(), of frames or of fields of a parity.
[[nodiscard]] inline std::vector<ComponentShape> component_shapes(const ImageDesc& desc,
                                                                  std::optional<int> parity) {
  const ConstImageView view{desc, {}, {}};
  const FormatTraits& format = traits(desc.format);
  std::vector<ComponentShape> shapes;
  for (const int index : component_order(desc.format)) {
    const auto samples = picture_samples(view, index, parity);
    const bool chroma = format.model == ColorModel::yuv && index != 0;
    shapes.push_back({samples.columns, samples.rows, chroma ? format.chroma_shift_x : 0,
                      chroma ? format.chroma_shift_y : 0, chroma});
  }
  return shapes;
}

}  // namespace equalux::denoise

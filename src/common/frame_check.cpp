#include "src/common/frame_check.h"

#include <cstddef>
#include <cstdlib>
#include <string>

#include <equalux/error.h>

#include "src/common/size_text.h"

namespace equalux {
namespace {

std::string text_of(const ImageDesc& desc) {
  std::string text = size_and_format(desc);
  if (traits(desc.format).model == ColorModel::yuv) {
    text += " of " + std::string(to_string(desc.matrix)) + ", " +
            std::string(to_string(desc.range)) + " range";
  }
  return text;
}

/// Compares what a filter reads: matrix and range only of YCbCr.
bool alike(const ImageDesc& a, const ImageDesc& b) {
  if (a.format != b.format || a.width != b.width || a.height != b.height) return false;
  return traits(a.format).model != ColorModel::yuv || (a.matrix == b.matrix && a.range == b.range);
}

void check(std::string_view filter, std::string_view what, const ImageDesc& is,
           const ImageDesc& must) {
  if (alike(is, must)) return;
  throw Error(ExitCode::usage, std::string(filter) + ": the " + std::string(what) + " is " +
                                   text_of(is) + ", must be " + text_of(must) +
                                   ", for which the filter was configured");
}

void check_memory(std::string_view filter, std::string_view what, const ConstImageView& frame) {
  for (int p = 0; p < traits(frame.desc.format).planes; ++p) {
    if (frame.data[static_cast<std::size_t>(p)] != nullptr) continue;
    throw Error(ExitCode::usage, std::string(filter) + ": plane " + std::to_string(p) + " of the " +
                                     std::string(what) + " has no memory");
  }
}

/// Rows of a result may not overlap; those of a frame may, as nothing is written there.
void check_rows(std::string_view filter, const ImageView& out) {
  for (int p = 0; p < traits(out.desc.format).planes; ++p) {
    const std::ptrdiff_t apart = std::abs(out.stride[static_cast<std::size_t>(p)]);
    const auto bytes = static_cast<std::ptrdiff_t>(row_bytes(out.desc, p));
    if (apart >= bytes || plane_rows(out.desc, p) == 1) continue;
    throw Error(ExitCode::usage, std::string(filter) + ": plane " + std::to_string(p) +
                                     " of the result has rows " + std::to_string(apart) +
                                     " bytes apart, must be at least " + std::to_string(bytes));
  }
}

}  // namespace

void check_frames(std::string_view filter, const ConstImageView& in, const ImageDesc& in_desc,
                  const ImageView& out, const ImageDesc& out_desc) {
  // A filter without frames' size must not meet an Image without one, which would equal it.
  if (in_desc.width == 0) {
    throw Error(ExitCode::usage, std::string(filter) + ": there is no size and format of frames " +
                                     "yet, configure() must come before submit()");
  }
  check(filter, "frame", in.desc, in_desc);
  check(filter, "result", out.desc, out_desc);
  check_memory(filter, "frame", in);
  check_memory(filter, "result", out);
  check_rows(filter, out);
}

}  // namespace equalux

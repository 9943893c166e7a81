#include "src/cpu/equalize/fused/planar_line.h"

namespace equalux {
namespace {

constexpr std::size_t kLine = 64;  // bytes of a cache line

/// Both rows of luma, from column x on.
template <typename View>
auto luma_rows(const View& view, LumaRows rows, std::size_t x) {
  return std::array{view.row(0, rows.first) + x, view.row(0, rows.second) + x};
}

/// Byte order of packed 4:2:2.
bool luma_first(PixelFormat format) {
  return traits(format).offset[0] == 0;
}

}  // namespace

void PlanarLine::configure(const ImageDesc& desc) {
  // Packed 4:2:2 stores whole pairs, also at odd widths.
  pitch_ = (static_cast<std::size_t>(desc.width) + 2 + kLine - 1) / kLine * kLine;
  memory_.resize(5 * pitch_ + kLine);
  first_ = kLine - reinterpret_cast<std::uintptr_t>(memory_.data()) % kLine;
}

YuvRowIn PlanarLine::read(const FusedRows& loops, const ConstImageView& in, int row, LumaRows rows,
                          std::size_t begin, std::size_t n) {
  const FormatTraits& t = traits(in.desc.format);
  const std::size_t x = begin << t.chroma_shift_x;
  if (t.planes == 3)
    return {luma_rows(in, rows, x), in.row(1, row) + begin, in.row(2, row) + begin};
  const YuvRowOut planes = own();
  if (t.planes == 2) {
    loops.split(in.row(1, row) + 2 * begin, n, planes.cb, planes.cr);
    return {luma_rows(in, rows, x), planes.cb, planes.cr};
  }
  std::uint8_t* pairs = plane(4);
  const bool first = luma_first(in.desc.format);
  loops.split(in.row(0, row) + 4 * begin, 2 * n, first ? planes.luma[0] : pairs,
              first ? pairs : planes.luma[0]);
  loops.split(pairs, n, planes.cb, planes.cr);
  return {{planes.luma[0], planes.luma[1]}, planes.cb, planes.cr};
}

YuvRowIn PlanarLine::bytes(const ConstImageView& in, int row, LumaRows rows, std::size_t begin,
                           std::size_t n) {
  const FormatTraits& t = traits(in.desc.format);
  if (t.planes == 1) {
    const std::uint8_t* cells = in.row(0, row) + 4 * begin;
    return {{cells, cells}, cells + 2 * n, cells + 3 * n};
  }
  const auto luma = luma_rows(in, rows, begin << t.chroma_shift_x);
  if (t.planes == 3) return {luma, in.row(1, row) + begin, in.row(2, row) + begin};
  const std::uint8_t* pairs = in.row(1, row) + 2 * begin;
  return {luma, pairs, pairs + n};
}

YuvRowOut PlanarLine::results(const ImageView& out, int row, LumaRows rows) {
  YuvRowOut results = own();
  const int planes = traits(out.desc.format).planes;
  if (planes > 1) results.luma = luma_rows(out, rows, 0);
  if (planes == 3) {
    results.cb = out.row(1, row);
    results.cr = out.row(2, row);
  }
  return results;
}

void PlanarLine::write(const FusedRows& loops, const ImageView& out, int row) {
  const int planes = traits(out.desc.format).planes;
  if (planes == 3) return;
  const auto n = static_cast<std::size_t>(cells_of(out.desc).columns);
  const YuvRowOut from = own();
  if (planes == 2) return loops.merge(from.cb, from.cr, n, out.row(1, row));
  std::uint8_t* pairs = plane(4);
  loops.merge(from.cb, from.cr, n, pairs);
  const bool first = luma_first(out.desc.format);
  loops.merge(first ? from.luma[0] : pairs, first ? pairs : from.luma[0], 2 * n, out.row(0, row));
}

}  // namespace equalux

#include "src/cpu/convolve/bordered_rows.h"

#include <algorithm>
#include <cstring>

#include "src/convolve/exact_kernel.h"

namespace equalux {

BorderedRows::BorderedRows(const ImageDesc& desc, const BorderRule& border)
    : desc_(desc),
      border_(border),
      step_(traits(desc.format).step[0]),
      bytes_(row_bytes(desc, 0)),
      constant_row_(bytes_, border.value) {}

const std::uint8_t* BorderedRows::row(const ConstImageView& in, int y) const {
  const int line = border_index(y, desc_.height, border_.border);
  return line < 0 ? constant_row_.data() : in.row(0, line);
}

void BorderedRows::gather(const std::uint8_t* row, std::ptrdiff_t first, std::size_t count,
                          std::uint8_t* to) const {
  const auto end = first + static_cast<std::ptrdiff_t>(count);
  const std::ptrdiff_t inside = std::clamp<std::ptrdiff_t>(0, first, end);
  const std::ptrdiff_t behind = std::clamp(static_cast<std::ptrdiff_t>(bytes_), inside, end);
  const auto outside = [&](std::ptrdiff_t from, std::ptrdiff_t until) {
    for (std::ptrdiff_t x = from; x < until; ++x) {
      const std::ptrdiff_t pixel = x >= 0 ? x / step_ : (x + 1) / step_ - 1;
      const int index = border_index(static_cast<int>(pixel), desc_.width, border_.border);
      to[x - first] = index < 0 ? border_.value : row[index * step_ + (x - pixel * step_)];
    }
  };
  outside(first, inside);
  std::memcpy(to + (inside - first), row + inside, static_cast<std::size_t>(behind - inside));
  outside(behind, end);
}

}  // namespace equalux

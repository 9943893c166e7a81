#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <equalux/convolve.h>

/// Rows of a frame's first plane as bytes, extended by the border.
namespace equalux {

/// Rule for samples outside the frame.
struct BorderRule {
  Border border = Border::replicate;
  std::uint8_t value = 0;  ///< used where border is constant
};

/// Addresses of bytes inside and outside frames of one description. All functions are thread-safe.
class BorderedRows {
 public:
  BorderedRows() = default;
  BorderedRows(const ImageDesc& desc, const BorderRule& border);

  /// Bytes from one sample to the next, and of a row.
  [[nodiscard]] std::ptrdiff_t step() const { return step_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] int height() const { return desc_.height; }

  /// Returns the row for position y, at any distance outside.
  [[nodiscard]] const std::uint8_t* row(const ConstImageView& in, int y) const;
  /// Copies bytes first to first + count - 1 of a row, which may lie outside it.
  void gather(const std::uint8_t* row, std::ptrdiff_t first, std::size_t count,
              std::uint8_t* to) const;

 private:
  ImageDesc desc_;
  BorderRule border_;
  std::ptrdiff_t step_ = 1;
  std::size_t bytes_ = 0;
  std::vector<std::uint8_t> constant_row_;
};

}  // namespace equalux

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/image.h>
#include <equalux/params.h>

/// The part of a frame that is counted: a rectangle, or the bright pixels of a mask.
namespace equalux {

/// True where not all pixels of a frame may count.
[[nodiscard]] inline bool leaves_out(const EqualizeParams& params) {
  return !params.region.empty() || params.surround != Surround::keep;
}

/// Every rule that a region breaks, one clause each; with a desc, also those about the frame. Opens
/// no file.
[[nodiscard]] std::vector<std::string> region_violations(std::string_view region,
                                                         const ImageDesc* desc);

/// Reads stills of formats that the core does not know. Throws Error.
using MaskReader = Image (*)(const std::string& path);
/// Called at start-up, before any thread runs.
void set_mask_reader(MaskReader reader);

/// Columns begin .. end - 1 of a row.
struct Columns {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

/// The pixels outside a region, row by row. Immutable once made.
class RegionOutside {
 public:
  /// A region of the whole frame: nothing is outside.
  RegionOutside() = default;
  /// Outside `region` as EqualizeParams has it. Throws Error(usage) where it is none for the frame,
  /// Error(no_input) and Error(bad_input) where a mask cannot be read.
  RegionOutside(const std::string& region, const ImageDesc& desc);

  [[nodiscard]] bool empty() const { return runs_.empty(); }
  /// The columns of a row that are outside, in order, none touching another.
  [[nodiscard]] std::span<const Columns> row(int y) const {
    if (runs_.empty()) return {};
    const auto at = static_cast<std::size_t>(y);
    return std::span(runs_).subspan(first_[at], first_[at + 1] - first_[at]);
  }

 private:
  std::vector<Columns> runs_;
  std::vector<std::size_t> first_;  // of each row, and behind the last one
};

}  // namespace equalux

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/image.h>
#include <equalux/params.h>

/// Part of a frame that the histogram counts: a rectangle, or the bright pixels of a mask.
namespace equalux {

/// Returns true where some pixels may be left out of the histogram.
[[nodiscard]] inline bool leaves_out(const EqualizeParams& params) {
  return !params.region.empty() || params.surround != Surround::keep;
}

/// Lists every rule that a region breaks, one clause each; with a desc, also rules about the frame.
/// Opens no file.
[[nodiscard]] std::vector<std::string> region_violations(std::string_view region,
                                                         const ImageDesc* desc);

/// Reader of masks in formats that the core does not know. Throws Error.
using MaskReader = Image (*)(const std::string& path);
/// Sets the reader. Call it at start-up, before other threads run.
void set_mask_reader(MaskReader reader);

/// Columns begin .. end - 1 of a row.
struct Columns {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

/// Pixels outside a region, as runs row by row. Immutable once made.
class RegionOutside {
 public:
  /// Makes the outside of a whole frame, which is empty.
  RegionOutside() = default;
  /// Makes the outside of `region`, a text as in EqualizeParams. Throws Error(usage) where it does
  /// not fit the frame, Error(no_input) and Error(bad_input) where a mask cannot be read.
  RegionOutside(const std::string& region, const ImageDesc& desc);

  [[nodiscard]] bool empty() const { return runs_.empty(); }
  /// Runs of a row that are outside, in order, with gaps between them.
  [[nodiscard]] std::span<const Columns> row(int y) const {
    if (runs_.empty()) return {};
    const auto at = static_cast<std::size_t>(y);
    return std::span(runs_).subspan(first_[at], first_[at + 1] - first_[at]);
  }

 private:
  std::vector<Columns> runs_;
  std::vector<std::size_t> first_;  // index of each row's first run, and one behind the last
};

}  // namespace equalux

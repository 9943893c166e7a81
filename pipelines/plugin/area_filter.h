#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <equalux/filter.h>

#include "pipelines/core/processor.h"
#include "src/common/filter_recipe.h"

/// A filter on parts of a frame: all but a side kept for comparison, or regions of interest.
namespace equalux::gst {

/// Pixels of a frame, from its top left corner.
struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

/// Parts of a frame that are filtered.
struct FrameAreas {
  double split = 0;           ///< share of the width, from the left, that stays unfiltered
  bool regions_only = false;  ///< each of `regions` by itself, and nothing else
  std::vector<Rect> regions;

  /// Returns true where every pixel is filtered: only then may a frame be filtered in place, if the
  /// filter can do that.
  [[nodiscard]] bool whole() const { return split <= 0 && !regions_only; }
};

/// Returns the pixels for a rectangle: cut to the frame, extended to whole chroma samples.
[[nodiscard]] Rect fit(const Rect& rect, const ImageDesc& desc, FieldOrder field_order);

/// Makes a filter of a recipe, on one backend.
using MakeFilter = std::function<std::unique_ptr<Filter>(const FilterRecipe& recipe)>;
/// Writes samples that are not filtered: copies of the frame's, or black where results have a
/// format of their own. On the CPU, or by enqueuing on a cudaStream_t.
struct LeaveFrame {
  void (*copy)(const ConstImageView& from, const ImageView& to, void* stream);
  void (*clear)(const ImageView& to, void* stream);
};

/// Runs filters of one kind on parts of frames: one for the whole frame, and one for each region,
/// with a histogram and a curve of its own. Where regions overlap, the later one is visible; all
/// are computed from the unfiltered frame. A region that the filter does not take stays unfiltered,
/// or black. One thread at a time.
class AreaFilter final : public Filter {
 public:
  /// Throws what `make` throws.
  AreaFilter(RecipePtr recipe, MakeFilter make, const LeaveFrame& leave);

  /// Uses filters of another recipe from the next frame on, whose results must have the same
  /// format. Throws what making or configuring one throws; the previous ones then stay.
  void replace(RecipePtr recipe);
  /// Sets the parts to be filtered from the next frame on.
  void set_areas(const FrameAreas& areas) { areas_ = areas; }

  [[nodiscard]] bool accepts(PixelFormat format) const override { return whole_->accepts(format); }
  [[nodiscard]] bool works_in_place() const override { return whole_->works_in_place(); }
  ImageDesc configure(const ImageDesc& input) override;
  /// `in` and `out` may be the same memory only where the whole frame is filtered, by a filter that
  /// works in place. Allocates where a region's size differs from the previous frame's.
  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override;
  void reset() override;

 private:
  struct RegionFilter {
    ImageDesc desc;
    std::unique_ptr<Filter> filter;  ///< null where it does not take frames of `desc`
  };
  /// Returns a region's filter; null where the filter does not take such frames, as `clahe` needs
  /// at least one pixel per tile.
  Filter* region_filter(std::size_t index, const ImageDesc& desc);
  void leave(const ConstImageView& in, const ImageView& out, void* stream) const;

  RecipePtr recipe_;
  MakeFilter make_;
  LeaveFrame leave_;
  std::unique_ptr<Filter> whole_;
  std::vector<RegionFilter> regional_;
  FrameAreas areas_;
  ImageDesc desc_;
  bool told_ = false;  // it was reported that a region stays unfiltered
};

/// A processor with the one filter that it runs.
struct AreaProcessor {
  std::unique_ptr<Processor> processor;
  AreaFilter* filter = nullptr;  ///< owned by the processor
};

}  // namespace equalux::gst

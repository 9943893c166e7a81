#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <equalux/filter.h>

#include "pipelines/core/processor.h"
#include "src/common/filter_recipe.h"

/// A filter over parts of a frame: all but a side kept for comparison, or regions of interest.
namespace equalux::gst {

/// Pixels of a frame, from its top left corner.
struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

/// Which parts of a frame are filtered.
struct FrameAreas {
  double split = 0;           ///< share of the width, from the left, that stays as it was
  bool regions_only = false;  ///< `regions`, each by itself, and nothing else
  std::vector<Rect> regions;

  /// True where every pixel is filtered: only then may a frame be filtered in place, if the filter
  /// works so.
  [[nodiscard]] bool whole() const { return split <= 0 && !regions_only; }
};

/// The pixels that a rectangle stands for: cut to the frame, grown to whole chroma samples.
[[nodiscard]] Rect fit(const Rect& rect, const ImageDesc& desc, FieldOrder field_order);

/// Makes a filter of a recipe, on one backend.
using MakeFilter = std::function<std::unique_ptr<Filter>(const FilterRecipe& recipe)>;
/// What becomes of samples that are not filtered: they are those of the frame, or black where
/// results have a format of their own. On the CPU, or by enqueuing on a cudaStream_t.
struct LeaveFrame {
  void (*copy)(const ConstImageView& from, const ImageView& to, void* stream);
  void (*clear)(const ImageView& to, void* stream);
};

/// Runs filters of one kind over parts of frames: one for the whole frame, and one for each region,
/// with a histogram and a curve of its own. Where regions overlap, the later one is seen; all are
/// made of the unfiltered frame. A region that the filter does not take stays as it was, or black.
/// One thread at a time.
class AreaFilter final : public Filter {
 public:
  /// Throws what `make` throws.
  AreaFilter(RecipePtr recipe, MakeFilter make, const LeaveFrame& leave);

  /// Filters of another recipe from the next frame on, whose results have the same format. Throws
  /// what making or configuring one throws; those before it then stay.
  void replace(RecipePtr recipe);
  /// What is filtered of the frames from the next one on.
  void set_areas(const FrameAreas& areas) { areas_ = areas; }

  [[nodiscard]] bool accepts(PixelFormat format) const override { return whole_->accepts(format); }
  [[nodiscard]] bool works_in_place() const override { return whole_->works_in_place(); }
  ImageDesc configure(const ImageDesc& input) override;
  /// `in` and `out` are the same memory only where the whole frame is filtered, by a filter that
  /// works in place. Allocates where a region has another size than in the frame before.
  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override;
  void reset() override;

 private:
  struct RegionFilter {
    ImageDesc desc;
    std::unique_ptr<Filter> filter;  ///< null where it does not take frames of `desc`
  };
  /// Null where the filter takes no such frames, as `clahe` none of fewer pixels than its tiles
  /// have.
  Filter* region_filter(std::size_t index, const ImageDesc& desc);
  void leave(const ConstImageView& in, const ImageView& out, void* stream) const;

  RecipePtr recipe_;
  MakeFilter make_;
  LeaveFrame leave_;
  std::unique_ptr<Filter> whole_;
  std::vector<RegionFilter> regional_;
  FrameAreas areas_;
  ImageDesc desc_;
  bool told_ = false;  // that a region stays as it was
};

/// A processor with the one filter that it runs.
struct AreaProcessor {
  std::unique_ptr<Processor> processor;
  AreaFilter* filter = nullptr;  ///< the processor's own
};

}  // namespace equalux::gst

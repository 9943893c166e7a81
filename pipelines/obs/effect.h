#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <equalux/filter.h>

#include "src/common/filter_recipe.h"

/// A filter on the frames of one OBS source.
namespace equalux::obs {

/// Times of frames in milliseconds.
struct FrameCost {
  std::uint64_t frames = 0;
  double sum = 0;
  double least = 0;
  double most = 0;

  void add(double ms) {
    least = frames == 0 || ms < least ? ms : least;
    most = ms > most ? ms : most;
    sum += ms;
    ++frames;
  }
  /// Formats as in "1.21 ms each, 0.98 to 4.02".
  [[nodiscard]] std::string text() const;
};

/// Filters frames. Thread-safe: OBS changes settings while a frame is filtered. An error is one
/// line in OBS's log, not repeated until another one occurs.
class Effect {
 public:
  /// `name` is used in log lines.
  explicit Effect(std::string name) : name_(std::move(name)) {}

  /// Sets recipe and split from the next frame on; the filter keeps its history where it can.
  /// `split` is the share of the width, from the left, that stays unfiltered, 0 to 1.
  void set(RecipePtr recipe, double split);
  /// Filters a frame; `in` and `out` are the same memory or do not overlap. Returns false where it
  /// cannot be filtered, and `out` is then unchanged.
  [[nodiscard]] bool filter(const ConstImageView& in, const ImageView& out, std::int64_t pts_ns,
                            FieldOrder field_order) noexcept;
  /// Logs a line, unless it equals the last one.
  void tell(const char* what, const char* and_then) noexcept;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] FrameCost cost() const;

 private:
  void prepare(const ImageDesc& desc);
  [[nodiscard]] int kept_columns(const ImageDesc& desc);

  const std::string name_;
  mutable std::mutex mutex_;  ///< guards all below
  RecipePtr recipe_;
  bool changed_ = false;  ///< the filter does not have the recipe yet
  bool broken_ = false;   ///< frames of desc_ cannot be filtered by the recipe
  double split_ = 0;
  ImageDesc desc_;
  std::unique_ptr<Filter> filter_;
  Image before_;  ///< holds the unfiltered columns during a frame; empty before the first split
  std::uint64_t index_ = 0;
  std::int64_t last_ns_ = 0;
  FrameCost cost_;
  std::mutex told_mutex_;
  std::string told_;  ///< the last line
};

}  // namespace equalux::obs

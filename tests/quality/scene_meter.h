#pragma once

#include <optional>
#include <vector>

#include "src/quality/blocks.h"
#include "src/quality/over_time/settling.h"
#include "src/quality/planes.h"
#include "tests/quality/stability_scenes.h"

/// How calm the result of a stability scene is, measured in the pixels that are known to stand
/// still.
namespace equalux::scenes {

struct SceneFigures {
  /// RMS step between frames of the means of 16x16 blocks, levels of luma; the frame of a cut
  /// aside.
  double step = 0;
  /// Step of the scene with the object, had each frame's curve stayed that of the frame before it.
  /// Empty where the results are no function of V.
  std::optional<double> frozen_step;
  std::vector<double> steps;  ///< of each frame that was taken, from the second on
  std::vector<double> moves;  ///< of each frame that was taken, see largest_move
  /// Most levels by which the mean of any block of 60x60 leaves its mean over the 20 frames before
  /// the event; meant for scenes in which the still pixels' light does not change.
  double largest_move = 0;
  std::optional<std::size_t> settle_frames;  ///< after the cut, see quality::frames_to_settle()
};

/// The step over that of the untouched scene.
[[nodiscard]] double step_over_source(const SceneFigures& result, const SceneFigures& source);
/// The step over the frozen one; empty where there is none.
[[nodiscard]] std::optional<double> step_over_frozen(const SceneFigures& result);
/// The most by which a frame's step is larger than the untouched scene's, levels.
[[nodiscard]] double step_beyond_source(const SceneFigures& result, const SceneFigures& source);

/// Takes a scene's frames in order: all, or those from some frame on. The scene must outlive it.
class SceneMeter {
 public:
  explicit SceneMeter(const StabilityScene& scene);
  void add(int frame, const ConstImageView& original, const ConstImageView& result);
  [[nodiscard]] SceneFigures figures() const;

 private:
  void add_step(int frame);
  void add_frozen_step(const quality::Planes& last_original, const quality::Planes& last_result);
  [[nodiscard]] std::vector<double> moves() const;

  const StabilityScene& scene_;
  quality::BlockGrid grid_;
  quality::BlockMask still_;
  quality::BlockGrid coarse_grid_;
  quality::BlockMask coarse_still_;
  quality::Planes original_, last_original_;
  quality::Planes result_, last_result_;
  std::vector<quality::BlockValues> means_;
  std::vector<quality::BlockValues> coarse_means_;
  std::vector<double> steps_;
  std::vector<quality::ToneCurve> curves_;  // from the cut on
  double step_sum_ = 0;
  int step_count_ = 0;
  double frozen_sum_ = 0;
  int frozen_count_ = 0;
  bool is_curve_;
  int first_ = -1;  // frame that was taken first
};

}  // namespace equalux::scenes

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/quality/blocks.h"
#include "src/quality/colourfulness.h"
#include "src/quality/hue.h"
#include "src/quality/over_time/cuts.h"
#include "src/quality/over_time/ghosting.h"
#include "src/quality/over_time/settling.h"
#include "src/quality/over_time/stillness.h"
#include "src/quality/texture.h"

/// All figures of a clip, or of a clip and its result, frame after frame.
namespace equalux::quality {

/// Figures of one clip. What could not be measured is empty.
struct StreamFigures {
  double entropy_bits = 0;  ///< of luma
  double mean_level = 0;    ///< of V
  double eme_db = 0;
  double colourfulness = 0;
  std::optional<double> skin_level;   ///< mean V of the pixels that are skin in the original
  std::optional<double> noise_sigma;  ///< levels of luma, in the original's flat blocks
  /// RMS step of the means of 16x16 blocks since the last frame, where the original stands still;
  /// levels of luma.
  std::optional<double> still_step;
  /// Standard deviation of what noise does from frame to frame, in the cells of 8x8 pixels that are
  /// steady in the original; levels of luma. See calm_cells() and temporal_noise(). A clip's is of
  /// the frames that have most frames to look back on, kCellFrames as a rule.
  std::optional<double> temporal_noise;
};

/// Figures of a result beside its original.
struct PairFigures {
  double ambe = 0;                         ///< levels of V
  std::optional<double> ssim;              ///< of luma
  double colour_difference = 0;            ///< mean CIEDE2000
  std::optional<double> noise_gain;        ///< noise sigma over the original's
  std::optional<double> hue_error_deg;     ///< mean absolute difference of the CIE hue angle
  std::optional<double> flicker_transfer;  ///< still step over the original's
  /// Share of the original's fine detail that the result has too; see texture_sums().
  std::optional<double> texture_kept;
  /// Error where the original has just changed beyond that where it has not, levels of luma; see
  /// ghost_sums(). The last frame has none: whether it is steady shows in the next one.
  std::optional<double> ghosting;
};

struct FrameFigures {
  StreamFigures a;
  std::optional<StreamFigures> b;
  std::optional<PairFigures> pair;
  double still_share = 0;  ///< of the blocks, 0 to 1
  bool cut = false;        ///< this frame begins another picture
};

struct Cut {
  std::size_t frame = 0;                     ///< the first one of the new picture
  std::optional<std::size_t> settle_frames;  ///< see frames_to_settle()
};

/// Figures of a clip: means over the frames; sigmas and steps as root mean squares, with ratios of
/// those; those of hue, skin, texture and ghosts over all pixels that count.
struct ClipFigures {
  StreamFigures a;
  std::optional<StreamFigures> b;
  std::optional<PairFigures> pair;
  std::optional<double> still_share;  ///< of the blocks, since the last frame; empty for one frame
  std::vector<Cut> cuts;
  std::vector<FrameFigures> frames;
};

/// Takes frames in order. One thread.
class ClipMeter {
 public:
  /// Frames of one size, in bgr; with `pair`, each with its result.
  ClipMeter(int width, int height, bool pair);

  /// `b` is null without `pair`.
  void add(const ConstImageView& a, const ConstImageView* b);

  [[nodiscard]] std::size_t frames() const { return frames_.size(); }
  /// Figures of the frames so far; there must be one.
  [[nodiscard]] ClipFigures figures() const;

 private:
  /// Sums of squares, for root mean squares over frames.
  struct Squares {
    double sum = 0;
    double count = 0;
    void add(double square, double weight = 1);
    [[nodiscard]] std::optional<double> root() const;
  };
  struct Stream {
    Planes last;
    Planes now;
    BlockValues last_means;
    BlockValues means;
    Squares noise;
    Squares steps;
    Squares changes;
  };

  StreamFigures measure_stream(Stream& stream, const BlockMask& flat);
  void measure_colours(const ConstImageView& a, const ConstImageView* b, FrameFigures& frame);
  void measure_step(Stream& stream, const BlockMask& still, std::size_t blocks,
                    StreamFigures& figures);
  void measure_change(Stream& stream, const BlockGrid& grid, const BlockMask& calm,
                      StreamFigures& figures);
  /// What happened since the last frame, given what of the original stands still.
  void measure_time(FrameFigures& frame, const Stillness& stillness);
  void measure_cells(FrameFigures& frame, const SteadyCells& steady);
  void measure_pair(const ConstImageView& a, const ConstImageView& b, FrameFigures& frame);
  void find_cut(FrameFigures& frame, double likeness);
  [[nodiscard]] StreamFigures mean_of(const Stream& stream, bool second) const;
  [[nodiscard]] PairFigures mean_of_pairs(const ClipFigures& figures) const;
  [[nodiscard]] std::vector<Cut> settled_cuts() const;

  BlockGrid grid_;
  bool pair_;
  Stream a_;
  Stream b_;
  LevelHistogram last_histogram_{};
  LevelHistogram histogram_{};
  HueDifference hue_;
  SkinValues skin_;
  TextureSums texture_;
  CellHistory before_;       ///< the original's cells before the last frame
  BlockValues last_cells_;   ///< theirs in the last frame
  std::size_t longest_ = 0;  ///< the most frames that before_ has held
  GhostSums ghosts_;
  std::vector<ToneCurve> curves_;
  std::vector<FrameFigures> frames_;
};

}  // namespace equalux::quality

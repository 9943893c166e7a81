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

/// Figures of a clip, or of a clip and its result, taken frame by frame.
namespace equalux::quality {

/// Figures of one clip; empty where they could not be measured.
struct StreamFigures {
  double entropy_bits = 0;  ///< entropy of luma
  double mean_level = 0;    ///< mean of V
  double eme_db = 0;
  double colourfulness = 0;
  std::optional<double> skin_level;   ///< mean V of the pixels that are skin in the original
  std::optional<double> noise_sigma;  ///< levels of luma, in the original's flat blocks
  /// RMS step of the means of 16x16 blocks since the previous frame, over the blocks that are still
  /// in the original; levels of luma.
  std::optional<double> still_step;
  /// Standard deviation of the noise that changes from frame to frame, in the 8x8 cells that
  /// calm_cells() finds in the original; levels of luma. See temporal_noise(). A clip's figure
  /// takes only the frames with the longest history, kCellFrames as a rule.
  std::optional<double> temporal_noise;
};

/// Figures of a result against its original.
struct PairFigures {
  double ambe = 0;                         ///< levels of V
  std::optional<double> ssim;              ///< of luma
  double colour_difference = 0;            ///< mean CIEDE2000
  std::optional<double> noise_gain;        ///< noise sigma of the result over that of the original
  std::optional<double> hue_error_deg;     ///< mean absolute difference of the CIE hue angle
  std::optional<double> flicker_transfer;  ///< still step of the result over that of the original
  /// Share of the original's fine detail that the result keeps; see texture_sums().
  std::optional<double> texture_kept;
  /// Excess of the error in cells where the original has just changed over the error elsewhere,
  /// levels of luma; see ghost_sums(). The last frame has none, as only the next frame tells which
  /// cells are steady.
  std::optional<double> ghosting;
};

struct FrameFigures {
  StreamFigures a;
  std::optional<StreamFigures> b;
  std::optional<PairFigures> pair;
  double still_share = 0;  ///< share of still blocks, 0 to 1
  bool cut = false;        ///< first frame of a new shot
};

struct Cut {
  std::size_t frame = 0;                     ///< first frame of the new shot
  std::optional<std::size_t> settle_frames;  ///< see frames_to_settle()
};

/// Figures of a clip: means over the frames. Sigmas and steps are root mean squares, and ratios are
/// of those; hue, skin, texture and ghosting are means over all pixels that count.
struct ClipFigures {
  StreamFigures a;
  std::optional<StreamFigures> b;
  std::optional<PairFigures> pair;
  std::optional<double> still_share;  ///< share of still blocks; empty for one frame
  std::vector<Cut> cuts;
  std::vector<FrameFigures> frames;
};

/// Meter of a clip, fed with frames in order. One thread at a time.
class ClipMeter {
 public:
  /// Expects bgr frames of one size; with `pair`, each frame comes with its result.
  ClipMeter(int width, int height, bool pair);

  /// Adds a frame and its result; `b` is null without `pair`.
  void add(const ConstImageView& a, const ConstImageView* b);

  [[nodiscard]] std::size_t frames() const { return frames_.size(); }
  /// Returns the figures of the frames so far, at least one.
  [[nodiscard]] ClipFigures figures() const;

 private:
  /// Weighted sum of squares, for a root mean square over frames.
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
  /// Measures the changes since the previous frame, given the original's still blocks.
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
  CellHistory before_;       ///< cells of the original before the previous frame
  BlockValues last_cells_;   ///< cells of the original in the previous frame
  std::size_t longest_ = 0;  ///< the longest history that before_ has had
  GhostSums ghosts_;
  std::vector<ToneCurve> curves_;
  std::vector<FrameFigures> frames_;
};

}  // namespace equalux::quality

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <equalux/denoise.h>

#include "src/common/stage_clock.h"
#include "src/cpu/common/parallel.h"
#include "src/cpu/denoise/motion.h"
#include "src/denoise/components.h"
#include "src/denoise/noise_estimate.h"
#include "src/format/layout.h"

namespace equalux::denoise {

/// What is known of a component.
struct Knowledge {
  Plane<std::int16_t> estimate;
  Plane<std::uint8_t> weight;
  NoiseEstimate noise;
};

/// Noise reduction of pictures of one size that follow each other: frames, or the fields of one
/// parity. Allocates nothing after its construction. docs/algorithm.md, "Denoising", is the
/// definition.
class PictureSequence {
 public:
  /// The first component decides where there is motion.
  PictureSequence(std::span<const ComponentShape> components, Words words, Words out_words,
                  RowExecutor& executor, const DenoiseRows& loops);

  /// A component each of `in` and `out`, which are the same memory or do not overlap.
  void process(std::span<const Samples<const std::uint8_t>> in,
               std::span<const Samples<std::uint8_t>> out, const DenoiseParams& params,
               FrameRows rows, StageClock& clock);
  void reset();

  /// What is remembered of the pictures so far: pictures() is 0 where there were none.
  [[nodiscard]] std::uint32_t pictures() const { return pictures_; }
  [[nodiscard]] const std::vector<ComponentShape>& components() const { return components_; }
  [[nodiscard]] const std::vector<Knowledge>& knowledge() const { return known_; }
  [[nodiscard]] const MotionField& field() const { return field_; }
  /// Goes on from what another sequence of the same components remembered, once `fill` has written
  /// it.
  template <typename Fill>
  void resume(std::uint32_t pictures, Fill fill) {
    reset();
    fill(known_, field_);
    pad_all();
    motion_.shrink_estimate(known_[0].estimate);
    pictures_ = pictures;
  }

 private:
  /// Rows that a thread has in work lie at their number modulo kRing.
  static constexpr int kRing = 32;
  /// Those of a component.
  struct RowsInWork {
    Plane<std::int16_t> moved_estimate;
    Plane<std::uint8_t> moved_weight;
    Plane<std::int8_t> deviation;
    Plane<std::uint8_t> change;
    /// Where what is known lies, from where it is now: in these planes, or where nothing moves in
    /// those of known_.
    std::array<const std::int16_t*, kRing> estimate;
    std::array<const std::uint8_t*, kRing> weight;
    int ready;  ///< the first row without deviations
  };
  struct Scratch {
    std::vector<RowsInWork> components;
    Plane<std::int16_t> across;
    Plane<std::int16_t> drift;  ///< a row: of samples of the row of blocks that drift_of is
    int drift_of = 0;
    NoiseEstimate noise;
  };
  /// What process() works on.
  struct Picture {
    std::span<const Samples<const std::uint8_t>> in;
    std::span<const Samples<std::uint8_t>> out;
    const DenoiseParams& params;
    FrameRows rows;
  };

  [[nodiscard]] int side(std::size_t component) const;
  [[nodiscard]] int block_rows() const;
  void load(const Picture& picture, std::size_t component);
  void start(const Picture& picture);
  void go_on(const Picture& picture);
  void estimate(const Picture& picture, int begin, int end, Scratch& scratch);
  void estimate_row(std::size_t component, int y, int last, int most, Scratch& scratch);
  void move(std::size_t component, int begin, int end, Scratch& scratch);
  void move_run(std::size_t component, Vector vector, int first, int last, int begin, int end,
                Scratch& scratch);
  void lighten(int row, int y, Scratch& scratch);
  void find_changes(std::size_t component, int y, Scratch& scratch);
  void write(const Picture& picture, const Knowledge& known, std::size_t component, int begin,
             int end, Scratch& scratch);
  void pad_all();

  RowExecutor& executor_;
  const DenoiseRows& loops_;
  const std::array<Taps, kPhases>& taps_;  // all_taps()
  std::vector<ComponentShape> components_;
  Words words_;
  Words out_words_;
  MotionSearch motion_;
  MotionField field_;
  std::vector<Knowledge> known_;
  std::vector<Knowledge> next_;               // what a picture makes of it
  std::vector<Plane<std::int16_t>> samples_;  // of the picture
  std::vector<NoiseCurves> noise_;
  std::vector<Scratch> scratch_;      // by slot
  std::vector<std::uint8_t> seams_;   // rows of blocks with which a thread's share began
  std::vector<std::uint8_t> moves_;   // of rows of blocks: whether one has a vector
  std::vector<std::uint8_t> drifts_;  // and whether one has become lighter or darker
  std::uint32_t pictures_ = 0;
};

}  // namespace equalux::denoise

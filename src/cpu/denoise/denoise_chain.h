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

/// State of a component.
struct Knowledge {
  Plane<std::int16_t> estimate;
  Plane<std::uint8_t> weight;
  NoiseEstimate noise;
  /// Trends of noise blocks, row by row, the last time that each was measured; none of chroma.
  std::vector<Trend> trends;
};

/// Noise reduction of a sequence of pictures of one size, frames or fields of one parity. Allocates
/// only in the constructor. docs/algorithm.md, "Denoising", is the definition.
class PictureSequence {
 public:
  /// Makes a sequence; the first component decides on motion.
  PictureSequence(std::span<const ComponentShape> components, Words words, Words out_words,
                  RowExecutor& executor, const DenoiseRows& loops);

  /// Filters a picture, given by components. `in` and `out` are the same memory or do not overlap.
  void process(std::span<const Samples<const std::uint8_t>> in,
               std::span<const Samples<std::uint8_t>> out, const DenoiseParams& params,
               FrameRows rows, StageClock& clock);
  void reset();

  /// Number of pictures so far; 0 = no state yet.
  [[nodiscard]] std::uint32_t pictures() const { return pictures_; }
  [[nodiscard]] const std::vector<ComponentShape>& components() const { return components_; }
  [[nodiscard]] const std::vector<Knowledge>& knowledge() const { return known_; }
  [[nodiscard]] const MotionField& field() const { return field_; }
  /// Resumes from the state of another sequence with the same components, which `fill` writes.
  template <typename Fill>
  void resume(std::uint32_t pictures, Fill fill) {
    reset();
    fill(known_, field_);
    pad_all();
    motion_.shrink_estimate(known_[0].estimate);
    pictures_ = pictures;
  }

 private:
  /// Rows that a thread works on are stored at their number modulo kRing.
  static constexpr int kRing = 32;
  /// Rows in work of a component.
  struct RowsInWork {
    Plane<std::int16_t> moved_estimate;
    Plane<std::uint8_t> moved_weight;
    Plane<std::int16_t> samples;  ///< of the picture
    Plane<std::int8_t> deviation;
    Plane<std::uint8_t> change;
    /// Addresses of estimates and weights, moved to the present picture: in the planes above, or in
    /// known_ where nothing moves.
    std::array<const std::int16_t*, kRing> estimate;
    std::array<const std::uint8_t*, kRing> weight;
    int ready;  ///< first row without deviations
  };
  struct Scratch {
    std::vector<RowsInWork> components;
    Plane<std::int16_t> written;  ///< two rows: result and samples of the row that is written
    Plane<std::int16_t> gain;     ///< one row: gains of samples in row of blocks gain_of
    int gain_of = 0;
    NoiseEstimate noise;
  };
  /// Arguments of process().
  struct Picture {
    std::span<const Samples<const std::uint8_t>> in;
    std::span<const Samples<std::uint8_t>> out;
    const DenoiseParams& params;
    FrameRows rows;
  };

  /// Place of a noise block in the estimate, along its motion vector.
  struct NoiseBefore {
    const std::int16_t* first;
    std::uint8_t weight;
    int gain;  ///< of the light
  };

  [[nodiscard]] int side(std::size_t component) const;
  [[nodiscard]] int block_rows() const;
  void halve_and_measure(const Picture& picture, std::size_t component);
  void load_row(const Picture& picture, std::size_t component, int y, std::int16_t* out) const;
  void load_unit(const Picture& picture, std::size_t component, int y,
                 Plane<std::int16_t>& rows) const;
  void count_noise(const Picture& picture, std::size_t component);
  void finish_noise(std::size_t component);
  void count_blocks(std::size_t component, int y, const Plane<std::int16_t>& rows,
                    NoiseEstimate& noise);
  void count_trends(std::size_t component, int y, const Plane<std::int16_t>& rows,
                    NoiseEstimate& noise);
  [[nodiscard]] NoiseBefore before(std::size_t component, int x, int y) const;
  [[nodiscard]] Trend* trends(std::size_t component, int y);
  void start(const Picture& picture);
  void go_on(const Picture& picture);
  void estimate(const Picture& picture, int begin, int end, Scratch& scratch);
  void copy_seams(int shares);
  [[nodiscard]] Knowledge& next(std::size_t component) {
    return in_place_ ? known_[component] : spare_[component];
  }
  void estimate_row(const Picture& picture, std::size_t component, int y, int first, int last,
                    Scratch& scratch);
  void take_known(std::size_t component, int y, int first, int last, RowsInWork& rows);
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
  std::vector<Knowledge> spare_;     // for the state after a picture in which blocks move
  std::vector<Knowledge> at_seams_;  // copies of known_ at seams; none for one thread
  std::vector<int> seam_of_;         // by row of blocks: number of its seam
  bool in_place_ = false;            // the present picture changes known_
  std::vector<NoiseCurves> noise_;
  std::vector<std::uint8_t> counted_;  // by component: 1 where noise is counted beside the estimate
  std::vector<Scratch> scratch_;       // one for each thread
  std::vector<std::uint8_t> seams_;    // by row of blocks: 1 where a thread's share began
  std::vector<std::uint8_t> moves_;    // by row of blocks: 1 where a block has a vector
  std::vector<std::uint8_t> lights_;   // by row of blocks: 1 where a block has a gain
  std::uint32_t pictures_ = 0;
};

}  // namespace equalux::denoise

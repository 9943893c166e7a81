#pragma once

#include <cstdint>
#include <optional>

#include <cuda_runtime_api.h>

#include "cuda/runtime/handles.h"
#include "src/equalize/surround.h"
#include "src/equalize/surround_state.h"
#include "src/format/pixel_values.h"

/// Tracks the surround of a stream of frames on a GPU, with the results of
/// src/cpu/equalize/surround_tracker.h. All decisions are made on the device, so that the host does
/// not wait.
namespace equalux::cuda {

inline constexpr int kGridWords = surround::kMostSide / 32;
/// One bit for each block of the grid; a row begins with the lowest bit.
using GridBits = std::uint32_t[surround::kMostSide][kGridWords];

EQUALUX_HD bool grid_bit(const GridBits& bits, int column, int row) {
  return (bits[row][column / 32] >> (column % 32) & 1) != 0;
}

/// State of a stream's surround in device memory.
struct SurroundState {
  GridBits reached;
  GridBits members;
  GridBits marks;  ///< members, and blocks that touch one
  std::uint16_t since[surround::kMostSide * surround::kMostSide];
  std::uint32_t marks_any;
};

/// Tracks frame by frame. Belongs to the device that was current at allocate(). One thread at a
/// time.
class SurroundTracker {
 public:
  /// Sets up for frames of this size and values from 0 to `max_value`, codes of `depth` bits;
  /// forgets the frames seen so far.
  void configure(int width, int height, int max_value, int depth);
  void reset();
  /// Allocates device memory, unless there is some since configure(). Throws Error(unavailable).
  void allocate();
  /// Enqueues the analysis of the next frame; to be called after allocate().
  void follow(const PixelValues& values, std::int64_t pts_ns, cudaStream_t stream);

  /// Waits for the frames in flight and returns what is known after them; nothing where no frame
  /// was seen.
  [[nodiscard]] std::optional<surround::State> state() const;
  /// Continues after the frames of a state of the same grid, or with nothing known. To be called
  /// after allocate() if there is a state. Waits for the frames in flight.
  void go_on(const std::optional<surround::State>& state);

  [[nodiscard]] const surround::Grid& grid() const { return grid_; }
  /// Returns the state in device memory; null before allocate().
  [[nodiscard]] const SurroundState* on_device() const { return state_.get(); }

 private:
  surround::Grid grid_;
  int max_value_ = 255;
  int bits_of_level_ = 0;  ///< of a code, below its level of 8 bits
  bool fresh_ = true;
  surround::Clock clock_;
  DevicePointer<std::uint8_t> codes_;  ///< of the grid's blocks
  DevicePointer<SurroundState> state_;
};

}  // namespace equalux::cuda

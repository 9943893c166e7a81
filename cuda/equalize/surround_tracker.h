#pragma once

#include <cstdint>
#include <optional>

#include <cuda_runtime_api.h>

#include "cuda/runtime/handles.h"
#include "src/equalize/surround.h"
#include "src/equalize/surround_state.h"
#include "src/format/pixel_values.h"

/// The surround of a stream of frames on a GPU: the same as src/cpu/equalize/surround_tracker.h,
/// decided on the device.
namespace equalux::cuda {

inline constexpr int kGridWords = surround::kMostSide / 32;
/// A bit for each block of the grid, lowest first.
using GridBits = std::uint32_t[surround::kMostSide][kGridWords];

EQUALUX_HD bool grid_bit(const GridBits& bits, int column, int row) {
  return (bits[row][column / 32] >> (column % 32) & 1) != 0;
}

/// What is kept of a stream's surround, in device memory.
struct SurroundState {
  GridBits reached;
  GridBits members;
  GridBits marks;  ///< members and blocks that touch one
  std::uint16_t since[surround::kMostSide * surround::kMostSide];
  std::uint32_t marks_any;
};

/// Belongs to the device that was current when it was given memory. One thread at a time.
class SurroundTracker {
 public:
  /// Prepares for frames of that size and values from 0 to `max_value`; forgets the frames seen so
  /// far.
  void configure(int width, int height, int max_value);
  void reset();
  /// Takes memory, if it has none since configure(). Throws Error(unavailable).
  void allocate();
  /// Enqueues a look at the next frame; after allocate().
  void follow(const PixelValues& values, std::int64_t pts_ns, cudaStream_t stream);

  /// What is known behind the frames under way, for which it waits; nothing where none was seen.
  [[nodiscard]] std::optional<surround::State> state() const;
  /// Goes on behind the frames of such a state, of the same grid, or with nothing known; after
  /// allocate() where there is one. Waits for the frames under way.
  void go_on(const std::optional<surround::State>& state);

  [[nodiscard]] const surround::Grid& grid() const { return grid_; }
  /// The state in device memory; null before allocate().
  [[nodiscard]] const SurroundState* on_device() const { return state_.get(); }

 private:
  surround::Grid grid_;
  int max_value_ = 255;
  bool fresh_ = true;
  surround::Clock clock_;
  DevicePointer<std::uint8_t> codes_;  ///< of the grid's blocks
  DevicePointer<SurroundState> state_;
};

}  // namespace equalux::cuda

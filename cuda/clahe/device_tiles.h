#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/clahe.h>

#include "cuda/clahe/clahe.h"
#include "cuda/runtime/handles.h"
#include "src/clahe/tile_grid.h"
#include "src/equalize/tone/tone_control.h"

/// Memory and description of tiles on a GPU, common to the chains of all depths.
namespace equalux::cuda {

/// Makes the LineMix of the first `lines` lines.
[[nodiscard]] std::vector<LineMix> line_mixes(const TileAxis& rows, int lines);

/// Fills in what follows from tiles and frame size: sides, lines, edges, and the bands for a device
/// with `multiprocessors` multiprocessors.
void describe_tiles(ClaheFrame& frame, const ClaheParams& params, const ImageDesc& desc,
                    int multiprocessors);

/// Memory of the tiles, on the device that was current at allocate(). One thread at a time.
class DeviceTiles {
 public:
  /// Allocates states of `tiles` tiles without a history. Throws Error(unavailable).
  void allocate(int tiles);
  [[nodiscard]] TileState* states() const { return states_.get(); }
  [[nodiscard]] std::uint16_t* levels() const { return levels_.get(); }

  // Saves and loads histories as Filter does, for tiles with levels up to `max_value`; waits for
  // the frames in flight.
  [[nodiscard]] std::string save(const ClaheParams& params, const tone::Control& control,
                                 int max_value) const;
  void load(std::string_view state, const ClaheParams& params, tone::Control& control,
            int max_value);

 private:
  [[nodiscard]] std::vector<TileState> read() const;

  std::size_t tiles_ = 0;
  DevicePointer<TileState> states_;
  DevicePointer<std::uint16_t> levels_;
};

}  // namespace equalux::cuda

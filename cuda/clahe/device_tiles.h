#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/clahe.h>

#include "cuda/clahe/clahe.h"
#include "cuda/runtime/handles.h"
#include "src/clahe/tile_grid.h"
#include "src/equalize/tone_control.h"

/// What the chains of tiles of every depth have in common on a GPU.
namespace equalux::cuda {

/// The mixes of so many lines.
[[nodiscard]] std::vector<LineMix> line_mixes(const TileAxis& rows, int lines);

/// Sets what follows from tiles and size: sides, lines, edges, and the bands for a device with so
/// many multiprocessors.
void describe_tiles(ClaheFrame& frame, const ClaheParams& params, const ImageDesc& desc,
                    int multiprocessors);

/// The tiles' memory on the device that was current at allocate(). One thread at a time.
class DeviceTiles {
 public:
  /// Memory of so many tiles without a history. Throws Error(unavailable).
  void allocate(int tiles);
  [[nodiscard]] TileState* states() const { return states_.get(); }
  [[nodiscard]] std::uint16_t* levels() const { return levels_.get(); }

  // As of a Filter, of tiles with levels up to `max_value`; they wait for the frames under way.
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

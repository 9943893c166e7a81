#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/equalize/surround.h"

/// What is known of a stream's surround between two frames, as both backends save it: a part of a
/// filter's state.
namespace equalux::surround {

struct State {
  std::vector<Block> blocks;          ///< of the grid, row by row
  std::vector<std::uint8_t> reached;  ///< 1 for those that were reached in the last frame, else 0
  Clock clock;
};

/// A filter's state, a JSON object, with a surround's in it if one is known.
[[nodiscard]] std::string with_state(std::string filter_state, const Grid& grid,
                                     const std::optional<State>& state);

/// The surround in a filter's state; nothing where it has none. Throws Error(usage) where it is
/// none of such a grid.
[[nodiscard]] std::optional<State> state_in(std::string_view filter_state, const Grid& grid);

}  // namespace equalux::surround

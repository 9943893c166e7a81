#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/equalize/surround.h"

/// Surround of a stream between two frames, as both backends save it within a filter's state.
namespace equalux::surround {

/// Key of it in a filter's state.
inline constexpr const char* kStateKey = "surround";

struct State {
  std::vector<Block> blocks;          ///< blocks of the grid, row by row
  std::vector<std::uint8_t> reached;  ///< 1 for each block that the last frame reached, else 0
  Clock clock;
};

/// Returns a filter's state, a JSON object, with a surround's state inserted if there is one.
[[nodiscard]] std::string with_state(std::string filter_state, const Grid& grid,
                                     const std::optional<State>& state);

/// Returns the surround's state in a filter's state, or nothing. Throws Error(usage) where it
/// belongs to another grid.
[[nodiscard]] std::optional<State> state_in(std::string_view filter_state, const Grid& grid);

}  // namespace equalux::surround

#include "src/equalize/surround_state.h"

#include "src/common/json_text.h"
#include "src/common/state_text.h"

namespace equalux::surround {
namespace {

// Block as one number: reached, member, and the time since it has looked otherwise.
constexpr std::uint32_t kReached = 1;
constexpr std::uint32_t kMember = 2;
constexpr std::uint32_t kSince = 4;

std::uint32_t code_of(const State& state, std::size_t i) {
  const Block& block = state.blocks[i];
  return (state.reached[i] != 0 ? kReached : 0) + (block.member ? kMember : 0) +
         kSince * block.since;
}

/// Run-length code, row by row, as "how many, which": neighbours are mostly alike.
nlohmann::json runs_of(const State& state) {
  nlohmann::json runs = nlohmann::json::array();
  for (std::size_t i = 0, end = 0; i < state.blocks.size(); i = end) {
    const std::uint32_t code = code_of(state, i);
    while (end < state.blocks.size() && code_of(state, end) == code)
      ++end;
    runs.push_back(end - i);
    runs.push_back(code);
  }
  return runs;
}

void read_runs(const nlohmann::json& runs, std::size_t blocks, State& state) {
  if (!runs.is_array() || runs.size() % 2 != 0) refuse_number();
  for (std::size_t i = 0; i < runs.size(); i += 2) {
    const auto left = static_cast<std::int64_t>(blocks - state.blocks.size());
    const auto count = static_cast<std::size_t>(whole(runs[i], 1, left));
    const auto code = static_cast<std::uint32_t>(whole(runs[i + 1], 0, kSince * kSecond - 1));
    const Block block{(code & kMember) != 0, static_cast<std::uint16_t>(code / kSince)};
    state.blocks.insert(state.blocks.end(), count, block);
    state.reached.insert(state.reached.end(), count, (code & kReached) != 0 ? 1 : 0);
  }
  if (state.blocks.size() != blocks) refuse_number();
}

}  // namespace

std::string with_state(std::string filter_state, const Grid& grid,
                       const std::optional<State>& state) {
  if (!state) return filter_state;
  nlohmann::json whole_state = parse_json(filter_state);
  nlohmann::json& own = whole_state[kStateKey] = {{"columns", grid.columns},
                                                  {"rows", grid.rows},
                                                  {"blocks", runs_of(*state)},
                                                  {"step", state->clock.step()}};
  if (state->clock.last_pts_ns()) own["pts-ns"] = *state->clock.last_pts_ns();
  return json_text(whole_state);
}

std::optional<State> state_in(std::string_view filter_state, const Grid& grid) {
  try {
    const nlohmann::json whole_state = parse_json(filter_state);
    if (!whole_state.contains(kStateKey)) return std::nullopt;
    const nlohmann::json& own = whole_state.at(kStateKey);
    const std::uint32_t columns = whole(own.at("columns"));
    const std::uint32_t rows = whole(own.at("rows"));
    if (columns != static_cast<std::uint32_t>(grid.columns) ||
        rows != static_cast<std::uint32_t>(grid.rows)) {
      throw_usage("the state is of a surround in " + std::to_string(columns) + "x" +
                  std::to_string(rows) + " blocks, must be " + std::to_string(grid.columns) + "x" +
                  std::to_string(grid.rows));
    }
    State state;
    read_runs(own.at("blocks"), static_cast<std::size_t>(grid.blocks()), state);
    const auto step = static_cast<std::uint32_t>(whole(own.at("step"), 0, kSecond - 1));
    std::optional<std::int64_t> last_pts_ns;
    if (own.contains("pts-ns")) last_pts_ns = timestamp(own.at("pts-ns"));
    state.clock = Clock(last_pts_ns, step);
    return state;
  } catch (const nlohmann::json::exception& error) {
    refuse_state(error);
  }
}

}  // namespace equalux::surround

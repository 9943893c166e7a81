// Tests the state of a curve over time, or, after a first line "tiles", that of all tiles of
// `clahe`, or, after "surround", that of a filter with a surround: what is accepted is saved as the
// same state again, and gives curves within their bounds.
#include <cmath>

#include <nlohmann/json.hpp>

#include "fuzz/invariant.h"
#include "src/clahe/tile_state.h"
#include "src/common/json_text.h"
#include "src/equalize/saturation.h"
#include "src/equalize/surround_state.h"
#include "src/equalize/tone/tone_control.h"

namespace {

using namespace equalux;

constexpr std::string_view kTiles = "tiles\n";
constexpr std::string_view kSurround = "surround\n";
constexpr int kMaxValue = 255;

EqualizeParams some_params() {
  EqualizeParams params;
  params.strength = 0.8;
  params.clip_limit = 3;
  params.floor = 1;
  params.ceiling = 99;
  params.max_gain = 4;
  params.temporal_ms = 2000;
  return params;
}

void check_limits(const nlohmann::json& state) {
  const auto& limits = state["limits"];
  for (const double each : limits)
    fuzz::require(each >= 0 && each <= 1, "a limit from 0 to 1", json_text(limits));
  fuzz::require(limits[1] < limits[2], "a floor below the ceiling", json_text(limits));
  fuzz::require(state["step-ns"] > 0, "time goes on", json_text(state["step-ns"]));
}

void check_frames(tone::Control control) {
  for (const std::int64_t pts_ns : {std::int64_t{0}, std::int64_t{33'333'333}}) {
    FrameContext context;
    context.pts_ns = pts_ns;
    const tone::Frame frame = control.next(context);
    const tone::Limits& limits = frame.limits;
    fuzz::require(limits.strength + limits.flat_strength <= tone::kOne + 1, "a strength up to 1");
    fuzz::require(frame.saturation.factor <= saturation::kMost, "a saturation up to 4");
    fuzz::require(
        frame.saturation.most >= saturation::kOne && frame.saturation.most <= saturation::kMost,
        "a bound of saturation from 1 to 4");
    fuzz::require(limits.floor < limits.ceiling && limits.ceiling <= tone::kWhole,
                  "a floor below the ceiling");
    fuzz::require(std::isfinite(limits.per_part) && limits.per_part > 0, "a part of the whole");
    fuzz::require(limits.clip == 0 || limits.clip >= tone::kClipOne, "a clip limit from 1 on");
    fuzz::require(limits.min_gain + limits.spread_min_gain <= tone::kOne + 1,
                  "a least gain up to 1");
    fuzz::require(limits.max_gain == 0 || limits.max_gain >= tone::kOne, "a gain from 1 on");
    for (const std::uint32_t rate : {frame.rates.brighten, frame.rates.darken})
      fuzz::require(rate > 0 && rate <= tone::kOne, "a rate over 0 up to 1");
  }
}

void check_tiles(std::string_view text) {
  ClaheParams params;
  params.tiles_x = 2;
  params.tiles_y = 1;
  params.curve = some_params();
  tone::Control control(params.curve);
  std::vector<tone::History> histories(2);
  const std::string before = save_tiles(params, control, histories, kMaxValue);
  const bool taken = fuzz::accepted(ExitCode::usage, "the state ", [&] {
    load_tiles(text, params, control, histories, kMaxValue);
  });
  const std::string after = save_tiles(params, control, histories, kMaxValue);
  fuzz::require(taken || after == before, "what is refused changes nothing", after);
  if (!taken) return;
  load_tiles(after, params, control, histories, kMaxValue);
  fuzz::require(save_tiles(params, control, histories, kMaxValue) == after,
                "a state that is saved and loaded is the same", after);
  const auto state = parse_json(after);
  for (const auto& curve : state["curves"])
    check_limits(curve);
  check_frames(control);
}

void check_surround(std::string_view text) {
  const auto grid = surround::Grid::of(160, 120);
  std::optional<surround::State> state;
  const bool taken = fuzz::accepted(ExitCode::usage, "the state ",
                                    [&] { state = surround::state_in(text, grid); });
  if (!taken || !state) return;
  const auto blocks = static_cast<std::size_t>(grid.blocks());
  fuzz::require(state->blocks.size() == blocks && state->reached.size() == blocks,
                "a block for each of the grid's");
  for (const surround::Block& block : state->blocks)
    fuzz::require(block.since < surround::kSecond, "less than a second");
  const std::string after = surround::with_state("{}", grid, state);
  const std::optional<surround::State> again = surround::state_in(after, grid);
  fuzz::require(again && surround::with_state("{}", grid, again) == after,
                "a state that is saved and loaded is the same", after);
  fuzz::require(state->clock.next(33'333'333) <= surround::kSecond, "a step of up to a second");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  if (text.starts_with(kTiles)) {
    check_tiles(text.substr(kTiles.size()));
    return 0;
  }
  if (text.starts_with(kSurround)) {
    check_surround(text.substr(kSurround.size()));
    return 0;
  }
  tone::Control control(some_params());
  tone::History history;
  const std::string before = control.save(history, kMaxValue);
  const auto load = [&] { history = control.load(text, kMaxValue); };
  const bool taken = fuzz::accepted(ExitCode::usage, "the state ", load);
  const std::string after = control.save(history, kMaxValue);
  fuzz::require(taken || after == before, "what is refused changes nothing", after);
  if (!taken) return 0;
  tone::Control again(some_params());
  const tone::History same = again.load(after, kMaxValue);
  fuzz::require(again.save(same, kMaxValue) == after,
                "a state that is saved and loaded is the same", after);
  check_limits(parse_json(after));
  check_frames(control);
  return 0;
}

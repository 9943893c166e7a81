#include "src/clahe/tile_state.h"

#include <nlohmann/json.hpp>

#include "src/common/json_text.h"
#include "src/common/state_text.h"
#include "src/options/option_values.h"

namespace equalux {
namespace {

constexpr int kTileStateVersion = 1;

}  // namespace

std::string save_tiles(const ClaheParams& params, const tone::Control& control,
                       const std::vector<tone::History>& histories, int max_value) {
  if (params.curve.temporal_ms == 0) return "{}";
  nlohmann::json curves = nlohmann::json::array();
  for (const tone::History& history : histories)
    curves.push_back(parse_json(control.save(history, max_value)));
  return json_text(nlohmann::json{{"version", kTileStateVersion},
                                  {"tiles", {params.tiles_x, params.tiles_y}},
                                  {"curves", curves}});
}

void load_tiles(std::string_view state, const ClaheParams& params, tone::Control& control,
                std::vector<tone::History>& histories, int max_value) {
  if (params.curve.temporal_ms == 0) return take_no_state(state);
  try {
    const nlohmann::json all = parse_json(state);
    if (const auto& version = all.at("version"); version != kTileStateVersion) {
      throw_usage("the state has version " + json_text(version) + ", must be " +
                  std::to_string(kTileStateVersion));
    }
    const auto& x = all.at("tiles").at(0);
    const auto& y = all.at("tiles").at(1);
    const auto& curves = all.at("curves");
    if (x != params.tiles_x || y != params.tiles_y || curves.size() != histories.size()) {
      throw_usage("the state is of " + json_text(x) + "," + json_text(y) + " tiles, must be " +
                  std::to_string(params.tiles_x) + "," + std::to_string(params.tiles_y));
    }
    // A damaged curve leaves `control` unchanged.
    tone::Control loaded = control;
    std::vector<tone::History> read;
    for (const nlohmann::json& curve : curves)
      read.push_back(loaded.load(json_text(curve), max_value));
    control = loaded;
    histories = read;
  } catch (const nlohmann::json::exception& error) {
    refuse_state(error);
  }
}

}  // namespace equalux

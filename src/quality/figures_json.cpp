#include "src/quality/figures_json.h"

#include <cstddef>
#include <utility>

#include <nlohmann/json.hpp>

#include "src/common/json_text.h"

namespace equalux::quality {
namespace {

using Json = nlohmann::ordered_json;

template <typename Figures, std::size_t N>
Json json_of(const FigureRow<Figures> (&rows)[N], const Figures& figures) {
  Json json = Json::object();
  for (const FigureRow<Figures>& row : rows) {
    if (const std::optional<double> value = row.of(figures)) json[row.key] = *value;
  }
  return json;
}

/// Makes the figures of the clip or of one frame.
template <typename Figures>
Json all_of(const Figures& figures) {
  Json json{{"a", json_of(kStreamFigures, figures.a)}};
  if (figures.b) json["b"] = json_of(kStreamFigures, *figures.b);
  if (figures.pair) json["pair"] = json_of(kPairFigures, *figures.pair);
  return json;
}

}  // namespace

Json figures_json(const ClipFigures& figures) {
  Json json{{"figures", all_of(figures)}};
  if (figures.still_share) json["figures"]["still_share"] = *figures.still_share;
  json["cuts"] = Json::array();
  for (const Cut& cut : figures.cuts) {
    Json one{{"frame", cut.frame}};
    if (cut.settle_frames) one["settle_frames"] = *cut.settle_frames;
    json["cuts"].push_back(one);
  }
  json["frames"] = Json::array();
  for (std::size_t i = 0; i < figures.frames.size(); ++i) {
    Json frame = all_of(figures.frames[i]);
    if (i > 0) frame["still_share"] = figures.frames[i].still_share;
    json["frames"].push_back(std::move(frame));
  }
  return json;
}

std::string figures_text(const ClipFigures& figures) {
  return json_text(figures_json(figures));
}

}  // namespace equalux::quality

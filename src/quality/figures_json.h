#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "src/quality/clip_meter.h"

/// Names of the figures and their JSON, for `equalux measure` and Python.
namespace equalux::quality {

/// Figure of a single clip, or of a result against its original.
template <typename Figures>
struct FigureRow {
  const char* key;    ///< name in JSON
  const char* label;  ///< name in tables and plots, with the unit
  int digits;
  std::optional<double> (*of)(const Figures&);
};

inline constexpr FigureRow<StreamFigures> kStreamFigures[] = {
    {"entropy_bits", "entropy, bits", 2,
     [](const StreamFigures& f) { return std::optional(f.entropy_bits); }},
    {"mean_level", "mean V, levels", 1,
     [](const StreamFigures& f) { return std::optional(f.mean_level); }},
    {"eme_db", "EME, dB", 1, [](const StreamFigures& f) { return std::optional(f.eme_db); }},
    {"colourfulness", "colourfulness", 1,
     [](const StreamFigures& f) { return std::optional(f.colourfulness); }},
    {"skin_level", "V of skin, levels", 1, [](const StreamFigures& f) { return f.skin_level; }},
    {"noise_sigma", "noise sigma, levels", 2, [](const StreamFigures& f) { return f.noise_sigma; }},
    {"still_step", "static-region RMS step, levels", 3,
     [](const StreamFigures& f) { return f.still_step; }},
    {"temporal_noise", "temporal noise, levels", 2,
     [](const StreamFigures& f) { return f.temporal_noise; }},
};
inline constexpr FigureRow<PairFigures> kPairFigures[] = {
    {"ambe", "AMBE, levels", 1, [](const PairFigures& f) { return std::optional(f.ambe); }},
    {"ssim", "SSIM", 3, [](const PairFigures& f) { return f.ssim; }},
    {"colour_difference", "CIEDE2000", 1,
     [](const PairFigures& f) { return std::optional(f.colour_difference); }},
    {"noise_gain", "noise gain", 2, [](const PairFigures& f) { return f.noise_gain; }},
    {"hue_error_deg", "hue error, degrees", 1,
     [](const PairFigures& f) { return f.hue_error_deg; }},
    {"flicker_transfer", "light-flicker transfer", 2,
     [](const PairFigures& f) { return f.flicker_transfer; }},
    {"texture_kept", "texture kept", 3, [](const PairFigures& f) { return f.texture_kept; }},
    {"ghosting", "ghosting, levels", 2, [](const PairFigures& f) { return f.ghosting; }},
};

/// Returns {"figures", "cuts", "frames"}: the figures of the clip, its cuts, and the figures of
/// each frame; without those that could not be measured.
[[nodiscard]] nlohmann::ordered_json figures_json(const ClipFigures& figures);
/// Returns figures_json() as text on one line.
[[nodiscard]] std::string figures_text(const ClipFigures& figures);

}  // namespace equalux::quality

// Measures how stable results are over time, and how good they look: our methods and others on the
// same clips, which are drawn by a program, and on a natural one.
//
//    stability [--json FILE] [--plot FILE.png] [--clip FILE] [--only scenes|quality]
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <nlohmann/json.hpp>

#include "bench/quality/clip_methods.h"
#include "bench/quality/ffmpeg_pipe.h"
#include "bench/support/json_file.h"
#include "src/cli/stream/clip_reader.h"
#include "src/plot/figure.h"
#include "src/plot/markdown.h"
#include "src/quality/clip_meter.h"
#include "tests/quality/scene_meter.h"
#include "tests/quality/stability_scenes.h"

namespace equalux::bench {
namespace {

using scenes::SceneFigures;
using scenes::SceneKind;
using scenes::SceneMeter;
using scenes::StabilityScene;
using Json = nlohmann::ordered_json;

constexpr int kNaturalFrames = 160;
constexpr int kDarkPercent = 40;

/// Clip of Debian's package opencv-doc; without it the sample clip is used.
constexpr const char* kNaturalClip = "/usr/share/doc/opencv-doc/examples/data/vtest.avi";
constexpr const char* kSampleClip = EQUALUX_SOURCE_FOLDER "/samples/clip.mp4";

/// The main figure of a scene, and the largest value that it may have.
struct Column {
  SceneKind scene;
  const char* key;
  const char* label;
  std::optional<double> most;
  std::optional<double> (*of)(const SceneFigures& result, const SceneFigures& source);
};

std::optional<double> step_of(const SceneFigures& result, const SceneFigures&) {
  return result.step;
}
std::optional<double> over_source(const SceneFigures& result, const SceneFigures& source) {
  return step_over_source(result, source);
}
std::optional<double> over_frozen(const SceneFigures& result, const SceneFigures&) {
  return step_over_frozen(result);
}
std::optional<double> beyond_source(const SceneFigures& result, const SceneFigures& source) {
  return step_beyond_source(result, source);
}
std::optional<double> move_of(const SceneFigures& result, const SceneFigures&) {
  return result.largest_move;
}
std::optional<double> settled(const SceneFigures& result, const SceneFigures&) {
  if (!result.settle_frames) return std::nullopt;
  return static_cast<double>(*result.settle_frames);
}

const std::vector<Column>& columns() {
  static const std::vector<Column> all{
      {SceneKind::noise, "noise_step", "noise: step", {}, step_of},
      {SceneKind::object, "object_step", "object: step", {}, step_of},
      {SceneKind::object, "object_over_frozen", "object: over frozen", 1.1, over_frozen},
      {SceneKind::flicker, "flicker_step", "flicker: step", {}, step_of},
      {SceneKind::flicker, "flicker_over_source", "flicker: over source", 0.25, over_source},
      {SceneKind::beat_100hz, "beat_100hz_over_source", "100 Hz: over source", {}, over_source},
      {SceneKind::beat_120hz, "beat_120hz_over_source", "120 Hz: over source", {}, over_source},
      {SceneKind::cut, "cut_settle_frames", "cut: frames", 1, settled},
      {SceneKind::fade, "fade_beyond_source", "fade: beyond source", 2, beyond_source},
      {SceneKind::logo, "logo_move", "logo: move", 3, move_of},
      {SceneKind::letterbox, "letterbox_move", "letterbox: move", {}, move_of},
  };
  return all;
}

std::string cell(const std::optional<double>& value) {
  if (!value) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", *value);
  return text;
}

/// Returns the figures of every method (the source first) on one scene.
std::vector<SceneFigures> run_scene(SceneKind kind, const std::vector<Method>& methods) {
  const StabilityScene scene(kind);
  const Clip clip{StabilityScene::kDesc, scene.frames(),
                  [&](int i, const ImageView& to) { scene.draw(i, to); }};
  std::vector<SceneFigures> figures;
  for (const Method& method : methods) {
    std::fprintf(stderr, "%s: %s\n", std::string(name_of(kind)).c_str(), method.name.c_str());
    SceneMeter meter(scene);
    method.run(clip, [&](int i, const ConstImageView& original, const ConstImageView& result) {
      meter.add(i, original, result);
    });
    figures.push_back(meter.figures());
  }
  return figures;
}

/// Plots a scene over time.
plot::Panel scene_panel(SceneKind kind, const std::vector<Method>& methods,
                        const std::vector<SceneFigures>& figures) {
  const bool moves = kind == SceneKind::logo || kind == SceneKind::letterbox;
  plot::LineChart chart{std::string(name_of(kind)),
                        {"frame"},
                        {moves ? "largest move, levels" : "RMS step, levels",
                         moves ? plot::Scale::linear : plot::Scale::log10},
                        {},
                        {},
                        {}};
  chart.dots = false;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    if (!methods[m].plotted) continue;
    const std::vector<double>& values = moves ? figures[m].moves : figures[m].steps;
    plot::Series series{methods[m].name, {}};
    for (std::size_t i = 0; i < values.size(); ++i)
      series.points.emplace_back(static_cast<double>(i + (moves ? 0 : 1)), values[i]);
    chart.series.push_back(std::move(series));
  }
  return plot::line_chart(chart);
}

Json run_scenes(const std::vector<Method>& methods, const std::string& plot) {
  std::vector<std::vector<std::string>> rows;
  rows.push_back({"at most"});
  Json results = Json::array();
  for (const Method& method : methods) {
    rows.push_back({method.name});
    results.push_back({{"method", method.name}, {"how", method.how}});
  }
  std::vector<std::string> names{"method"};
  std::vector<plot::Panel> panels;
  for (const SceneKind kind : scenes::all_scenes()) {
    const std::vector<SceneFigures> figures = run_scene(kind, methods);
    for (const Column& column : columns()) {
      if (column.scene != kind) continue;
      names.emplace_back(column.label);
      rows[0].push_back(column.most ? cell(column.most) : "");
      for (std::size_t m = 0; m < methods.size(); ++m) {
        const std::optional<double> value = column.of(figures[m], figures[0]);
        rows[m + 1].push_back(cell(value));
        if (value) results[m][column.key] = *value;
      }
    }
    const bool shown =
        kind != SceneKind::noise && kind != SceneKind::beat_100hz && kind != SceneKind::beat_120hz;
    if (shown) panels.push_back(scene_panel(kind, methods, figures));
  }
  std::printf("%s\n", plot::markdown_table(names, rows).c_str());
  if (!plot.empty()) plot::draw_figure(panels, plot);
  return results;
}

/// Reads the first frames of a file.
std::vector<Image> read_clip(const std::string& path) {
  cli::InputOptions options;
  options.decoder = "software";
  cli::ClipReader reader(path, options);
  reader.open();
  std::vector<Image> frames;
  while (static_cast<int>(frames.size()) < kNaturalFrames && reader.next()) {
    frames.emplace_back(reader.picture().desc);
    copy_image(reader.picture(), frames.back().view());
  }
  if (frames.empty()) throw Error(ExitCode::bad_input, path + " has no frames");
  return frames;
}

quality::ClipFigures measure_quality(const Method& method, const Clip& clip) {
  quality::ClipMeter meter(clip.desc.width, clip.desc.height, true);
  method.run(clip, [&](int, const ConstImageView& original, const ConstImageView& result) {
    meter.add(original, &result);
  });
  return meter.figures();
}

Json quality_json(const quality::ClipFigures& figures) {
  Json json{{"entropy_bits", figures.b->entropy_bits},
            {"ambe", figures.pair->ambe},
            {"eme_db", figures.b->eme_db}};
  if (figures.pair->ssim) json["ssim"] = *figures.pair->ssim;
  if (figures.pair->noise_gain) json["noise_gain"] = *figures.pair->noise_gain;
  if (figures.pair->hue_error_deg) json["hue_error_deg"] = *figures.pair->hue_error_deg;
  return json;
}

/// Formats as in "natural / dark".
std::string both(const Json& natural, const Json& dark, const char* key) {
  const auto one = [key](const Json& json) {
    return cell(json.contains(key) ? std::optional(json[key].get<double>()) : std::nullopt);
  };
  return one(natural) + " / " + one(dark);
}

Json run_quality(const std::vector<Method>& methods, const std::string& path) {
  const std::vector<Image> frames = read_clip(path);
  const auto frame = [&](int i) { return frames[static_cast<std::size_t>(i)].view(); };
  Clip natural{frames.front().desc(), static_cast<int>(frames.size()),
               [&](int i, const ImageView& to) { copy_image(frame(i), to); }};
  Clip dark = natural;
  dark.draw = [&](int i, const ImageView& to) { scenes::darken(frame(i), kDarkPercent, i, to); };
  constexpr std::pair<const char*, const char*> kColumns[] = {
      {"entropy_bits", "entropy, bits"},
      {"ambe", "AMBE, levels"},
      {"eme_db", "EME, dB"},
      {"ssim", "SSIM"},
      {"noise_gain", "noise gain"},
      {"hue_error_deg", "hue error, degrees"}};
  std::vector<std::string> names{"method"};
  for (const auto& [key, label] : kColumns)
    names.emplace_back(label);
  std::vector<std::vector<std::string>> rows;
  Json results = Json::array();
  for (const Method& method : methods) {
    std::fprintf(stderr, "quality: %s\n", method.name.c_str());
    const Json of_natural = quality_json(measure_quality(method, natural));
    const Json of_dark = quality_json(measure_quality(method, dark));
    rows.push_back({method.name});
    for (const auto& [key, label] : kColumns)
      rows.back().push_back(both(of_natural, of_dark, key));
    results.push_back(
        {{"method", method.name}, {"how", method.how}, {"natural", of_natural}, {"dark", of_dark}});
  }
  std::printf("%s\n", plot::markdown_table(names, rows).c_str());
  return Json{{"clip", std::filesystem::path(path).filename().string()},
              {"frames", natural.frames},
              {"dark_percent", kDarkPercent},
              {"noise_sigma", StabilityScene::kNoiseSigma},
              {"results", results}};
}

struct Arguments {
  std::string json;
  std::string plot;
  std::string clip;
  std::string only;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  std::error_code ignored;
  const bool has_natural = std::filesystem::exists(kNaturalClip, ignored);
  arguments.clip = has_natural ? kNaturalClip : kSampleClip;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    std::string* target = name == "--json"   ? &arguments.json
                          : name == "--plot" ? &arguments.plot
                          : name == "--clip" ? &arguments.clip
                          : name == "--only" ? &arguments.only
                                             : nullptr;
    if (target == nullptr) {
      throw Error(ExitCode::usage, name + " is unknown, must be --json, --plot, --clip or --only");
    }
    *target = argv[i + 1];
  }
  if (argc % 2 == 0) throw Error(ExitCode::usage, std::string(argv[argc - 1]) + " has no value");
  if (!arguments.only.empty() && arguments.only != "scenes" && arguments.only != "quality") {
    throw Error(ExitCode::usage, "--only is '" + arguments.only + "', must be scenes or quality");
  }
  return arguments;
}

int run_all(const Arguments& arguments) {
  const std::vector<Method> methods = clip_methods();
  Json json{{"equalux", version()}, {"ffmpeg", ffmpeg_version()}};
  if (arguments.only != "quality") json["scenes"] = run_scenes(methods, arguments.plot);
  if (arguments.only != "scenes") json["quality"] = run_quality(methods, arguments.clip);
  return write_json(arguments.json, json, "stability");
}

}  // namespace
}  // namespace equalux::bench

int main(int argc, char** argv) {
  using namespace equalux;
  std::signal(SIGPIPE, SIG_IGN);  // an ffmpeg that ends early is reported in one line
  try {
    return bench::run_all(bench::read_arguments(argc, argv));
  } catch (const Error& error) {
    std::fprintf(stderr, "stability: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stability: %s\n", error.what());
    return static_cast<int>(ExitCode::unavailable);
  }
}

#include "src/cli/stream/live_control.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "src/cli/commands.h"
#include "src/cli/settings.h"
#include "src/common/formatting.h"
#include "src/common/log.h"
#include "src/common/system_error.h"
#include "src/options/option_values.h"

namespace equalux::cli {
namespace {

constexpr const char* kNoToken = "none";

/// Returns a token of 128 random bits.
std::string made_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getentropy(bytes.data(), bytes.size()) != 0) {
    throw Error(ExitCode::unavailable,
                "no --serve-token can be made: " + system_error_text(errno) + ", must be given");
  }
  std::string token;
  for (const unsigned char byte : bytes)
    token += fmt::format("{:02x}", byte);
  return token;
}

/// Returns the token, read from the first line of a file for @FILE; empty = no token is needed.
[[maybe_unused]] std::string token_of(const std::string& text) {
  if (text.empty()) return made_token();
  if (text == kNoToken) return {};
  if (!text.starts_with('@')) return text;
  const std::string path = text.substr(1);
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) {
    throw_usage("--serve-token " + text + " cannot be read, must be @FILE with the token in it");
  }
  if (line.ends_with('\r')) line.pop_back();  // Editors of Windows end lines with "\r\n".
  // An empty token would mean that none is needed.
  if (line.empty()) {
    throw_usage("--serve-token " + text +
                " begins with an empty line, must be @FILE with the token in "
                "its first line");
  }
  return line;
}

/// Returns the presets that `run` takes, with their summaries.
std::vector<std::pair<std::string, std::string>> presets_of_run() {
  std::vector<std::pair<std::string, std::string>> presets;
  for (const Preset& preset : list_presets(all_commands())) {
    const std::vector<std::string>& owners = preset.commands;
    if (owners.empty() || std::find(owners.begin(), owners.end(), "run") != owners.end()) {
      presets.emplace_back(preset.name, preset.summary);
    }
  }
  return presets;
}

std::vector<std::string> names_of_presets() {
  std::vector<std::string> names;
  for (const auto& [name, summary] : presets_of_run())
    names.push_back(name);
  return names;
}

/// Returns the filters that can be changed while they run.
std::vector<Steered> steered_of(const CommonOptions& common, Backend backend) {
  std::vector<Steered> filters;
  const std::vector<FilterSpec> specs = chosen_filters(common);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const RecipePtr recipe = read_recipe(specs[i], common.equalize);
    // The staged chain has no live options.
    const bool staged = find_option(recipe->options(), "chain") != nullptr &&
                        recipe->text("chain") == enum_name(Chain::staged);
    Steered filter = steered(i, recipe, backend);
    if (!staged && !filter.values.empty()) filters.push_back(std::move(filter));
  }
  return filters;
}

/// Returns a reader of presets for live changes. The chain stays: where noise reduction came with a
/// preset, one without it turns it off.
Steering::ReadPreset read_preset_for(const CommonOptions& common) {
  return [of_preset = common.filters_of_preset](const std::string& name) {
    OptionValues values = preset_options(name);
    constexpr const char* kNoiseKey = "denoise-strength";
    if (of_preset && find_value(values, kNoiseKey) == nullptr) values.emplace_back(kNoiseKey, "0");
    return values;
  };
}

/// Returns what a preset has beside what can be changed while frames move, and this run has not: it
/// would look as if the preset did nothing about noise, for example.
std::string lacking_of(const CommonOptions& common, const std::string& preset) {
  const std::vector<FilterSpec> specs = chosen_filters(common);
  std::string lacking;
  const auto add = [&lacking](const std::string& what) {
    lacking += (lacking.empty() ? "" : " and ") + what;
  };
  for (const std::string& text : preset_filters(preset)) {
    const std::string name = parse_filter_spec(text).name;
    const auto has_name = [&name](const FilterSpec& spec) { return spec.name == name; };
    if (std::none_of(specs.begin(), specs.end(), has_name)) add(name);
  }
  const auto equalize = std::find_if(
      specs.begin(), specs.end(), [](const FilterSpec& spec) { return spec.name == "equalize"; });
  if (equalize != specs.end()) {
    const RecipePtr recipe = read_recipe(*equalize, common.equalize);
    for (const auto& [key, value] : preset_options(preset)) {
      const equalux::Option* const option = find_option(recipe->options(), key);
      if (option != nullptr && !option->live && recipe->text(key) != value) add(key + " " + value);
    }
  }
  if (lacking.empty()) return {};
  return "preset " + preset + " also has " + lacking +
         ", which a run cannot take on while frames move; --preset " + preset + " begins with it";
}

/// Returns equalize's live options, for --help.
std::string live_keys() {
  std::string keys;
  for (const equalux::Option& option : equalize_options())
    if (option.live) keys += std::string(option.key) + ", ";
  return keys;
}

}  // namespace

OptionGroup live_group(LiveOptions& options) {
  OptionGroup group{"Live", {}, false};
  group.options = {
      text_option("control", "PATH",
                  "take changes while frames move over a Unix socket: a JSON object a line, as "
                  "{\"strength\":0.6,\"filter\":true}, with the keys " +
                      live_keys() +
                      "filter, recording, preset and reset, and those of other filters of the "
                      "chain, clahe.strength for one filter alone; answers with state and counters "
                      "(default: none)",
                  options.control),
      text_option("serve", "ADDRESS:PORT",
                  "serve a page to look on and to steer with, /stream.mjpeg and /snapshot.jpg for "
                  "Home Assistant and the like, a JSON API and /metrics for Prometheus; PORT alone "
                  "is 127.0.0.1:PORT, which only this machine reaches "
                  "(default: none)",
                  options.serve),
      text_option("serve-token", "TOKEN|@FILE|none",
                  "what callers of --serve must know, 16 characters or more, or the first line of "
                  "a file; none, for an address of this machine alone, lets in whoever has an "
                  "account here (default: one is made, and stands in the page's address)",
                  options.serve_token),
      switch_option("open",
                    "open the page of --serve in this desktop's browser, by xdg-open; the run ends "
                    "when it is closed there (default: off)",
                    options.open)};
  return group;
}

LiveControl::LiveControl(const LiveOptions& options, const CommonOptions& common, Backend backend,
                         RecordSwitch* recording)
    : watched_(options.watched()),
      pictures_(!options.serve.empty()),
      steering_(steered_of(common, backend), names_of_presets(), read_preset_for(common),
                common.preset) {
  if (recording != nullptr) steering_.allow_recording(*recording);
  steering_.know_filters(filter_list());
  steering_.note_presets(
      [common](const std::string& preset) { return lacking_of(common, preset); });
  if (!options.control.empty()) socket_ = open_control_socket(options.control, api_);
  if (options.serve.empty()) {
    if (!options.serve_token.empty()) {
      throw_usage("--serve-token has no page to guard, must stand with --serve");
    }
    if (options.open) {
      throw_usage("--open has no page to open, must stand with --serve");
    }
    return;
  }
#ifdef EQUALUX_HAVE_HTTP
  const std::string token = token_of(options.serve_token);
  const std::string once = options.open ? made_token() : "";
  page_ = open_page_server({options.serve, token, presets_of_run(), {}, once}, api_, monitor_);
  // A generated token is shown even under --quiet, as nobody could open the page without it; a
  // given token is never printed.
  const bool made = options.serve_token.empty();
  if (!common.quiet || made) {
    std::fprintf(stderr, "equalux: the page is at %s%s%s\n", printable(page_->url()).c_str(),
                 made ? "?token=" : "", made ? token.c_str() : "");
  }
  if (options.open) invitation_ = page_->url() + "?once=" + once;
#else
  throw Error(ExitCode::unavailable,
              "--serve needs libmicrohttpd and OpenCV, which this build does not have; must be "
              "--control PATH");
#endif
}

std::string LiveControl::preset_text() const {
  const nlohmann::ordered_json state = steering_.state();
  const std::string preset = state.value("preset", "");
  if (preset.empty() || !steering_.takes_presets()) return {};
  return "preset " + preset + (steering_.changed() ? ", changed" : "");
}

std::string LiveControl::viewers_text() const {
  const ViewerCounts counts = monitor_.viewers();
  if (counts.came + counts.refused == 0) return {};
  return "viewers: " + std::to_string(counts.came) + " of /stream.mjpeg, " +
         std::to_string(counts.pictures) + " pictures" +
         (counts.refused > 0 ? ", " + std::to_string(counts.refused) + " refused" : "");
}

void LiveControl::attach(RunOptions& run) {
  run.on_submit = [this](Processor& processor, Frame& frame) { steering_.apply(processor, frame); };
  run.on_source = [this, before = std::move(run.on_source)](const StreamInfo& info) {
    if (before) before(info);
    taken_ = info.desc;
  };
  run.on_open = [this, before = std::move(run.on_open)](const StreamInfo& info) {
    if (before) before(info);
    steering_.know_frames(taken_, info.desc);
    if (!watched_) return;
    monitor_.open(info);
#ifdef EQUALUX_HAVE_HTTP
    // The input is open: a missing camera leaves no window with a page that does not answer.
    if (!invitation_.empty()) browser_ = std::make_unique<Browser>(invitation_, *page_);
#endif
  };
  if (!watched_) return;
  run.keep_original = run.keep_original || pictures_;
  run.on_frame = [this, before = std::move(run.on_frame)](const Frame& frame) {
    if (before) before(frame);
    monitor_.add(frame);
  };
}

ExitCode LiveControl::ending(ExitCode code) const {
#ifdef EQUALUX_HAVE_HTTP
  if (browser_ != nullptr && code == ExitCode::interrupted) return browser_->ending(code);
#endif
  return code;
}

void LiveControl::watch(const Recorder& recorder, const Recorder* originals) {
  monitor_.watch_recording([&recorder, originals] {
    RecordCounts counts = recorder.counts();
    if (counts.failure.empty() && originals != nullptr)
      counts.failure = originals->counts().failure;
    return counts;
  });
}

}  // namespace equalux::cli

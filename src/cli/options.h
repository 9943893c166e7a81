#pragma once

#include <optional>
#include <string>
#include <vector>

#include <equalux/filter.h>
#include <equalux/params.h>

#include "src/cli/command.h"
#include "src/cli/paths.h"

/// Options that commands share, and the filters that come out of them.
namespace equalux::cli {

inline constexpr int kMaxThreads = 1024;

/// A knob of the filters that was set beside --filter.
struct GivenKnob {
  std::string name;
  std::string value;
  std::string origin;  ///< "FILE:LINE"; empty for the command line
  GivenBy by = GivenBy::flag;
  bool changes_preset = false;  ///< as Setting's
};

struct CommonOptions {
  Backend backend = Backend::automatic;
  int device = -1;      ///< -1 = the one with most free memory
  int threads = 0;      ///< 0 = all cores
  std::string timings;  ///< JSON lines go here; empty = none
  bool summary = false;
  std::optional<std::string> verify;  ///< framemd5 goes here; "-" = stdout
  std::string log_level = "info";
  bool quiet = false;
  std::string preset;               ///< the one that holds, by name
  std::vector<std::string> config;  ///< files that options were read from
  std::vector<FilterSpec> filters;  ///< empty = one `equalize`
  bool filters_of_preset = false;   ///< `filters` are the preset's
  EqualizeParams equalize;          ///< defaults of every `equalize`
  std::vector<GivenKnob> knobs;     ///< defaults of every filter that has a key of the name
  std::string progress = "text";    ///< or json
  std::string curve_to;             ///< the mean curve goes here; empty = none is made

  /// True where somebody will read per-stage times; nothing is measured otherwise.
  [[nodiscard]] bool wants_timings() const;
};

/// --config and --preset; their values are read by the settings layer. `options` is told the preset
/// that holds and the files that were read, unless it is null.
[[nodiscard]] OptionGroup config_group(CommonOptions* options = nullptr);
/// --backend, --device, --threads, --log-level, --quiet.
[[nodiscard]] OptionGroup machine_group(CommonOptions& options);
/// --timings, --summary, --verify.
[[nodiscard]] OptionGroup measuring_group(CommonOptions& options);
/// --filter and the knobs of equalization.
[[nodiscard]] OptionGroup filter_group(CommonOptions& options);

/// --curve-to, for commands that filter all of something.
[[nodiscard]] Option curve_to_option(CommonOptions& options);

/// -y, --overwrite and -n, for commands that write a file of the user's naming.
[[nodiscard]] Option overwrite_option(Overwrite& overwrite);

/// Level of the log, with --quiet.
void start_logging(const CommonOptions& options);

/// Everything of the filters that can be wrong whatever the machine is. Throws Error(usage).
void check_filters(const CommonOptions& options);

/// Notes the knobs that were set, and by whom: what a command of filter_group() does as its note().
void note_knobs(CommonOptions& options, const Settings& settings);

/// One line for the keys of a config file that none of the filters has.
void warn_of_idle_keys(const CommonOptions& options);

/// --progress, for commands that take a while.
[[nodiscard]] Option progress_option(CommonOptions& options);

/// The filters in order: those of --filter, or one `equalize`. Each has the knobs of its keys'
/// names that its own spec does not set; `equalize` has them in CommonOptions::equalize.
[[nodiscard]] std::vector<FilterSpec> chosen_filters(const CommonOptions& options);

/// What is said of the first knob that a backend lacks; empty where it has all that are set.
[[nodiscard]] std::string knob_missing_on(Backend backend, const CommonOptions& options);

/// What the filters take of the preset that holds.
struct PresetUse {
  bool holds = false;    ///< something
  bool changed = false;  ///< for something that the preset has, it has another value
};
[[nodiscard]] PresetUse preset_use(const CommonOptions& options);

/// "preset stable" where the filters take something of the one that holds, "preset stable, changed"
/// where it has other values for some of it; else empty.
[[nodiscard]] std::string preset_text(const CommonOptions& options);

/// The filters as the user would write them: "equalize:bins=128".
[[nodiscard]] std::string filters_text(const CommonOptions& options);

/// What the options name to read from: config files and presets, curves, masks.
[[nodiscard]] InputFiles files_of(const CommonOptions& options);

/// Options that hold one text, one switch or one number of `least` to `most`.
[[nodiscard]] Option text_option(std::string name, std::string value, std::string help,
                                 std::string& target);
[[nodiscard]] Option switch_option(std::string name, std::string help, bool& target);
[[nodiscard]] Option integer_option(std::string name, std::string help, int least, int most,
                                    int& target);

}  // namespace equalux::cli

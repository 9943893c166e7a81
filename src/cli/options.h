#pragma once

#include <optional>
#include <string>
#include <vector>

#include <equalux/filter.h>
#include <equalux/params.h>

#include "src/cli/command.h"
#include "src/cli/paths.h"

/// Options that several commands share, and the filters that they choose.
namespace equalux::cli {

inline constexpr int kMaxThreads = 1024;

/// Filter option that was set beside --filter.
struct GivenKnob {
  std::string name;
  std::string value;
  std::string origin;  ///< "FILE:LINE"; empty for the command line
  GivenBy by = GivenBy::flag;
  bool changes_preset = false;  ///< see Setting
};

struct CommonOptions {
  Backend backend = Backend::automatic;
  int device = -1;      ///< -1 = the device with most free memory
  int threads = 0;      ///< 0 = one for each core
  std::string timings;  ///< file for JSON lines; empty = none
  bool summary = false;
  std::optional<std::string> verify;  ///< file for framemd5; "-" = stdout
  std::string log_level = "info";
  bool quiet = false;
  std::string preset;               ///< name of the preset in force
  std::vector<std::string> config;  ///< files that options were read from
  std::vector<FilterSpec> filters;  ///< empty = one `equalize`
  bool filters_of_preset = false;   ///< `filters` come from the preset
  EqualizeParams equalize;          ///< defaults of every `equalize`
  std::vector<GivenKnob> knobs;     ///< defaults of every filter that has such a key
  std::string progress = "text";    ///< text or json
  std::string curve_to;             ///< file for the mean curve; empty = none

  /// Returns true where per-stage times are needed; otherwise nothing is measured.
  [[nodiscard]] bool wants_timings() const;
};

/// Makes --config and --preset, whose values the settings layer reads. `options`, unless null,
/// receives the preset in force and the files that were read.
[[nodiscard]] OptionGroup config_group(CommonOptions* options = nullptr);
/// Makes --backend, --device, --threads, --log-level, --quiet.
[[nodiscard]] OptionGroup machine_group(CommonOptions& options);
/// Makes --timings, --summary, --verify.
[[nodiscard]] OptionGroup measuring_group(CommonOptions& options);
/// Makes --filter and the options of equalization.
[[nodiscard]] OptionGroup filter_group(CommonOptions& options);

/// Makes --curve-to, for commands that filter all frames.
[[nodiscard]] Option curve_to_option(CommonOptions& options);

/// Makes -y, --overwrite and -n, for commands whose output the user names.
[[nodiscard]] Option overwrite_option(Overwrite& overwrite);

/// Sets the level of the log, with --quiet.
void start_logging(const CommonOptions& options);

/// Checks everything about the filters that does not depend on the machine. Throws Error(usage).
void check_filters(const CommonOptions& options);

/// Notes the filter options that were set, and their origins; the note() of commands with
/// filter_group().
void note_knobs(CommonOptions& options, const Settings& settings);

/// Warns, in one line, of keys of config files and of the preset that was asked for, which none of
/// the filters has, and in a line each of flags that every filter's own spec overrides.
void warn_of_idle_keys(const CommonOptions& options);

/// Checks --device where no GPU runs the filters: throws Error(usage) with --backend cpu, and warns
/// where `auto` finds none.
void check_device(const CommonOptions& options);

/// Makes --progress, for commands that take some time.
[[nodiscard]] Option progress_option(CommonOptions& options);

/// Returns the filters in order: those of --filter, or one `equalize`. Each gets the options set
/// beside --filter that it has and its spec does not set; for `equalize` these are in
/// CommonOptions::equalize.
[[nodiscard]] std::vector<FilterSpec> chosen_filters(const CommonOptions& options);

/// Returns a message about the first option that a backend lacks; empty if it has all.
[[nodiscard]] std::string knob_missing_on(Backend backend, const CommonOptions& options);

/// Use of the preset in force by the filters.
struct PresetUse {
  bool holds = false;    ///< some of it is used
  bool changed = false;  ///< some of its values are overridden
};
[[nodiscard]] PresetUse preset_use(const CommonOptions& options);

/// Returns "preset stable", or "preset stable, changed" where some values are overridden; empty
/// where the filters use nothing of it.
[[nodiscard]] std::string preset_text(const CommonOptions& options);

/// Returns the filters as a user would write them: "equalize:bins=128".
[[nodiscard]] std::string filters_text(const CommonOptions& options);

/// Returns the files that options name as outputs: --timings, --verify and --curve-to, without
/// those that are not set or standard output.
[[nodiscard]] std::vector<std::string> written_files(const CommonOptions& options);

/// Returns the same files, each with its option, and that of `output` under -o.
[[nodiscard]] std::vector<NamedOutput> named_outputs(const CommonOptions& options,
                                                     const std::string& output);

/// Returns the files that options name as inputs: config files and presets, curves, masks.
[[nodiscard]] InputFiles files_of(const CommonOptions& options);

/// Make options that hold a text, a switch, or a number of `least` to `most`.
[[nodiscard]] Option text_option(std::string name, std::string value, std::string help,
                                 std::string& target);
[[nodiscard]] Option switch_option(std::string name, std::string help, bool& target);
[[nodiscard]] Option integer_option(std::string name, std::string help, int least, int most,
                                    int& target);

}  // namespace equalux::cli

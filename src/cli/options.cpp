#include "src/cli/options.h"

#include <algorithm>

#include <equalux/device.h>
#include <equalux/error.h>

#include "src/cli/values.h"
#include "src/common/log.h"
#include "src/equalize/options.h"
#include "src/options/idle_options.h"
#include "src/options/nearest_name.h"
#include "src/options/option_values.h"

namespace equalux::cli {
namespace {

constexpr int kMaxDevice = 1023;

/// Makes a command-line option of an equalization knob.
Option knob(const equalux::Option& option, EqualizeParams& params) {
  const auto set = [key = option.key, &params](const std::string& text) {
    if (!text.empty()) set_option(params, key, text);
  };
  Option result{std::string(option.key), option_placeholder(option),
                option_help(option) + " (default: " + option_default(option) + ")", set};
  for (const OptionName& each : option.names)
    result.choices.emplace_back(each.name);
  if (option.type == OptionType::onoff) result.choices = {"true", "false"};
  if (!option.word.empty()) result.choices.emplace_back(option.word);
  if (!option.group.empty() || option.backends != Backends::both) {
    result.scope = result.help.substr(0, result.help.find(": "));
  }
  return result;
}

void check_filter_names(const std::vector<FilterSpec>& specs) {
  std::vector<std::string_view> names;
  for (const FilterInfo& filter : filter_list())
    names.push_back(filter.name);
  for (const FilterSpec& spec : specs) {
    if (std::find(names.begin(), names.end(), spec.name) != names.end()) continue;
    throw_usage("--filter '" + spec.text() + "' is unknown, must be " +
                nearest_or_all(spec.name, names));
  }
}

std::span<const equalux::Option> options_of(const std::string& filter) {
  for (const FilterInfo& info : filter_list())
    if (info.name == filter) return info.options;
  return {};
}

/// Returns true where a filter has the equalization knob, too.
bool takes(const std::string& filter, const std::string& knob) {
  const equalux::Option* own = find_option(options_of(filter), knob);
  return own != nullptr && is_of_equalize(*own);
}

bool any_takes(const CommonOptions& options, const std::string& knob) {
  const std::vector<FilterSpec> filters = chosen_filters(options);
  return std::any_of(filters.begin(), filters.end(),
                     [&](const FilterSpec& spec) { return takes(spec.name, knob); });
}

/// Returns true where each filter that has the option sets it in its own spec, to another value.
bool is_set_by_every_filter(const CommonOptions& options, const GivenKnob& knob) {
  bool any = false;
  for (const FilterSpec& spec : options.filters) {
    if (!takes(spec.name, knob.name)) continue;
    const std::string* own = find_value(spec.options, knob.name);
    if (own == nullptr || *own == knob.value) return false;
    any = true;
  }
  return any;
}

std::string takers_of(const std::string& knob) {
  std::vector<std::string> names;
  for (const FilterInfo& info : filter_list())
    if (takes(std::string(info.name), knob)) names.emplace_back(info.name);
  return list_of_names(names);
}

/// Refuses flags that no chosen filter takes, and a preset none of whose settings does.
void check_knobs(const CommonOptions& options) {
  bool preset_sets = false;
  bool preset_holds = false;
  for (const GivenKnob& knob : options.knobs) {
    const bool taken = any_takes(options, knob.name);
    if (knob.by == GivenBy::preset) {
      preset_sets = true;
      preset_holds = preset_holds || taken;
    }
    // check_curve_files() checks curve-from further.
    if (knob.by != GivenBy::flag || taken || knob.name == "curve-from") continue;
    throw_usage("--" + knob.name + " is nothing that the chain " + filters_text(options) +
                " has, must stand with " + takers_of(knob.name));
  }
  if (preset_sets && !preset_holds) {
    throw_usage("--preset " + options.preset + " sets nothing that the chain " +
                filters_text(options) + " has, must stand with equalize or clahe");
  }
}

/// Puts in front of what is wrong about an option, "KEY is ...", where it was said: in a filter's
/// own spec, since several filters have options of the same name, or in a config file.
std::string with_place(const std::string& clause, const FilterSpec& said,
                       const CommonOptions& options) {
  const std::string key = clause.substr(0, clause.find(' '));
  if (find_value(said.options, key) != nullptr) return "filter " + said.name + ": " + clause;
  for (const GivenKnob& knob : options.knobs)
    if (knob.name == key && !knob.origin.empty()) return knob.origin + ": " + clause;
  return clause;
}

/// Returns what is wrong about the options of a filter, `said` in the spec and set for it besides.
std::vector<std::string> faults_of(const FilterSpec& spec, const FilterSpec& said,
                                   const CommonOptions& options) {
  std::vector<std::string> faults;
  try {
    faults = violations(spec, options.equalize, options.backend);
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage) throw;
    faults = {error.what()};
  }
  for (std::string& fault : faults)
    fault = with_place(fault, said, options);
  return faults;
}

/// Throws where the filters do not allow --curve-from or --curve-to.
void check_curve_files(const CommonOptions& options) {
  if (options.curve_to.empty() && !options.equalize.curve) return;
  const std::string option = options.curve_to.empty() ? "curve-from" : "curve-to";
  int equalizers = 0;
  for (const FilterSpec& spec : chosen_filters(options)) {
    if (spec.name != "equalize") continue;
    ++equalizers;
    EqualizeParams params = options.equalize;
    for (const auto& [key, value] : spec.options)
      set_option(params, key, value);
    if (option == "curve-from") continue;
    if (params.curve) throw_usage("curve-to stands beside curve-from, must be one of the two");
    if (params.chain == Chain::staged) {
      throw_usage("chain is staged, must be fused with curve-to");
    }
    if (params.compatible != Compatible::none) {
      throw_usage("compatible is opencv, must be none with curve-to");
    }
  }
  if (equalizers == 0) {
    throw_usage("--" + option + " is nothing that the chain " + filters_text(options) +
                " has, must stand with equalize");
  }
  if (equalizers > 1 && option == "curve-to") {
    throw_usage("--curve-to is of one filter equalize, the chain has " +
                std::to_string(equalizers) + ", must have one");
  }
}

std::string filter_help() {
  std::string help =
      "a filter of the chain, name[:key=value[,key=value...]]; repeat for more, in order "
      "(default: equalize). Filters, and their keys:";
  for (const FilterInfo& filter : filter_list()) {
    help += "\n" + std::string(filter.name) + ": " + std::string(filter.summary) + " (";
    for (const equalux::Option& option : filter.options)
      help += (&option == &filter.options.front() ? "" : ", ") + std::string(option.key);
    help += ")";
  }
  return help;
}

}  // namespace

bool CommonOptions::wants_timings() const {
  return !timings.empty() || summary || (!quiet && (log_level == "debug" || log_level == "trace"));
}

Option text_option(std::string name, std::string value, std::string help, std::string& target) {
  return {std::move(name), std::move(value), std::move(help),
          [&target](const std::string& text) { target = text; }};
}

Option switch_option(std::string name, std::string help, bool& target) {
  const auto set = [name, &target](const std::string& text) { target = read_switch(name, text); };
  return {std::move(name), "", std::move(help), set};
}

Option integer_option(std::string name, std::string help, int least, int most, int& target) {
  const auto set = [name, least, most, &target](const std::string& text) {
    target = static_cast<int>(read_integer(name, text, least, most));
  };
  return {std::move(name), "N", std::move(help), set};
}

OptionGroup config_group(CommonOptions* options) {
  const auto ignore = [](const std::string&) {};
  const auto note = [options](const std::string& name) {
    if (options != nullptr) options->preset = name;
  };
  const auto note_file = [options](const std::string& path) {
    if (options != nullptr && !path.empty()) options->config.push_back(path);
  };
  return {"Configuration",
          {{"config", "FILE", "read options from a TOML file; what stands here wins", note_file},
           {"preset", "NAME",
            "options of a named preset, below --config: plain, or a file NAME.toml of "
            "$EQUALUX_CONFIG_PATH or the program's own configs (default: stable for run and batch, "
            "webcam for run camera:N and pipewire:NAME, plain otherwise)",
            note},
           {"list-presets", "", "list the presets of --preset and end", ignore}},
          true};
}

OptionGroup machine_group(CommonOptions& options) {
  OptionGroup group{"Machine", {}, true};
  group.options.push_back({"backend", "auto|cpu|cuda",
                           "where the filters run; auto takes CUDA if a device answers (default: "
                           "auto)",
                           [&](const std::string& text) {
                             const auto backend = enum_from<Backend>(text);
                             if (!backend) {
                               throw_usage("--backend is '" + text + "', must be " +
                                           list_of_names(enum_names<Backend>()));
                             }
                             options.backend = *backend;
                           }});
  for (const std::string_view each : enum_names<Backend>())
    group.options.back().choices.emplace_back(each);
  group.options.push_back(integer_option(
      "device", "CUDA device, -1 to 1023; -1 = the one with most free memory (default: -1)", -1,
      kMaxDevice, options.device));
  group.options.push_back(integer_option("threads",
                                         "CPU threads, 0 to 1024; 0 = all cores (default: 0)", 0,
                                         kMaxThreads, options.threads));
  group.options.push_back(text_option(
      "log-level", "LEVEL",
      "what stderr shows: trace, debug, info, warn, error or off; debug tells each frame's times "
      "(default: info)",
      options.log_level));
  group.options.back().choices = {"trace", "debug", "info", "warn", "error", "off"};
  group.options.push_back(switch_option(
      "quiet", "show errors alone: no progress, no summary (default: off)", options.quiet));
  return group;
}

OptionGroup measuring_group(CommonOptions& options) {
  OptionGroup group{"Measuring", {}, true};
  group.options.push_back(text_option("timings", "FILE.jsonl",
                                      "write each frame's times to a file, one JSON object a "
                                      "line, in milliseconds (default: none)",
                                      options.timings));
  group.options.push_back(switch_option(
      "summary", "show median, 95th and 99th percentile of every stage at the end (default: off)",
      options.summary));
  Option verify{"verify", "FILE",
                "write a hash of each result in FFmpeg's framemd5 format to a file, or to stdout "
                "without one (default: none)",
                [&](const std::string& text) {
                  options.verify.reset();
                  if (!text.empty() && text != "false")
                    options.verify = text == "true" ? "-" : text;
                }};
  verify.value_optional = true;
  group.options.push_back(verify);
  return group;
}

OptionGroup filter_group(CommonOptions& options) {
  OptionGroup group{"Filters", {}, true};
  EqualizeParams& params = options.equalize;
  Option filter{"filter", "SPEC", filter_help(), [&](const std::string& text) {
                  if (!text.empty()) options.filters.push_back(parse_filter_spec(text));
                }};
  filter.repeatable = true;
  for (const FilterInfo& each : filter_list())
    filter.choices.emplace_back(each.name);
  group.options.push_back(std::move(filter));
  for (const equalux::Option& option : equalize_options())
    group.options.push_back(knob(option, params));
  return group;
}

Option curve_to_option(CommonOptions& options) {
  return text_option("curve-to", "FILE.json",
                     "write the mean of all frames' tone curves to a file that --curve-from takes "
                     "(default: none)",
                     options.curve_to);
}

Option overwrite_option(Overwrite& overwrite) {
  Option option = {
      "overwrite", "",
      "replace an output that is there, once the new one is whole (-y), or leave it and "
      "end with 73 (-n) (default: a terminal is asked, elsewhere -n)",
      [&overwrite](const std::string& text) {
        overwrite = text.empty()                     ? Overwrite::ask
                    : read_switch("overwrite", text) ? Overwrite::always
                                                     : Overwrite::never;
      }};
  option.letter = 'y';
  option.off_letter = 'n';
  return option;
}

void start_logging(const CommonOptions& options) {
  set_up_logging(options.log_level);
  if (options.quiet) set_up_logging("error");
}

void check_filters(const CommonOptions& options) {
  check_filter_names(options.filters);
  check_knobs(options);
  const std::vector<FilterSpec> chosen = chosen_filters(options);
  std::vector<std::string> broken;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const FilterSpec said = i < options.filters.size() ? options.filters[i] : FilterSpec{};
    for (std::string& fault : faults_of(chosen[i], said, options)) {
      // An option that several filters take is wrong for all of them.
      if (std::find(broken.begin(), broken.end(), fault) == broken.end())
        broken.push_back(std::move(fault));
    }
  }
  throw_violations(broken);
  check_curve_files(options);
}

std::vector<FilterSpec> chosen_filters(const CommonOptions& options) {
  if (options.filters.empty()) return {{"equalize", {}}};
  std::vector<FilterSpec> filters = options.filters;
  for (FilterSpec& spec : filters) {
    if (spec.name == "equalize") continue;
    // Values of the filter's own spec, and the settings that mean nothing beside them, take
    // precedence.
    OptionValues said = spec.options;
    for (auto& value : idle_beside(options_of(spec.name), spec.options))
      said.push_back(std::move(value));
    for (const GivenKnob& knob : options.knobs) {
      if (find_value(said, knob.name) == nullptr && takes(spec.name, knob.name))
        spec.options.emplace_back(knob.name, knob.value);
    }
  }
  return filters;
}

void note_knobs(CommonOptions& options, const Settings& settings) {
  if (const auto filter = settings.find("filter"); filter != settings.end()) {
    options.filters_of_preset = is_of_preset(filter->second.by);
  }
  for (const Option& option : filter_group(options).options) {
    const auto setting = settings.find(option.name);
    if (option.name == "filter" || setting == settings.end()) continue;
    const auto& [values, origin, by, changes] = setting->second;
    if (values.back().empty()) continue;
    options.knobs.push_back({option.name, values.back(), origin, by, changes});
  }
}

void warn_of_idle_keys(const CommonOptions& options) {
  std::string idle;
  for (const GivenKnob& knob : options.knobs) {
    const bool of_preset = knob.by == GivenBy::preset;
    if ((!of_preset && knob.by != GivenBy::config) || any_takes(options, knob.name)) continue;
    EqualizeParams usual;
    set_option(usual, knob.name, knob.value);
    // A default value, as in the printed list of all keys, changes nothing: no warning.
    if (usual == EqualizeParams{}) continue;
    idle += idle.empty() ? "" : ", ";
    idle += (of_preset ? "preset " + options.preset : knob.origin) + " " + knob.name;
  }
  if (!idle.empty())
    logger().warn("{}: nothing that the chain {} has, not used", idle, filters_text(options));
  for (const GivenKnob& knob : options.knobs) {
    if (knob.by == GivenBy::flag && is_set_by_every_filter(options, knob))
      logger().warn("--{} {}: --filter sets its own, not used", knob.name, knob.value);
  }
}

void check_device(const CommonOptions& options) {
  if (options.device < 0 || options.backend == Backend::cuda) return;
  const std::string what = "--device is " + std::to_string(options.device);
  if (options.backend == Backend::cpu) {
    throw_usage(what + ", the number of a GPU, must be left out with --backend cpu");
  }
  const CudaStatus cuda = cuda_status();
  if (!cuda.available) logger().warn("{}, not used: {}; the CPU takes over", what, cuda.reason);
}

Option progress_option(CommonOptions& options) {
  Option option{"progress", "NAME",
                "how far it is, on stderr: text, or json, an object a line for programs, also with "
                "--quiet (default: text)",
                [&options](const std::string& text) {
                  options.progress = text.empty() ? "text" : text;
                  if (options.progress != "text" && options.progress != "json") {
                    throw_usage("--progress is '" + text + "', must be text or json");
                  }
                }};
  option.choices = {"text", "json"};
  return option;
}

std::string knob_missing_on(Backend backend, const CommonOptions& options) {
  for (const FilterSpec& spec : chosen_filters(options)) {
    const std::vector<std::string> clauses = violations(spec, options.equalize, backend);
    if (!clauses.empty()) return clauses.front();
  }
  return {};
}

PresetUse preset_use(const CommonOptions& options) {
  PresetUse use;
  const std::vector<FilterSpec> specs =
      options.filters.empty() ? std::vector<FilterSpec>{{"equalize", {}}} : options.filters;
  for (const GivenKnob& knob : options.knobs) {
    const bool of_preset = is_of_preset(knob.by);
    if (!of_preset && !knob.changes_preset) continue;
    for (const FilterSpec& spec : specs) {
      if (!takes(spec.name, knob.name)) continue;
      const std::string* own = find_value(spec.options, knob.name);
      const bool other = (own != nullptr && *own != knob.value) || !of_preset;
      use.changed = use.changed || other;
      use.holds = use.holds || !other;
    }
  }
  return use;
}

std::string preset_text(const CommonOptions& options) {
  const PresetUse use = preset_use(options);
  if (!use.holds) return "";
  return "preset " + options.preset + (use.changed ? ", changed" : "");
}

std::vector<std::string> written_files(const CommonOptions& options) {
  std::vector<std::string> files{options.timings, options.verify.value_or(""), options.curve_to};
  std::erase_if(files, [](const std::string& file) { return file.empty() || file == "-"; });
  return files;
}

std::vector<NamedOutput> named_outputs(const CommonOptions& options, const std::string& output) {
  return {{"-o", output},
          {"--timings", options.timings},
          {"--verify", options.verify.value_or("")},
          {"--curve-to", options.curve_to}};
}

InputFiles files_of(const CommonOptions& options) {
  InputFiles files;
  for (const std::string& path : options.config)
    files.add(path, "a file that options are read from");
  for (const FilterSpec& spec : chosen_filters(options)) {
    for (const auto& [key, value] : spec.options) {
      if (key == "curve-from" || key == "region") files.add(value, "what " + key + " reads");
    }
  }
  for (const GivenKnob& knob : options.knobs) {
    const bool reads = knob.name == "curve-from" || knob.name == "region";
    if (reads) files.add(knob.value, "what --" + knob.name + " reads");
  }
  return files;
}

std::string filters_text(const CommonOptions& options) {
  if (options.filters.empty()) return "equalize";
  std::string text;
  for (const FilterSpec& spec : options.filters)
    text += (text.empty() ? "" : " ! ") + spec.text();
  return text;
}

}  // namespace equalux::cli

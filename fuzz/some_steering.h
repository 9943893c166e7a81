#pragma once

#include <equalux/params.h>
#include <nlohmann/json.hpp>

#include "fuzz/invariant.h"
#include "pipelines/control/control_api.h"
#include "src/common/json_text.h"

/// A steerable run as the targets of the control API see it.
namespace equalux::fuzz {

inline OptionValues read_preset(const std::string& name) {
  if (name == "plain") return {};
  if (name == "fog") return {{"strength", "0.9"}, {"ceiling", "99.5"}, {"threads", "3"}};
  throw Error(ExitCode::usage, "preset is '" + name + "', must be plain or fog");
}

/// Makes plain equalization, without the filters themselves.
inline Steered steered_equalize() {
  std::vector<Option> options;
  for (const Option& option : equalize_options())
    if (option.live) options.push_back(option);
  const auto live_values = [options](const EqualizeParams& params) {
    OptionValues values;
    for (const Option& option : options)
      values.emplace_back(option.key, option_text(params, option.key));
    return values;
  };
  return {0,
          "equalize",
          options,
          options,
          live_values({}),
          [live_values](const OptionValues& values) {
            EqualizeParams params;
            for (const auto& [key, value] : values)
              set_option(params, key, value);
            validate(params, Backend::automatic);
            return live_values(params);
          },
          [](const OptionValues& values) { return values; }};
}

struct SteeredRun {
  SteeredRun() { steering.allow_recording(recording); }

  RecordSwitch recording;
  Steering steering{{steered_equalize()}, {"plain", "fog"}, read_preset};
  LiveMonitor monitor;
  ControlApi api{steering, monitor};
};

/// Checks one line of JSON: an error after which nothing has changed, or a state that gives the
/// same state when sent back.
inline void check_answer(const ControlAnswer& answer, const nlohmann::ordered_json& before,
                         SteeredRun& run) {
  require(answer.json.find('\n') == std::string::npos, "an answer is one line", answer.json);
  const auto json = parse_json(answer.json);
  const nlohmann::ordered_json after = run.steering.state();
  require(json.contains("error") != answer.ok && json.contains("state") == answer.ok,
          "an answer is a state or an error", answer.json);
  if (!answer.ok) {
    require(after == before, "what is refused changes nothing", answer.json);
    return;
  }
  nlohmann::ordered_json state = after;
  if (state["preset"] == "") state.erase("preset");
  require(run.api.handle(json_text(state)).ok, "a state is a change that holds", json_text(state));
  require(run.steering.state() == after, "a state that is sent back is the same", json_text(after));
}

}  // namespace equalux::fuzz

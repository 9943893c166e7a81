#include <algorithm>
#include <cstdio>
#include <memory>

#include <nlohmann/json.hpp>

#include "src/cli/commands.h"
#include "src/cli/commands/doctor_checks.h"
#include "src/cli/options.h"
#include "src/common/json_text.h"
#include "src/common/log.h"

/// `equalux doctor`: lists what keeps live video from working here, with remedies.
namespace equalux::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DoctorOptions {
  CommonOptions common;
  bool json = false;
};

const char* name_of(Health health) {
  switch (health) {
    case Health::good:
      return "ok";
    case Health::absent:
      return "absent";
    case Health::fault:
      return "fault";
  }
  return "";
}

std::vector<Finding> examine() {
  const KernelFolders folders;
  std::vector<Finding> all;
  const auto add = [&all](std::vector<Finding> findings) {
    all.insert(all.end(), findings.begin(), findings.end());
  };
  add(check_gpu(folders));
  add(check_modules());
  add(check_cameras(folders));
  add(check_loopback(folders));
  add(check_pipewire());
  add(check_display());
  add(check_encoders());
  add(check_plugins());
  return all;
}

std::string readable(const std::vector<Finding>& findings) {
  std::size_t widest = 0;
  for (const Finding& finding : findings)
    widest = std::max(widest, finding.subject.size());
  std::string text;
  for (const Finding& finding : findings) {
    std::string health = name_of(finding.health);
    health.resize(8, ' ');
    std::string subject = finding.subject;
    subject.resize(widest + 2, ' ');
    text += health + printable(subject) + printable(finding.found) + "\n";
    if (!finding.advice.empty())
      text += std::string(10 + widest, ' ') + "-> " + printable(finding.advice) + "\n";
  }
  return text;
}

Json as_json(const std::vector<Finding>& findings, bool sound) {
  Json checks = Json::array();
  for (const Finding& finding : findings) {
    checks.push_back({{"subject", finding.subject},
                      {"health", name_of(finding.health)},
                      {"found", finding.found},
                      {"advice", finding.advice}});
  }
  return {{"sound", sound}, {"checks", checks}};
}

ExitCode run_doctor(const DoctorOptions& options) {
  start_logging(options.common);
  const std::vector<Finding> findings = examine();
  const bool sound = std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.health == Health::fault;
  });
  const std::string text =
      options.json ? json_text(as_json(findings, sound), 2) + "\n" : readable(findings);
  std::fputs(text.c_str(), stdout);
  return sound ? ExitCode::done : ExitCode::unavailable;
}

}  // namespace

Command make_doctor_command() {
  const auto options = std::make_shared<DoctorOptions>();
  Command command;
  command.name = "doctor";
  command.summary = "what keeps live video from working here, and what to do about it";
  command.details =
      "  ok      usable\n"
      "  absent  not there, which is no fault\n"
      "  fault   there and not usable; the exit code is then 69, otherwise 0\n";
  OptionGroup group{"Listing", {}, false};
  group.options = {
      switch_option("json", "one JSON object instead of text (default: off)", options->json)};
  command.groups = {group, machine_group(options->common), config_group()};
  command.run = [options] { return run_doctor(*options); };
  return command;
}

}  // namespace equalux::cli

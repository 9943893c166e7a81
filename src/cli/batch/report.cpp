#include "src/cli/batch/report.h"

#include <algorithm>

#include <equalux/filter.h>

#include "src/cli/signals.h"
#include "src/common/formatting.h"
#include "src/common/json_text.h"
#include "src/common/log.h"
#include "src/common/utf8.h"

namespace equalux::cli {
namespace {

double fps_of(const FileResult& result) {
  const std::uint64_t frames = result.frames_out - std::min(result.frames_out, result.resumed_at);
  return result.elapsed_s > 0 ? static_cast<double>(frames) / result.elapsed_s : 0.0;
}

/// Returns an outcome's result; for a file that a stopped batch did not begin, one that says so.
FileResult result_of(const Outcome& outcome) {
  if (outcome.result) return *outcome.result;
  FileResult result;
  result.status = "stopped";
  result.reason = "was not begun";
  const int signal = stop_token().signal;
  result.code = signal != 0 ? kSignalExitBase + signal : static_cast<int>(ExitCode::partial);
  return result;
}

std::string count_line(const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const char* status : {"done", "skipped", "partial", "failed", "stopped"}) {
    const auto count = std::count_if(outcomes.begin(), outcomes.end(), [&](const auto& outcome) {
      return result_of(outcome).status == status;
    });
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + status;
  }
  return text;
}

}  // namespace

std::string batch_table(const std::vector<Outcome>& outcomes) {
  constexpr std::size_t kMostRows = 100;  // Among more, nobody would see the few that failed.
  constexpr std::size_t kMostWidth = 56;  // A longer name moves its own row alone.
  const bool all = outcomes.size() <= kMostRows;
  std::vector<std::pair<std::string, FileResult>> rows;
  std::size_t width = 4;
  for (const Outcome& outcome : outcomes) {
    const FileResult result = result_of(outcome);
    if (!all && (result.code == 0 || result.status == "stopped")) continue;
    rows.emplace_back(printable(outcome.job.input), result);
    width = std::max(width, std::min(kMostWidth, letters_of(rows.back().first)));
  }
  const auto padded = [width](std::string text) {
    text.append(width - std::min(width, letters_of(text)), ' ');
    return text;
  };
  std::string text;
  if (!rows.empty()) text = padded("file") + "  status    frames   time s      fps  reason\n";
  for (const auto& [name, result] : rows) {
    text += padded(name) +
            fmt::format("  {:<7} {:>8} {:>8.2f} {:>8.1f}  ", result.status, result.frames_out,
                        result.elapsed_s, fps_of(result)) +
            printable(result.reason);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text + count_line(outcomes) + "\n";
}

std::string left_out_text(const BatchPlan& plan) {
  std::string text;
  const auto say = [&text](const std::string& what, std::size_t count, const std::string& first) {
    if (count == 0) return;
    text += "equalux: " + what + ": " + std::to_string(count);
    if (!first.empty()) text += " (" + printable(first) + (count > 1 ? " and others)" : ")");
    text += "\n";
  };
  const auto named = [&say](const std::string& what, const std::vector<std::string>& paths) {
    say(what, paths.size(), paths.empty() ? "" : paths.front());
  };
  say("skipped in folders, no media by their names", plan.skipped, "");
  named("skipped in folders, half-written results", plan.left_out.partial);
  named("skipped in folders, links that lead to no file", plan.left_out.broken_links);
  named("skipped in folders, links to folders, which are not followed", plan.left_out.folder_links);
  named("skipped in folders, neither files nor folders", plan.left_out.special);
  if (!plan.unreadable.empty()) {
    say("folders that cannot be read, with files that nobody knows", plan.unreadable.size(),
        plan.unreadable.front().folder);
  }
  return text;
}

std::string batch_report(const std::vector<Outcome>& outcomes, const BatchOptions& options,
                         double elapsed_s, const BatchPlan& plan) {
  nlohmann::json files = nlohmann::json::array();
  for (const Outcome& outcome : outcomes) {
    const FileResult result = result_of(outcome);
    nlohmann::json file{{"input", outcome.job.input},      {"output", outcome.job.output},
                        {"status", result.status},         {"frames_in", result.frames_in},
                        {"frames_out", result.frames_out}, {"resumed_at", result.resumed_at},
                        {"duration_s", result.media_s},    {"elapsed_s", result.elapsed_s},
                        {"fps", fps_of(result)},           {"exit_code", result.code}};
    if (!result.reason.empty()) file[result.status == "skipped" ? "note" : "error"] = result.reason;
    if (!result.input_md5.empty()) file["input_md5"] = result.input_md5;
    if (!options.devices.empty()) file["place"] = outcome.place;
    files.push_back(std::move(file));
  }
  nlohmann::json report{{"program", "equalux"},
                        {"version", version()},
                        {"parameters", options.parameters},
                        {"elapsed_s", elapsed_s},
                        {"files", files}};
  for (const Unreadable& each : plan.unreadable)
    report["unreadable"].push_back({{"folder", each.folder}, {"error", each.reason}});
  return json_text(report, 2) + "\n";
}

ExitCode batch_exit_code(const std::vector<Outcome>& outcomes, int signal) {
  if (signal != 0) return static_cast<ExitCode>(128 + signal);
  const auto code_of = [](const Outcome& outcome) { return result_of(outcome).code; };
  const bool all_done = std::all_of(outcomes.begin(), outcomes.end(),
                                    [&](const auto& outcome) { return code_of(outcome) == 0; });
  if (all_done) return ExitCode::done;
  // Where every file failed alike, their code is the batch's.
  const int first = code_of(outcomes.front());
  const bool alike = std::all_of(outcomes.begin(), outcomes.end(), [&](const auto& outcome) {
    return code_of(outcome) == first && result_of(outcome).status == "failed";
  });
  return alike ? static_cast<ExitCode>(first) : ExitCode::partial;
}

std::string shard_name(const std::string& stem, const std::string& extension, const Shard& shard) {
  if (shard.count == 1) return stem + extension;
  return stem + "-" + std::to_string(shard.index) + "-of-" + std::to_string(shard.count) +
         extension;
}

}  // namespace equalux::cli

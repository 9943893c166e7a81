#include <exception>
#include <filesystem>

#include "src/cli/backend.h"
#include "src/cli/batch/batch.h"
#include "src/cli/batch/report.h"
#include "src/cli/curve_file.h"
#include "src/cli/signals.h"
#include "src/common/log.h"

namespace equalux::cli {
namespace {

FileResult look_at(const BatchOptions& options, const BatchJob& job, std::size_t number,
                   std::size_t count, CurveFile& curves) {
  FileResult result;
  StreamOptions stream = options.stream;
  stream.input = job.input;
  stream.output = job.output;
  stream.curves = &curves;
  stream.in.threads = stream.common.threads;
  stream.announce = number == 1;
  stream.always_summarise = false;
  stream.label = "[" + std::to_string(number) + "/" + std::to_string(count) + "] " +
                 std::filesystem::path(job.input).filename().string() + ": ";
  try {
    const RunResult run = run_stream(stream);
    result.status = run.code == ExitCode::done ? "done" : "partial";
    result.reason = ending_text(run);
    result.code = static_cast<int>(run.code);
    result.frames_in = run.frames_in;
    result.frames_out = run.frames_out;
    result.media_s = run.media_s;
    result.elapsed_s = run.elapsed_s;
  } catch (const Error& error) {
    result.reason = error.what();
    result.code = static_cast<int>(error.code());
    logger().error("{}failed: {}", stream.label, result.reason);
  }
  return result;
}

}  // namespace

ExitCode run_curve_pass(const BatchOptions& options, const BatchPlan& plan,
                        const std::vector<std::size_t>& jobs) {
  // A backend that is not there would fail every file alike: said once.
  static_cast<void>(make_processor(options.stream.common));
  catch_signals();
  CurveFile curves(options.stream.common.curve_to);
  std::vector<Outcome> outcomes;
  for (const std::size_t job : jobs) {
    outcomes.push_back({plan.jobs[job], std::nullopt, ""});
    if (stop_token().signal != 0) continue;
    outcomes.back().result = look_at(options, plan.jobs[job], job + 1, plan.jobs.size(), curves);
  }
  curves.finish();
  if (!options.stream.common.quiet) {
    std::fputs((batch_table(outcomes) + left_out_text(plan)).c_str(), stderr);
  }
  if (stop_token().signal == 0 && !plan.unreadable.empty()) return ExitCode::partial;
  return batch_exit_code(outcomes, stop_token().signal);
}

}  // namespace equalux::cli

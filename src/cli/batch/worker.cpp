#include "src/cli/batch/worker.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <equalux/device.h>
#include <equalux/error.h>
#include <poll.h>

#include "src/cli/batch/dry_run.h"
#include "src/cli/batch/job.h"
#include "src/cli/signals.h"
#include "src/cli/stream/backend.h"
#include "src/cli/stream/io_factory.h"
#include "src/common/log.h"

namespace equalux::cli {
namespace {

/// Period of a waiting worker's check for a stop signal.
constexpr int kLookMs = 100;

/// Redirects log lines to the parent, which draws the terminal's progress line; lasts as long as
/// the channel.
class LogToParent {
 public:
  explicit LogToParent(Channel& channel) {
    logger().send_to([&channel](LogLevel level, std::string_view line) {
      channel.send({{"say", "log"}, {"level", static_cast<int>(level)}, {"text", line}});
    });
  }
  ~LogToParent() { logger().send_to(nullptr); }
  LogToParent(const LogToParent&) = delete;
  LogToParent& operator=(const LogToParent&) = delete;
};

BatchOptions placed(BatchOptions options, const WorkerPlace& place) {
  CommonOptions& common = options.stream.common;
  if (place.device >= 0) {
    common.device = place.device;
    common.backend = Backend::cuda;
  } else if (place.stands_in) {
    common.backend = Backend::cpu;
  }
  return options;
}

nlohmann::json refusal(ExitCode code, const std::string& text) {
  return {{"say", "refused"}, {"code", static_cast<int>(code)}, {"text", text}};
}

/// Checks the backend and encoder, so that a missing one is reported once and not for every file.
/// Returns true where a device filters; nothing where the worker cannot begin.
std::optional<bool> begin(const BatchOptions& options, const BatchPlan& plan, Channel& channel) {
  try {
    const bool on_device = make_processor(options.stream.common)->frame_device() >= 0;
    check_output("x." + (options.extension.empty() ? "mkv" : options.extension),
                 options.stream.out);
    // The results that are encoded all have one encoder: .webm is the container of all or of none.
    const auto encoded = std::find_if(plan.jobs.begin(), plan.jobs.end(), [](const BatchJob& job) {
      return output_kind(job.output) == OutputKind::media_file;
    });
    if (encoded != plan.jobs.end()) require_encoder(encoded->output, options.stream.out);
    channel.send({{"say", "ready"}});
    return on_device;
  } catch (const Error& error) {
    channel.send(refusal(error.code(), error.what()));
  } catch (const std::exception& error) {
    channel.send(refusal(ExitCode::unavailable, error.what()));
  }
  return std::nullopt;
}

/// Returns true where the worker's device still works.
bool device_answers(int device) {
  if (device < 0) return false;
  try {
    static_cast<void>(choose_cuda_device(device));
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Filters a file. Where it fails before its first frame on a device that still works, the device's
/// memory may be too small: the CPU filters it, or the file alone counts as failed.
nlohmann::json filtered(const BatchOptions& options, const BatchPlan& plan, std::size_t number,
                        bool waits, bool may_use_cpu, Channel& channel) {
  const BatchJob& job = plan.jobs[number];
  JobContext context{options, number + 1, plan.jobs.size(), waits, {}, {}};
  context.on_progress = [&](const RunProgress& now) {
    nlohmann::json news{
        {"say", "progress"}, {"job", number}, {"frames", now.frames}, {"fps", now.fps}};
    if (now.fraction) news["fraction"] = *now.fraction;
    channel.send(news);
  };
  context.on_phase = [&](const std::string& phase) {
    channel.send({{"say", "phase"}, {"job", number}, {"text", phase}});
  };
  FileResult result = process_file(job, context);
  const bool too_much_for_it =
      result.device_lost && result.frames_out == 0 && device_answers(options.stream.common.device);
  if (too_much_for_it && may_use_cpu) {
    logger().warn("{}; the CPU filters {}", result.reason, job.input);
    BatchOptions on_cpu = options;
    on_cpu.stream.common.backend = Backend::cpu;
    return process_file(
        job, {on_cpu, context.number, context.count, waits, context.on_progress, context.on_phase});
  }
  result.device_lost = result.device_lost && !too_much_for_it;
  return result;
}

nlohmann::json estimated(const BatchOptions& options, const BatchJob& job) {
  try {
    return estimate_file(job, options);
  } catch (const std::exception& error) {
    return {{"reason", error.what()}};
  }
}

}  // namespace

int run_worker(const BatchOptions& asked, const BatchPlan& plan, const WorkerPlace& place,
               Channel& channel) {
  catch_signals_patiently();
  const LogToParent log(channel);
  const BatchOptions options = placed(asked, place);
  if (place.is_first) check_device(options.stream.common);
  const std::optional<bool> on_device = begin(options, plan, channel);
  if (!on_device) return static_cast<int>(ExitCode::unavailable);
  const bool may_use_cpu = asked.stream.common.backend == Backend::automatic;
  while (stop_token().signal == 0) {
    pollfd wait{channel.descriptor(), POLLIN, 0};
    if (::poll(&wait, 1, kLookMs) <= 0) continue;
    if (!channel.fill()) break;
    while (const auto order = channel.next()) {
      const std::size_t number = order->at("job");
      const std::string what = order->at("do");
      nlohmann::json answer =
          what == kEstimateOrder
              ? estimated(options, plan.jobs.at(number))
              : filtered(options, plan, number, what == kWaitOrder, may_use_cpu, channel);
      // Without a device, the file is the cause.
      if (!*on_device) answer["device_lost"] = false;
      answer["say"] = "result";
      answer["job"] = number;
      channel.send(answer);
    }
  }
  return 0;
}

}  // namespace equalux::cli

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "src/lab/equalize/machine_use.h"
#include "src/lab/lab.h"
#include "src/lab/pivot.h"
#include "src/plot/markdown.h"

/// `lab load`: Figures 10 and 11 of the report on equalization.
namespace equalux::cli::lab {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr int kSamplesACall = 8;         // the pause after a call has as many
constexpr double kLeastSampleMs = 10.0;  // clock tick of the kernel

/// Thread that alternates calls and pauses.
class Calls {
 public:
  Calls(OneStill& still, int calls, int call_ms)
      : thread_([this, &still, calls, call_ms](const std::stop_token& stop) {
          try {
            run(still, calls, call_ms, stop);
          } catch (...) {
            failure_ = std::current_exception();
          }
          done_ = true;
        }) {}

  [[nodiscard]] bool done() const { return done_; }
  /// Returns the number of the current call, from 1 on; 0 in a pause.
  [[nodiscard]] int call() const { return call_; }
  /// Returns the number of frames filtered so far.
  [[nodiscard]] std::uint64_t frames() const { return frames_; }
  /// Waits for the last call. Throws the error that ended the calls.
  void finish() {
    thread_.join();
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  void run(OneStill& still, int calls, int call_ms, const std::stop_token& stop) {
    const Milliseconds pause(call_ms);
    for (int call = 1; call <= calls && !stop.stop_requested(); ++call) {
      std::this_thread::sleep_for(pause);
      call_ = call;
      const LabClock::time_point start = LabClock::now();
      do {
        still.filter();
        ++frames_;
      } while (seconds_since(start) < call_ms / 1000.0);
      call_ = 0;
    }
    std::this_thread::sleep_for(pause);
  }

  std::atomic<bool> done_{false};
  std::atomic<int> call_{0};
  std::atomic<std::uint64_t> frames_{0};
  std::exception_ptr failure_;
  std::jthread thread_;
};

void sample_calls(Lab& lab, Backend backend, const GpuUse* gpu) {
  const LabOptions& options = lab.options();
  const std::string name(enum_name(backend));
  EqualizeParams params = lab.params(Chain::fused);
  if (backend == Backend::cpu) params.staged = {};
  OneStill still(lab.image().view(), params, backend, options.common);
  still.filter();  // warms up
  const Milliseconds interval(
      std::max(kLeastSampleMs, static_cast<double>(options.call_ms) / kSamplesACall));
  const LabClock::time_point start = LabClock::now();
  CpuUse cpu;
  Calls calls(still, lab.repeats(), options.call_ms);
  while (!calls.done()) {
    std::this_thread::sleep_for(interval);
    const int call = calls.call();
    lab.progress(static_cast<std::size_t>(call), static_cast<std::size_t>(lab.repeats()), name);
    const CpuUse::Percent percent = cpu.sample();
    std::vector<std::string> row{name,
                                 cell(seconds_since(start)),
                                 cell(call),
                                 cell(calls.frames()),
                                 cell(percent.process),
                                 percent.machine ? cell(*percent.machine) : ""};
    if (gpu != nullptr) {
      const std::optional<unsigned> use = gpu->percent();
      row.push_back(use ? cell(*use) : "");
    }
    lab.add(std::move(row));
  }
  calls.finish();
}

/// Returns the mean of a column in calls or in pauses, without empty cells.
std::string mean_text(const Table& table, const std::vector<std::size_t>& rows, bool in_call,
                      const char* column) {
  double sum = 0;
  int count = 0;
  for (const std::size_t i : rows) {
    if ((table.text(i, "call") != "0") != in_call || table.text(i, column).empty()) continue;
    sum += table.number(i, column);
    ++count;
  }
  return count == 0 ? "" : cell(sum / count);
}

struct UseColumn {
  const char* name;
  const char* title;
};
std::vector<UseColumn> use_columns(const Table& table) {
  std::vector<UseColumn> columns{{"cpu_process_percent", "CPU, this program"},
                                 {"cpu_machine_percent", "CPU, the machine"}};
  if (table.has_column("gpu_percent")) columns.push_back({"gpu_percent", "GPU"});
  return columns;
}

}  // namespace

void measure_load(Lab& lab) {
  const int call_ms = lab.options().call_ms;
  lab.fact("calls", cell(lab.repeats()) + " of " + cell(call_ms) +
                        " ms, in which the image is filtered again and again, and a pause of as "
                        "long before each");
  lab.fact("chain", std::string(enum_name(lab.params(Chain::fused).chain)));
  std::unique_ptr<GpuUse> gpu;
  if (lab.gpu()) {
    std::string reason;
    gpu = GpuUse::open(lab.gpu()->pci_bus, reason);
    if (!gpu) lab.absent("gpu_percent", reason);
  }
  std::vector<std::string> columns{
      "backend", "time_s", "call", "frames", "cpu_process_percent", "cpu_machine_percent"};
  if (gpu) columns.emplace_back("gpu_percent");
  lab.begin(std::move(columns));
  for (const Backend backend : lab.backends())
    sample_calls(lab, backend, gpu.get());
}

Report report_load(const Table& table) {
  Report report;
  std::vector<std::vector<std::string>> lines;
  for (const std::string& backend : texts_of(table, "backend")) {
    const std::vector<std::size_t> rows = rows_where(table, "backend", backend);
    plot::LineChart chart{"Use over calls, backend " + backend,
                          {"s", plot::Scale::linear},
                          {"%", plot::Scale::linear},
                          {},
                          {},
                          {}};
    for (const auto& [column, title] : use_columns(table)) {
      lines.push_back({"backend " + backend + ": " + title, mean_text(table, rows, true, column),
                       mean_text(table, rows, false, column)});
      plot::Series series{title, {}, true};
      for (const std::size_t i : rows) {
        if (table.text(i, column).empty()) continue;
        series.points.emplace_back(table.number(i, "time_s"), table.number(i, column));
      }
      chart.series.push_back(std::move(series));
    }
    report.panels.push_back(plot::line_chart(chart));
  }
  report.markdown =
      plot::markdown_table({"use", "mean in calls, %", "mean in pauses, %"}, lines) +
      "\nThe program's use is of all cores together. What the driver says of the GPU is of its "
      "last sample period, and comes some tenths of a second late.\n";
  return report;
}

}  // namespace equalux::cli::lab

#include "src/lab/equalize/cpu_use.h"

#include <fstream>
#include <string>

#include <sys/resource.h>

#include "src/cpu/common/parallel.h"

namespace equalux::cli::lab {

CpuUse::CpuUse() : time_(LabClock::now()), process_s_(process_seconds()), ticks_(machine_ticks()) {}

CpuUse::Percent CpuUse::sample() {
  const LabClock::time_point now = LabClock::now();
  const double process_s = process_seconds();
  const std::optional<Ticks> ticks = machine_ticks();
  const double elapsed_s = std::chrono::duration<double>(now - time_).count();
  Percent percent;
  percent.process = 100.0 * (process_s - process_s_) / (elapsed_s * available_cores());
  time_ = now;
  process_s_ = process_s;
  if (ticks && ticks_ && ticks->all > ticks_->all) {
    percent.machine = 100.0 * static_cast<double>(ticks->busy - ticks_->busy) /
                      static_cast<double>(ticks->all - ticks_->all);
  }
  ticks_ = ticks;
  return percent;
}

std::optional<CpuUse::Ticks> CpuUse::machine_ticks() {
  std::ifstream stat("/proc/stat");
  std::string name;
  if (!(stat >> name) || name != "cpu") return std::nullopt;
  // user nice system idle iowait irq softirq steal; what guests take is in user already.
  constexpr int kFields = 8;
  constexpr int kIdle = 3;
  constexpr int kWaiting = 4;
  Ticks ticks;
  for (int i = 0; i < kFields; ++i) {
    std::uint64_t value = 0;
    if (!(stat >> value)) return std::nullopt;
    ticks.all += value;
    if (i != kIdle && i != kWaiting) ticks.busy += value;
  }
  return ticks;
}

double CpuUse::process_seconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

}  // namespace equalux::cli::lab

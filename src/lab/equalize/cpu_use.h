#pragma once

#include <cstdint>
#include <optional>

#include "src/lab/lab_clock.h"

/// How busy the processor is.
namespace equalux::cli::lab {

/// Each call tells of the time since the one before it. One thread at a time.
class CpuUse {
 public:
  CpuUse();

  struct Percent {
    double process = 0;             ///< of all cores together
    std::optional<double> machine;  ///< everybody's; empty without /proc/stat, or too early
  };
  [[nodiscard]] Percent sample();

 private:
  /// Clock ticks of all cores.
  struct Ticks {
    std::uint64_t busy = 0;
    std::uint64_t all = 0;
  };
  [[nodiscard]] static std::optional<Ticks> machine_ticks();
  [[nodiscard]] static double process_seconds();

  LabClock::time_point time_;
  double process_s_;
  std::optional<Ticks> ticks_;
};

}  // namespace equalux::cli::lab

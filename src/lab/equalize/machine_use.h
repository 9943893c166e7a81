#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "src/lab/lab_clock.h"

/// How busy the machine is.
namespace equalux::cli::lab {

/// How busy the processor is: each call tells of the time since the one before it. One thread at a
/// time.
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

/// How busy a GPU is, as NVIDIA's management library says, where the machine has it. One thread at
/// a time.
class GpuUse {
 public:
  /// Opens the device at a PCI bus. Loads the library when the program runs; null, and a reason,
  /// where that fails.
  [[nodiscard]] static std::unique_ptr<GpuUse> open(const std::string& pci_bus,
                                                    std::string& reason);
  ~GpuUse();
  GpuUse(const GpuUse&) = delete;
  GpuUse& operator=(const GpuUse&) = delete;

  /// Percent of the library's last sample period in which a kernel ran.
  [[nodiscard]] std::optional<unsigned> percent() const;

 private:
  struct Library;
  explicit GpuUse(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace equalux::cli::lab

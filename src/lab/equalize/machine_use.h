#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "src/lab/lab_clock.h"

/// Utilization of CPU and GPU.
namespace equalux::cli::lab {

/// CPU utilization; each sample covers the time since the one before. One thread at a time.
class CpuUse {
 public:
  CpuUse();

  struct Percent {
    double process = 0;             ///< this program, percent of all cores together
    std::optional<double> machine;  ///< all processes; empty without /proc/stat, or too early
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

/// GPU utilization from NVIDIA's management library (NVML), where it is installed. One thread at a
/// time.
class GpuUse {
 public:
  /// Opens the device at a PCI bus; null, with a reason, where the library cannot be loaded or
  /// used.
  [[nodiscard]] static std::unique_ptr<GpuUse> open(const std::string& pci_bus,
                                                    std::string& reason);
  ~GpuUse();
  GpuUse(const GpuUse&) = delete;
  GpuUse& operator=(const GpuUse&) = delete;

  /// Returns the percentage of the library's last sample period in which a kernel ran.
  [[nodiscard]] std::optional<unsigned> percent() const;

 private:
  struct Library;
  explicit GpuUse(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace equalux::cli::lab

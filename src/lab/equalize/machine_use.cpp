#include "src/lab/equalize/machine_use.h"

#include <fstream>
#include <utility>

#include <dlfcn.h>
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
  // Fields: user nice system idle iowait irq softirq steal; user includes guest time.
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

/// Subset of nvml.h, whose binary interface is fixed.
struct GpuUse::Library {
  using Device = void*;
  struct Utilization {
    unsigned gpu;
    unsigned memory;
  };

  void* handle = nullptr;
  Device device = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*find)(const char*, Device*) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  bool ready = false;

  ~Library() {
    if (ready) shutdown();
    if (handle != nullptr) ::dlclose(handle);
  }

  template <typename Function>
  bool load(const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(handle, name));
    return function != nullptr;
  }
};

GpuUse::GpuUse(std::unique_ptr<Library> library) : library_(std::move(library)) {}
GpuUse::~GpuUse() = default;

std::unique_ptr<GpuUse> GpuUse::open(const std::string& pci_bus, std::string& reason) {
  constexpr const char* kName = "libnvidia-ml.so.1";
  const auto blame = [&reason](const std::string& what) {
    reason.assign(kName).append(" ").append(what);
  };
  auto library = std::make_unique<Library>();
  library->handle = ::dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr) {
    blame("cannot be loaded");
    return nullptr;
  }
  if (!library->load("nvmlInit_v2", library->init) ||
      !library->load("nvmlShutdown", library->shutdown) ||
      !library->load("nvmlDeviceGetHandleByPciBusId_v2", library->find) ||
      !library->load("nvmlDeviceGetUtilizationRates", library->utilization)) {
    blame("lacks a function");
    return nullptr;
  }
  int status = library->init();
  library->ready = status == 0;
  if (status == 0) status = library->find(pci_bus.c_str(), &library->device);
  Library::Utilization unused{};
  if (status == 0) status = library->utilization(library->device, &unused);
  if (status != 0) {
    blame("answers with error " + std::to_string(status));
    return nullptr;
  }
  return std::unique_ptr<GpuUse>(new GpuUse(std::move(library)));
}

std::optional<unsigned> GpuUse::percent() const {
  Library::Utilization use{};
  if (library_->utilization(library_->device, &use) != 0) return std::nullopt;
  return use.gpu;
}

}  // namespace equalux::cli::lab

#include "src/lab/equalize/gpu_use.h"

#include <utility>

#include <dlfcn.h>

namespace equalux::cli::lab {

/// The part of nvml.h that is needed here; its binary interface is fixed.
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

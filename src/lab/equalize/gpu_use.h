#pragma once

#include <memory>
#include <optional>
#include <string>

/// How busy a GPU is, as NVIDIA's management library says, where the machine has it.
namespace equalux::cli::lab {

/// One thread at a time.
class GpuUse {
 public:
  /// Of the device at a PCI bus. Loads the library when the program runs; null, and a reason, where
  /// that fails.
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

#pragma once

#include <atomic>
#include <string>
#include <thread>

#include <equalux/error.h>

#include "pipelines/control/page_server.h"

/// Browser window of a run's page, `--open`.
namespace equalux::cli {

/// Opens an address, watches for viewers, and stops the run when all have gone or none came.
class Browser {
 public:
  /// Opens the page; `page` must outlive this. Throws Error(unavailable) where there is no
  /// xdg-open.
  Browser(const std::string& url, const PageServer& page);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Returns the exit code of a run that ended with `code` and may have been stopped from here.
  /// Throws Error(unavailable) where the page did not open.
  [[nodiscard]] ExitCode ending(ExitCode code) const;

 private:
  enum class Found : std::uint8_t { nothing, closed, no_browser };
  void watch(int opener);

  const PageServer& page_;
  std::atomic<Found> found_{Found::nothing};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace equalux::cli

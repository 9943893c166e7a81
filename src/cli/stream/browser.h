#pragma once

#include <atomic>
#include <string>
#include <thread>

#include <equalux/error.h>

#include "pipelines/control/page_server.h"

/// A run's page in the browser of the desktop, `--open`.
namespace equalux::cli {

/// Opens an address, watches whether somebody looks, and stops the program's run when nobody does
/// any more, or nobody came.
class Browser {
 public:
  /// `page` must outlive it. Throws Error(unavailable) where there is no xdg-open.
  Browser(const std::string& url, const PageServer& page);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// The code of the run that it may have stopped, which ended with `code`. Throws
  /// Error(unavailable) where the page did not open.
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

#pragma once

#include <memory>
#include <string>

#include "pipelines/control/control_api.h"
#include "pipelines/control/control_socket.h"
#include "pipelines/core/run.h"
#include "src/cli/options.h"
#ifdef EQUALUX_HAVE_HTTP
#include "pipelines/control/page_server.h"
#include "src/cli/stream/browser.h"
#endif

/// Control of a running stream: window keys, control socket, page.
namespace equalux::cli {

struct LiveOptions {
  std::string control;      ///< path of the socket; empty = none
  std::string serve;        ///< address of the page; empty = none
  std::string serve_token;  ///< or @FILE with it in the first line; "none"; empty = generated
  bool open = false;        ///< opens the page in a browser, whose end ends the run
  [[nodiscard]] bool watched() const { return !control.empty() || !serve.empty(); }
};

/// Makes --control, --serve, --serve-token, --open.
[[nodiscard]] OptionGroup live_group(LiveOptions& options);

/// Control of one run.
class LiveControl {
 public:
  /// Opens what the options ask for; `backend` is the one that runs. `recording` is null where the
  /// run cannot record; it must outlive this. Throws Error.
  LiveControl(const LiveOptions& options, const CommonOptions& common, Backend backend,
              RecordSwitch* recording);

  [[nodiscard]] Steering& steering() { return steering_; }
  /// Returns "preset stable" or "preset stable, changed"; empty where no filter takes one.
  [[nodiscard]] std::string preset_text() const;
  /// Returns "viewers: 3 of /stream.mjpeg, 905 pictures"; empty where there was none.
  [[nodiscard]] std::string viewers_text() const;
  /// Returns true while somebody views the page's pictures. Any thread may call it.
  [[nodiscard]] bool wants_frames() const { return pictures_ && monitor_.wants_pictures(); }
  /// Adds callbacks to those that `run` already has.
  void attach(RunOptions& run);
  /// Adds a recorder to the counters; of `originals`, which may be null, only its failure. Both
  /// must outlive this.
  void watch(const Recorder& recorder, const Recorder* originals);
  /// Returns the exit code of a run that ended with `code`: done where the page ended it, or that
  /// of a page that did not open.
  [[nodiscard]] ExitCode ending(ExitCode code) const;

 private:
  bool watched_;
  bool pictures_;
  ImageDesc taken_;  ///< of the input's frames
  Steering steering_;
  LiveMonitor monitor_;
  ControlApi api_{steering_, monitor_};
  std::unique_ptr<ControlSocket> socket_;
#ifdef EQUALUX_HAVE_HTTP
  std::unique_ptr<PageServer> page_;
  std::string invitation_;  ///< address for --open, which lets one browser in; empty without it
  std::unique_ptr<Browser> browser_;  ///< null until the input is open
#endif
};

}  // namespace equalux::cli

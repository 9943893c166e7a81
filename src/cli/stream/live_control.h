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

/// What looks on and steers while one stream runs: window keys, control socket, page.
namespace equalux::cli {

struct LiveOptions {
  std::string control;      ///< a path; empty = no socket
  std::string serve;        ///< an address; empty = no page
  std::string serve_token;  ///< or @FILE, whose first line it is; "none"; empty = one is made
  bool open = false;        ///< the page in a browser, with which the run ends
  [[nodiscard]] bool watched() const { return !control.empty() || !serve.empty(); }
};

/// --control, --serve, --serve-token, --open.
[[nodiscard]] OptionGroup live_group(LiveOptions& options);

/// Stands around a run.
class LiveControl {
 public:
  /// Opens what the options ask for; `backend` is the one that runs. `recording` is null where the
  /// run cannot record, and must outlive it. Throws Error.
  LiveControl(const LiveOptions& options, const CommonOptions& common, Backend backend,
              RecordSwitch* recording);

  [[nodiscard]] Steering& steering() { return steering_; }
  /// "preset stable" or "preset stable, changed"; empty where no filter takes one.
  [[nodiscard]] std::string preset_text() const;
  /// "viewers: 3 of /stream.mjpeg, 905 pictures"; empty where there was none.
  [[nodiscard]] std::string viewers_text() const;
  /// True while somebody looks at the page's pictures. Any thread.
  [[nodiscard]] bool wants_frames() const { return pictures_ && monitor_.wants_pictures(); }
  /// Adds what it needs to the callbacks that are there already.
  void attach(RunOptions& run);
  /// Has what is recorded among the counters; of `originals`, which may be null, only that they
  /// have failed. Both must outlive this.
  void watch(const Recorder& recorder, const Recorder* originals);
  /// The code of a run that ended with `code`: one that its page ended is done, and one whose page
  /// did not open says so.
  [[nodiscard]] ExitCode ending(ExitCode code) const;

 private:
  bool watched_;
  bool pictures_;
  Steering steering_;
  LiveMonitor monitor_;
  ControlApi api_{steering_, monitor_};
  std::unique_ptr<ControlSocket> socket_;
#ifdef EQUALUX_HAVE_HTTP
  std::unique_ptr<PageServer> page_;
  std::unique_ptr<Browser> browser_;
#endif
};

}  // namespace equalux::cli

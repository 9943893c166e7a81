#pragma once

#include "pipelines/core/run.h"

/// SIGINT and SIGTERM ask a run to end early; SIGPIPE becomes a write error.
namespace equalux::cli {

/// What the signals set; one for the whole program, so that a batch stops too.
[[nodiscard]] StopToken& stop_token();

/// From now on a first SIGINT or SIGTERM sets the token, and a second one exits at once with 130
/// or 143, leaving the partial file.
void catch_signals();
/// The same, but a second signal changes nothing: for processes that another one watches.
void catch_signals_patiently();
/// Gives descriptors 0, 1 and 2 that are closed something that fails as they would, before anything
/// else is opened and gets their number.
void hold_standard_streams();
/// Writing into a closed pipe or past a file-size limit is an error that write() reports, not a
/// death.
void ignore_write_signals();

}  // namespace equalux::cli

#pragma once

#include "pipelines/core/run.h"

/// SIGINT and SIGTERM ask a run to end early; SIGPIPE becomes a write error.
namespace equalux::cli {

/// A program that a signal ended exits with this and the signal's number.
inline constexpr int kSignalExitBase = 128;

/// What the signals set; one for the whole program, so that a batch stops too.
[[nodiscard]] StopToken& stop_token();

/// Has a first SIGINT or SIGTERM set the token from now on, and a second one exits at once with 130
/// or 143, leaving the partial file.
void catch_signals();
/// Catches signals so that a second one changes nothing: for processes that another one watches.
void catch_signals_patiently();
/// Gives descriptors 0, 1 and 2 that are closed something that fails as they would, before anything
/// else is opened and gets their number.
void hold_standard_streams();
/// Writing into a closed pipe or past a file-size limit is an error that write() reports, not a
/// death.
void ignore_write_signals();

}  // namespace equalux::cli

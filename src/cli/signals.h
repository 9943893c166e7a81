#pragma once

#include "pipelines/core/run.h"

/// Signals: SIGINT, SIGTERM and SIGHUP end a run early; SIGPIPE becomes a write error.
namespace equalux::cli {

/// Base of the exit code after a signal, to which its number is added.
inline constexpr int kSignalExitBase = 128;

/// Returns the token that signals set; one for the whole program, so that a batch stops too.
[[nodiscard]] StopToken& stop_token();

/// Makes a first SIGINT or SIGTERM set the token; a second one exits at once with 130 or 143,
/// leaving the partial file. SIGHUP, of a terminal that was closed, counts as SIGTERM, however
/// often it comes, and is left alone where it is ignored, as nohup has it.
void catch_signals();
/// Makes signals set the token, however often: for processes that another one watches.
void catch_signals_patiently();
/// Opens closed descriptors among 0, 1 and 2 on something that fails as they would, before other
/// files get these numbers.
void hold_standard_streams();
/// Makes writes to a closed pipe or beyond a file-size limit fail in write(), instead of killing
/// the process.
void ignore_write_signals();

}  // namespace equalux::cli

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pipelines/live/recorder.h"
#include "src/cli/stream/io_factory.h"

/// Recording beside a run's output.
namespace equalux::cli {

struct RecordingOptions {
  std::string path;  ///< empty = none
  std::optional<std::int64_t> split_ns;
  std::optional<std::uint64_t> split_bytes;
  bool standby = false;   ///< begins when it is told to
  bool original = false;  ///< the unfiltered frames too
};

/// --record, --record-split, --record-standby, --record-original.
[[nodiscard]] OptionGroup recording_group(RecordingOptions& options);

/// Throws Error(usage) for everything that the options alone tell is wrong.
void check_recording(const RecordingOptions& options, const OutputOptions& out);

/// Null where nothing is to be recorded. `out` chooses the encoder. Sets `wanted`, which must
/// outlive it.
[[nodiscard]] std::unique_ptr<Recorder> make_recorder(const RecordingOptions& options,
                                                      const OutputOptions& out,
                                                      RecordSwitch& wanted);

/// The recorder of the unfiltered frames, beside the filtered ones; null where they are not to be
/// recorded.
[[nodiscard]] std::unique_ptr<Recorder> make_original_recorder(const RecordingOptions& options,
                                                               const OutputOptions& out,
                                                               RecordSwitch& wanted);

/// "recorded: 905 frames into 3 files, 7 dropped"
[[nodiscard]] std::string recording_text(const RecordCounts& counts);

}  // namespace equalux::cli

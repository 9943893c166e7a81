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
  std::string path;  ///< empty = no recording
  std::optional<std::int64_t> split_ns;
  std::optional<std::uint64_t> split_bytes;
  bool standby = false;   ///< waits for a command to begin
  bool original = false;  ///< records the unfiltered frames too
};

/// Makes --record, --record-split, --record-standby, --record-original.
[[nodiscard]] OptionGroup recording_group(RecordingOptions& options);

/// Checks everything that the options alone tell. Throws Error(usage).
void check_recording(const RecordingOptions& options, const OutputOptions& out);

/// Throws Error(usage) for an output file that a recording would take as one of its own.
void refuse_output_among_recordings(const RecordingOptions& options, const std::string& output);

/// Makes the recorder; null where nothing is recorded. `out` chooses the encoder. Sets `wanted`,
/// which must outlive the recorder.
[[nodiscard]] std::unique_ptr<Recorder> make_recorder(const RecordingOptions& options,
                                                      const OutputOptions& out,
                                                      RecordSwitch& wanted);

/// Makes the recorder of unfiltered frames; null where they are not recorded.
[[nodiscard]] std::unique_ptr<Recorder> make_original_recorder(const RecordingOptions& options,
                                                               const OutputOptions& out,
                                                               RecordSwitch& wanted);

/// Returns "recorded: 905 frames into 3 files, 7 dropped".
[[nodiscard]] std::string recording_text(const RecordCounts& counts);

}  // namespace equalux::cli

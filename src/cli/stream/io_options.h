#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipelines/core/part_source.h"
#include "pipelines/core/sink.h"
#include "pipelines/core/source.h"
#include "pipelines/gstreamer/encode/file_sink.h"
#include "pipelines/live/steering.h"
#include "src/cli/command.h"
#include "src/cli/options.h"

/// Options of inputs and outputs.
namespace equalux::cli {

struct InputOptions {
  std::optional<Rational> fps;  ///< rate of sequences; asked of cameras
  int width = 0;                ///< asked of cameras; 0 = the camera's choice
  int height = 0;
  std::vector<std::pair<std::string, std::string>> controls;  ///< camera controls to set
  int threads = 0;                                            ///< threads of the decoder
  std::string reconnect = "always";     ///< live inputs: always, off, or a number of seconds
  std::string decoder = "auto";         ///< decoder of files: auto, software or gpu
  bool sound = false;                   ///< a stream's sound is wanted too; not set by the user
  std::optional<std::int64_t> from_ns;  ///< part that is read, see Part
  std::optional<std::int64_t> to_ns;
  std::optional<std::int64_t> part_ns;  ///< duration of the part, instead of to_ns
};

/// Options of outputs of any kind; the output's text becomes the path. The user sets encoder,
/// quality, lossless, drop_streams and mute.
struct OutputOptions : FileSinkOptions {
  bool mute = false;             ///< for streams, see StreamSinkOptions
  Steering* steering = nullptr;  ///< for keys of a window; null = none
  NullPace null_pace = NullPace::none;
};

/// Makes --encoder, --quality, --lossless, --drop-streams.
[[nodiscard]] OptionGroup output_group(OutputOptions& options);

/// Makes --camera-control.
[[nodiscard]] Option camera_control_option(InputOptions& options);

/// Reads --size, "1280x720"; empty = none. Throws Error(usage).
void read_size(const std::string& text, InputOptions& options);

/// Makes --reconnect.
[[nodiscard]] Option reconnect_option(InputOptions& options);

/// Makes --from, --to and --duration.
[[nodiscard]] std::vector<Option> part_options(InputOptions& options);

/// Returns the part that these options describe; nothing without them. Throws Error(usage).
[[nodiscard]] std::optional<Part> part_of(const InputOptions& options);

/// Reads "90", "1:30" or "0:01:30.5" as nanoseconds. Throws Error(usage).
[[nodiscard]] std::int64_t read_time(const std::string& option, const std::string& text);

/// Makes --decoder.
[[nodiscard]] Option decoder_option(InputOptions& options);

/// Reads "30", "29.97" or "30000/1001". Throws Error(usage).
[[nodiscard]] Rational read_rate(const std::string& option, const std::string& text);

/// Returns the table of --list-encoders.
[[nodiscard]] std::string encoder_table();

}  // namespace equalux::cli

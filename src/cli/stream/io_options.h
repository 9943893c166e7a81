#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipelines/core/part_source.h"
#include "pipelines/core/source.h"
#include "pipelines/live/steering.h"
#include "src/cli/command.h"
#include "src/cli/options.h"

/// The options of inputs and outputs.
namespace equalux::cli {

struct InputOptions {
  std::optional<Rational> fps;  ///< of sequences, and asked of cameras
  int width = 0;                ///< asked of cameras; 0 = the camera's choice
  int height = 0;
  std::vector<std::pair<std::string, std::string>> controls;  ///< of the camera, to set
  int threads = 0;                                            ///< of the decoder
  std::string reconnect = "always";     ///< live inputs: always, off, or for how many seconds
  std::string decoder = "auto";         ///< who decodes files: auto, software or gpu
  bool sound = false;                   ///< a stream's is wanted, too; not an option of the user's
  std::optional<std::int64_t> from_ns;  ///< the part that is read, as Part
  std::optional<std::int64_t> to_ns;
  std::optional<std::int64_t> part_ns;  ///< how long it is, in place of to_ns
};

struct OutputOptions {
  std::string encoder;         ///< empty = the default, see FileSinkOptions
  std::optional<int> quality;  ///< the encoder's own scale
  bool lossless = false;
  bool drop_streams = false;
  bool mute = false;  ///< of streams, see StreamSinkOptions
  // Not options of the user's.
  bool prefers_gpu = false;  ///< see FileSinkOptions
  // Set by who makes checkpoints:
  std::string journal;           ///< see FileSinkOptions; also says that checkpoints are wanted
  std::string resume;            ///< what Sink::checkpoint() gave; empty = from the start
  Steering* steering = nullptr;  ///< for a window's keys; null = it has none
  bool keep_partial = false;     ///< see FileSinkOptions
};

/// --encoder, --quality, --lossless, --drop-streams.
[[nodiscard]] OptionGroup output_group(OutputOptions& options);

/// --camera-control.
[[nodiscard]] Option camera_control_option(InputOptions& options);

/// --size, "1280x720"; empty = none. Throws Error(usage).
void read_size(const std::string& text, InputOptions& options);

/// --reconnect.
[[nodiscard]] Option reconnect_option(InputOptions& options);

/// --from, --to and --duration.
[[nodiscard]] std::vector<Option> part_options(InputOptions& options);

/// What they say together; nothing without them. Throws Error(usage).
[[nodiscard]] std::optional<Part> part_of(const InputOptions& options);

/// "90", "1:30", "0:01:30.5" in nanoseconds. Throws Error(usage).
[[nodiscard]] std::int64_t read_time(const std::string& option, const std::string& text);

/// --decoder.
[[nodiscard]] Option decoder_option(InputOptions& options);

/// "30", "29.97" or "30000/1001". Throws Error(usage).
[[nodiscard]] Rational read_rate(const std::string& option, const std::string& text);

/// The encoders as a table for --list-encoders.
[[nodiscard]] std::string encoder_table();

}  // namespace equalux::cli

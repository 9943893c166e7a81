#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pipelines/core/part_source.h"
#include "pipelines/core/sink.h"
#include "pipelines/core/source.h"
#include "pipelines/live/steering.h"
#include "src/cli/command.h"
#include "src/cli/options.h"

/// From what the user wrote for INPUT and OUTPUT to a source and a sink.
namespace equalux::cli {

enum class InputKind { media_file, y4m, standard_input, sequence, camera, test, launch, network };
enum class OutputKind { media_file, y4m, standard_output, sequence, window, null, v4l2, launch };

struct InputOptions {
  std::optional<Rational> fps;  ///< of sequences, and asked of cameras
  int width = 0;                ///< asked of cameras; 0 = the camera's choice
  int height = 0;
  std::vector<std::pair<std::string, std::string>> controls;  ///< of the camera, to set
  int threads = 0;                                            ///< of the decoder
  std::string reconnect = "always";     ///< live inputs: always, off, or for how many seconds
  std::string decoder = "auto";         ///< who decodes files: auto, software or gpu
  std::optional<std::int64_t> from_ns;  ///< the part that is read, as Part
  std::optional<std::int64_t> to_ns;
  std::optional<std::int64_t> part_ns;  ///< how long it is, in place of to_ns
};

struct OutputOptions {
  std::string encoder;         ///< empty = the default, see FileSinkOptions
  std::optional<int> quality;  ///< the encoder's own scale
  bool lossless = false;
  bool drop_streams = false;
  // Not options of the user's.
  bool prefers_gpu = false;  ///< see FileSinkOptions
  // Set by who makes checkpoints:
  std::string journal;           ///< see FileSinkOptions; also says that checkpoints are wanted
  std::string resume;            ///< what Sink::checkpoint() gave; empty = starts anew
  Steering* steering = nullptr;  ///< for a window's keys; null = it has none
  bool keep_partial = false;     ///< see FileSinkOptions
};

/// What kind of input or output a text names. Throws Error(usage) for a form that is not known.
[[nodiscard]] InputKind input_kind(const std::string& input);
[[nodiscard]] OutputKind output_kind(const std::string& output);

/// True for inputs whose frames come as time passes.
[[nodiscard]] bool is_live(InputKind kind);

/// True for extensions of media files that may be read.
[[nodiscard]] bool is_media_name(const std::string& path);

/// Everything that the texts alone tell is wrong. Throws Error(usage).
void check_output(const std::string& output, const OutputOptions& options);

/// Throws Error(no_input) where the input is not there, Error(unavailable) where this build cannot
/// read such inputs.
[[nodiscard]] std::unique_ptr<Source> make_source(const std::string& input,
                                                  const InputOptions& options);
/// Throws Error(unavailable) where this build cannot write such outputs.
[[nodiscard]] std::unique_ptr<Sink> make_sink(const std::string& output,
                                              const OutputOptions& options);

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

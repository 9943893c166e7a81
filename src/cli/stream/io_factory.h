#pragma once

#include <memory>
#include <string>

#include "pipelines/core/sink.h"
#include "pipelines/core/source.h"
#include "src/cli/stream/io_options.h"

/// Sources and sinks for the INPUT and OUTPUT of a command line.
namespace equalux::cli {

enum class InputKind {
  media_file,
  y4m,
  standard_input,
  sequence,
  camera,
  pipewire,
  test,
  launch,
  network
};
enum class OutputKind {
  media_file,
  y4m,
  standard_output,
  sequence,
  window,
  null,
  v4l2,
  pipewire,
  launch,
  stream
};

/// Returns the kind of input or output that a text names. Throws Error(usage) for an unknown form.
[[nodiscard]] InputKind input_kind(const std::string& input);
[[nodiscard]] OutputKind output_kind(const std::string& output);

/// Returns true for cameras of any driver.
[[nodiscard]] bool is_camera(InputKind kind);

/// Returns true for inputs whose frames arrive in real time.
[[nodiscard]] bool is_live(InputKind kind);

/// Returns true for extensions of videos, as folders are searched for them. Music may have .ogg,
/// and .apng and .webp are read as stills alone.
[[nodiscard]] bool is_media_name(const std::string& path);

/// Throws Error(unavailable) where the encoder of a media file cannot run here; loads GStreamer.
void require_encoder(const std::string& output, const OutputOptions& options);
/// Checks all that an output's text shows without opening it. Throws Error(usage).
void check_output(const std::string& output, const OutputOptions& options);

/// Makes the source of an input. Throws Error(no_input) where it does not exist, Error(unavailable)
/// where this build cannot read such inputs.
[[nodiscard]] std::unique_ptr<Source> make_source(const std::string& input,
                                                  const InputOptions& options);
/// Makes the sink of an output. Throws Error(unavailable) where this build cannot write such
/// outputs.
[[nodiscard]] std::unique_ptr<Sink> make_sink(const std::string& output,
                                              const OutputOptions& options);

}  // namespace equalux::cli

#pragma once

#include <memory>
#include <string>

#include "pipelines/core/sink.h"
#include "pipelines/core/source.h"
#include "src/cli/stream/io_options.h"

/// Sources and sinks of what the user wrote for INPUT and OUTPUT.
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

/// What kind of input or output a text names. Throws Error(usage) for a form that is not known.
[[nodiscard]] InputKind input_kind(const std::string& input);
[[nodiscard]] OutputKind output_kind(const std::string& output);

/// True for cameras, by whatever driver.
[[nodiscard]] bool is_camera(InputKind kind);

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

}  // namespace equalux::cli

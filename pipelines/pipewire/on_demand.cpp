#include "pipelines/pipewire/module.h"

/// Functions that call the module, which the first call loads.
namespace equalux {
namespace {

const PipewireFunctions& pipewire_functions() {
  return functions_of<PipewireFunctions>(kPipewireModule);
}

}  // namespace

std::unique_ptr<Sink> make_pipewire_sink(const PipewireSinkOptions& options) {
  return pipewire_functions().make_pipewire_sink(options);
}

std::unique_ptr<Source> make_pipewire_source(const PipewireSourceOptions& options) {
  return pipewire_functions().make_pipewire_source(options);
}

PipewireState look_at_pipewire() {
  return pipewire_functions().look_at_pipewire();
}

}  // namespace equalux

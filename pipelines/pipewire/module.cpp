#include "pipelines/pipewire/module.h"

extern "C" EQUALUX_EXPORT const void* equalux_module(std::string_view version,
                                                     equalux::Logger& log) {
  static const equalux::PipewireFunctions functions{
      .make_pipewire_sink = equalux::make_pipewire_sink,
      .make_pipewire_source = equalux::make_pipewire_source,
      .look_at_pipewire = equalux::look_at_pipewire};
  return equalux::module_entry(version, log, &functions);
}

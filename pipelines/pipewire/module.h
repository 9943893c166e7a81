#pragma once

#include "pipelines/modules/module.h"
#include "pipelines/pipewire/daemon_state.h"
#include "pipelines/pipewire/pipewire_sink.h"
#include "pipelines/pipewire/pipewire_source.h"

/// Functions of this folder that the program calls.
namespace equalux {

struct PipewireFunctions {
  decltype(&equalux::make_pipewire_sink) make_pipewire_sink;
  decltype(&equalux::make_pipewire_source) make_pipewire_source;
  decltype(&equalux::look_at_pipewire) look_at_pipewire;
};

}  // namespace equalux

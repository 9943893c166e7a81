#pragma once

#include "pipelines/gstreamer/decode/file_source.h"
#include "pipelines/gstreamer/encode/encoders.h"
#include "pipelines/gstreamer/encode/file_sink.h"
#include "pipelines/gstreamer/launch.h"
#include "pipelines/gstreamer/plugins.h"
#include "pipelines/gstreamer/stream/stream_sink.h"
#include "pipelines/modules/module.h"

/// Functions of this folder that the program calls.
namespace equalux {

struct MediaFunctions {
  decltype(&equalux::make_file_source) make_file_source;
  decltype(&equalux::make_file_sink) make_file_sink;
  decltype(&equalux::make_launch_source) make_launch_source;
  decltype(&equalux::make_network_source) make_network_source;
  decltype(&equalux::make_launch_sink) make_launch_sink;
  decltype(&equalux::make_v4l2_sink) make_v4l2_sink;
  decltype(&equalux::make_stream_sink) make_stream_sink;
  decltype(&equalux::list_encoders) list_encoders;
  decltype(&equalux::default_encoder) default_encoder;
  decltype(&equalux::check_encoder_options) check_encoder_options;
  decltype(&equalux::check_encoder_fits) check_encoder_fits;
  decltype(&equalux::list_plugins) list_plugins;
};

}  // namespace equalux

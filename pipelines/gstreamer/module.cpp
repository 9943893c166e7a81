#include "pipelines/gstreamer/module.h"

extern "C" EQUALUX_EXPORT const void* equalux_module(std::string_view version,
                                                     equalux::Logger& log) {
  static const equalux::MediaFunctions functions{
      .make_file_source = equalux::make_file_source,
      .make_file_sink = equalux::make_file_sink,
      .make_launch_source = equalux::make_launch_source,
      .make_network_source = equalux::make_network_source,
      .make_launch_sink = equalux::make_launch_sink,
      .make_v4l2_sink = equalux::make_v4l2_sink,
      .make_stream_sink = equalux::make_stream_sink,
      .list_encoders = equalux::list_encoders,
      .default_encoder = equalux::default_encoder,
      .check_encoder_options = equalux::check_encoder_options,
      .check_encoder_fits = equalux::check_encoder_fits,
      .list_plugins = equalux::list_plugins};
  return equalux::module_entry(version, log, &functions);
}

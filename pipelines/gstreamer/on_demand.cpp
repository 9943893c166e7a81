#include "pipelines/gstreamer/module.h"

/// Functions that call the media module, which the first call loads.
namespace equalux {
namespace {

const MediaFunctions& media() {
  return functions_of<MediaFunctions>(kMediaModule);
}

}  // namespace

std::unique_ptr<Source> make_file_source(const std::string& path,
                                         const FileSourceOptions& options) {
  return media().make_file_source(path, options);
}

std::unique_ptr<Sink> make_file_sink(const FileSinkOptions& options) {
  return media().make_file_sink(options);
}

std::unique_ptr<Source> make_launch_source(const std::string& launch,
                                           std::chrono::milliseconds stall) {
  return media().make_launch_source(launch, stall);
}

std::unique_ptr<Source> make_network_source(const std::string& url, NetworkSound sound,
                                            std::chrono::milliseconds stall) {
  return media().make_network_source(url, sound, stall);
}

std::unique_ptr<Sink> make_launch_sink(const std::string& launch) {
  return media().make_launch_sink(launch);
}

std::unique_ptr<Sink> make_v4l2_sink(const std::string& device) {
  return media().make_v4l2_sink(device);
}

std::unique_ptr<Sink> make_stream_sink(const StreamSinkOptions& options) {
  return media().make_stream_sink(options);
}

std::vector<EncoderListing> list_encoders() {
  return media().list_encoders();
}

std::string_view default_encoder(const std::string& path) {
  return media().default_encoder(path);
}

void check_encoder_options(const std::string& name, std::optional<int> quality, bool lossless) {
  media().check_encoder_options(name, quality, lossless);
}

void check_encoder_fits(const std::string& name, const std::string& path) {
  media().check_encoder_fits(name, path);
}

std::vector<PluginListing> list_plugins() {
  return media().list_plugins();
}

}  // namespace equalux

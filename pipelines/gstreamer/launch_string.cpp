#include "pipelines/gstreamer/launch_string.h"

#include <algorithm>

namespace equalux::gst {

ElementPtr parse_launch(const std::string& full, const std::string& launch,
                        const std::string& hint) {
  start_up();
  if (launch.find_first_not_of(" \t\n") == std::string::npos) {
    throw Error(ExitCode::usage, "gst: holds no launch string; " + hint);
  }
  GError* raw = nullptr;
  GstElement* parsed =
      gst_parse_launch_full(full.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &raw);
  const ErrorPtr error(raw);
  ElementPtr pipeline;
  if (parsed != nullptr) {
    gst_object_ref_sink(parsed);
    pipeline.reset(parsed);
  }
  if (error || !pipeline) {
    std::string text = error ? error->message : "cannot be parsed";
    std::replace(text.begin(), text.end(), '\n', ' ');
    throw Error(ExitCode::usage, "gst:" + launch + ": " + text + "; " + hint);
  }
  return pipeline;
}

GstElement* element_of(GstElement* pipeline, const char* name) {
  GstElement* element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  gst_object_unref(element);  // the pipeline keeps it
  return element;
}

}  // namespace equalux::gst

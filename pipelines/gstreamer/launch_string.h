#pragma once

#include <string>

#include "pipelines/gstreamer/gst_common.h"

/// Launch strings, as gst-launch-1.0 reads them.
namespace equalux::gst {

/// The pipeline of `full`, which is `launch` with an element of ours in front or behind. Throws
/// Error(usage) with GStreamer's message, naming `launch` and adding `hint`.
[[nodiscard]] ElementPtr parse_launch(const std::string& full, const std::string& launch,
                                      const std::string& hint);
/// An element of a parsed pipeline; borrowed from it.
[[nodiscard]] GstElement* element_of(GstElement* pipeline, const char* name);

}  // namespace equalux::gst

#include "pipelines/gstreamer/plugins.h"

#include "pipelines/gstreamer/gst_common.h"

namespace equalux {

std::vector<PluginListing> list_plugins() {
  gst::start_up();
  const char* base = "gstreamer1.0-plugins-base";
  const char* good = "gstreamer1.0-plugins-good";
  const char* bad = "gstreamer1.0-plugins-bad";
  std::vector<PluginListing> plugins{
      {"videoconvert", "any gst: input or output", base},
      {"appsink", "any file or gst: input", base},
      {"uridecodebin", "rtsp:// and http:// inputs", base},
      {"avdec_h264", "H.264 files and streams", "gstreamer1.0-libav"},
      {"vp9alphadecodebin", "transparency of .webm files", bad},
      {"jpegdec", "motion JPEG of cameras and streams", good},
      {"v4l2src", "gst:v4l2src", good},
      {"v4l2sink", "output v4l2:/dev/videoN", good},
      {"rtspsrc", "rtsp:// inputs", good},
      {"souphttpsrc", "http:// inputs", good},
      {"rtph264pay", "output rtsp://:PORT/NAME", good},
      {"rtspclientsink", "output rtsp://HOST/NAME", "gstreamer1.0-rtsp"},
      {"rtmp2sink", "output rtmp://HOST/APP/KEY", bad},
      {"srtsink", "output srt://HOST:PORT", bad},
      {"autovideosink", "gst:autovideosink", good},
  };
  for (PluginListing& plugin : plugins)
    plugin.found = gst::has_element(plugin.element.c_str());
  return plugins;
}

}  // namespace equalux

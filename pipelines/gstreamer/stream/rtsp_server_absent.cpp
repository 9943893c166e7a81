#include <equalux/error.h>

#include "pipelines/gstreamer/stream/packet_sender.h"

namespace equalux::gst {

std::unique_ptr<PacketSender> make_rtsp_server(const std::string& name, const ServedStream&, Tracks,
                                               PacketMaker&) {
  throw Error(ExitCode::unavailable,
              name +
                  " needs GStreamer's RTSP server, which this build does not have; must be a "
                  "build with gst-rtsp-server (Debian: libgstrtspserver-1.0-dev)");
}

}  // namespace equalux::gst

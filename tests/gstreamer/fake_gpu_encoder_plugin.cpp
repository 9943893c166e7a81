// fake_gpu_encoder.h as a plugin, for the program.
#include "tests/gstreamer/fake_gpu_encoder.h"

#define PACKAGE "equalux"

static gboolean plugin_init(GstPlugin* plugin) {
  return equalux::test::register_fake_gpu_encoder(plugin) ? TRUE : FALSE;
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, fakenvenc, "x264 as a GPU's encoder",
                  plugin_init, "1.0", "Apache-2.0", "equalux", "https://equalux.example")

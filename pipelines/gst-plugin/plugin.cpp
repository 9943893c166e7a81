#include <equalux_version.h>
#include <gst/gst.h>

#include "convolve_element.h"
#include "cuda_memory.h"
#include "equalize_element.h"

/// The plugin: registers its elements, on machines without a GPU too.

GST_DEBUG_CATEGORY(equalux_debug);
#define GST_CAT_DEFAULT equalux_debug

static gboolean plugin_init(GstPlugin* plugin) {
  GST_DEBUG_CATEGORY_INIT(equalux_debug, "equalux", 0, "equalux video filters");
  if (equalux::gst::cuda_memory_feature() != nullptr) {
    // Whether the pads have CUDA memory, which the registry remembers, depends on the driver.
    gst_plugin_add_dependency_simple(plugin, nullptr, "/dev", "nvidia0",
                                     GST_PLUGIN_DEPENDENCY_FLAG_NONE);
  }
  return gst_element_register(plugin, "equalux", GST_RANK_NONE, gst_equalux_get_type()) != FALSE &&
         gst_element_register(plugin, "equaluxconvolve", GST_RANK_NONE,
                              gst_equalux_convolve_get_type()) != FALSE;
}

#define PACKAGE "equalux"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, equalux,
                  "Histogram equalization of video on the CPU and on NVIDIA GPUs", plugin_init,
                  EQUALUX_VERSION, "Apache-2.0", "equalux", "https://equalux.example")

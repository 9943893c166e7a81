#include <equalux_version.h>
#include <gst/gst.h>

#include "pipelines/plugin/cuda_memory.h"
#include "pipelines/plugin/filter_element.h"

/// The plugin: registers its elements, also on machines without a GPU.

GST_DEBUG_CATEGORY(equalux_debug);
#define GST_CAT_DEFAULT equalux_debug

static gboolean plugin_init(GstPlugin* plugin) {
  using namespace equalux::gst;
  GST_DEBUG_CATEGORY_INIT(equalux_debug, "equalux", 0, "equalux video filters");
  if (cuda_memory_feature() != nullptr) {
    // Caps with CUDA memory, which the registry caches, depend on the driver.
    gst_plugin_add_dependency_simple(plugin, nullptr, "/dev", "nvidia0",
                                     GST_PLUGIN_DEPENDENCY_FLAG_NONE);
  }
  for (const equalux::FilterInfo& filter : equalux::filter_list()) {
    if (filter.title.empty()) continue;
    if (gst_element_register(plugin, element_name(filter).c_str(), GST_RANK_NONE,
                             register_element_type(filter)) == FALSE) {
      return FALSE;
    }
  }
  return TRUE;
}

#define PACKAGE "equalux"
// GStreamer has a list of licenses, with spellings of its own, and warns of every other text.
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, equalux,
                  "Video filters on the CPU and on NVIDIA GPUs: equalization, convolution, vessels",
                  plugin_init, EQUALUX_VERSION, "Apache 2.0", "equalux", "https://equalux.example")

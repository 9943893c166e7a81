// Changes the element's properties while the stream runs: the line between before and after moves,
// and each second another scaler is tried.
//
//   sample_live_property [LAUNCH]
//
// LAUNCH is a pipeline with an equalux element named "e"; without it a test picture in a window.
#include <cmath>
#include <cstdio>
#include <string>

#include <gst/gst.h>

namespace {

struct Show {
  GMainLoop* loop;
  GstElement* filter;
  int ticks = 0;
};

gboolean change(gpointer data) {
  auto* show = static_cast<Show*>(data);
  const double seconds = 0.04 * show->ticks;
  g_object_set(show->filter, "split", 0.5 + 0.4 * std::sin(seconds), nullptr);
  if (show->ticks++ % 25 == 0) {
    const char* const scalers[] = {"max-abs", "min-max", "min-max-nonzero"};
    const char* scaler = scalers[show->ticks / 25 % 3];
    gst_util_set_object_arg(G_OBJECT(show->filter), "scaler", scaler);
    std::printf("scaler %s\n", scaler);
  }
  return G_SOURCE_CONTINUE;
}

gboolean on_message(GstBus*, GstMessage* message, gpointer data) {
  auto* show = static_cast<Show*>(data);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) g_main_loop_quit(show->loop);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    std::fprintf(stderr, "%s\n", error->message);
    g_error_free(error);
    g_main_loop_quit(show->loop);
  }
  return G_SOURCE_CONTINUE;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const std::string launch =
      argc > 1 ? argv[1]
               : "videotestsrc num-buffers=300 ! equalux name=e ! videoconvert ! autovideosink";
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(launch.c_str(), &error);
  GstElement* filter = pipeline != nullptr ? gst_bin_get_by_name(GST_BIN(pipeline), "e") : nullptr;
  if (filter == nullptr) {
    std::fprintf(stderr, "%s\n", error != nullptr ? error->message : "no element is named e");
    return 2;
  }
  Show show{g_main_loop_new(nullptr, FALSE), filter};
  GstBus* bus = gst_element_get_bus(pipeline);
  gst_bus_add_watch(bus, on_message, &show);
  g_timeout_add(40, change, &show);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_main_loop_run(show.loop);

  gchar* used = nullptr;
  g_object_get(filter, "device-used", &used, nullptr);
  std::printf("filtered by %s\n", used != nullptr ? used : "nothing");
  g_free(used);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_bus_remove_watch(bus);
  gst_object_unref(bus);
  gst_object_unref(filter);
  gst_object_unref(pipeline);
  g_main_loop_unref(show.loop);
}

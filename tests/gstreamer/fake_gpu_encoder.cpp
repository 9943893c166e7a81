#include "tests/gstreamer/fake_gpu_encoder.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "pipelines/gstreamer/gst_common.h"

namespace equalux::test {
namespace {

int made = 0;
bool fails_to_start = false;
std::atomic<bool> stalls{false};
std::atomic<int> frames_left{0};
GstElementClass* parent = nullptr;

GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                            GST_STATIC_CAPS("video/x-raw, format={NV12,I420,Y444}, "
                                            "width=[160,640], height=[64,640], "
                                            "interlace-mode=progressive"));
GstStaticPadTemplate source_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS("video/x-h264"));

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  if (fails_to_start && transition == GST_STATE_CHANGE_NULL_TO_READY) {
    GST_ELEMENT_ERROR(element, LIBRARY, INIT, ("No session is left"), (nullptr));
    return GST_STATE_CHANGE_FAILURE;
  }
  return parent->change_state(element, transition);
}

void class_init(gpointer klass, gpointer) {
  parent = GST_ELEMENT_CLASS(g_type_class_peek_parent(klass));
  GstElementClass* element = GST_ELEMENT_CLASS(klass);
  element->change_state = change_state;
  gst_element_class_add_static_pad_template(element, &sink_template);
  gst_element_class_add_static_pad_template(element, &source_template);
  gst_element_class_set_static_metadata(element, "Fake GPU encoder", "Codec/Encoder/Video", "x264",
                                        "tests");
}

GstPadProbeReturn stall(GstPad*, GstPadProbeInfo*, gpointer) {
  const bool waits = stalls && --frames_left < 0;
  while (waits && stalls)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return GST_PAD_PROBE_OK;
}

void instance_init(GTypeInstance* instance, gpointer) {
  ++made;
  GstElement* bin = GST_ELEMENT(instance);
  GstElement* encoder = gst::add_to(bin, gst::make_element("x264enc"));
  for (const char* name : {"sink", "src"}) {
    const gst::PadPtr pad(gst_element_get_static_pad(encoder, name));
    if (name[1] == 'i') {
      gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, stall, nullptr, nullptr);
    }
    gst_element_add_pad(bin, gst_ghost_pad_new(name, pad.get()));
  }
}

}  // namespace

void register_fake_gpu_encoder() {
  gst::start_up();
  (void)register_fake_gpu_encoder(nullptr);
}

bool register_fake_gpu_encoder(GstPlugin* plugin) {
  GTypeInfo info{};
  info.class_size = sizeof(GstBinClass);
  info.class_init = class_init;
  info.instance_size = sizeof(GstBin);
  info.instance_init = instance_init;
  static const GType type =
      g_type_register_static(GST_TYPE_BIN, "EqualuxFakeGpuEncoder", &info, GTypeFlags{});
  return gst_element_register(plugin, "nvh264enc", GST_RANK_NONE, type) != FALSE;
}

int fake_gpu_encoders_made() {
  return std::exchange(made, 0);
}

void let_fake_gpu_encoder_stall(bool now, int frames) {
  frames_left = frames;
  stalls = now;
}

void let_fake_gpu_encoder_fail(bool fails) {
  fails_to_start = fails;
}

}  // namespace equalux::test

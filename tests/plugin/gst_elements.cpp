#include "tests/plugin/gst_elements.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <equalux/filter.h>

namespace equalux::test {

namespace {

std::string first_text(GstBus* bus, GstMessageType type) {
  const gst::MessagePtr message(gst_bus_pop_filtered(bus, type));
  if (!message) return "";
  GError* error = nullptr;
  if (type == GST_MESSAGE_ERROR) {
    gst_message_parse_error(message.get(), &error, nullptr);
  } else {
    gst_message_parse_warning(message.get(), &error, nullptr);
  }
  const gst::ErrorPtr owned(error);
  return error->message;
}

/// A frame mapped for as long as it lives.
class Map {
 public:
  Map(GstBuffer* buffer, const Stream& stream, GstMapFlags flags) : desc_(stream.desc) {
    if (gst_video_frame_map(&frame_, &stream.info, buffer, flags) == FALSE) {
      throw std::runtime_error("a buffer cannot be mapped");
    }
  }
  ~Map() { gst_video_frame_unmap(&frame_); }
  Map(const Map&) = delete;
  Map& operator=(const Map&) = delete;
  [[nodiscard]] ImageView view() const { return gst::writable_view_of(frame_, desc_); }

 private:
  GstVideoFrame frame_{};
  ImageDesc desc_;
};

/// A buffer whose planes begin off any boundary and whose rows are followed by other bytes.
gst::BufferPtr padded_buffer(const Stream& stream) {
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  gsize size = 5;
  const int planes = traits(stream.desc.format).planes;
  for (int p = 0; p < planes; ++p) {
    offset[p] = size;
    stride[p] = static_cast<gint>(row_bytes(stream.desc, p)) + 13 + p;
    size += static_cast<gsize>(stride[p] * plane_rows(stream.desc, p)) + 3;
  }
  gst::BufferPtr buffer(gst_buffer_new_allocate(nullptr, size, nullptr));
  gst_buffer_memset(buffer.get(), 0, 0xA5, size);
  gst_buffer_add_video_meta_full(
      buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&stream.info),
      static_cast<guint>(stream.desc.width), static_cast<guint>(stream.desc.height),
      static_cast<guint>(planes), offset, stride);
  return buffer;
}

}  // namespace

std::string plugin_folder() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  return (program.parent_path().parent_path() / "lib" / "gstreamer-1.0").string();
}

void load_plugin() {
  gst::start_up();
  static const bool loaded = [] {
    const char* chosen = std::getenv("EQUALUX_GST_PLUGIN");
    const std::string path = chosen != nullptr ? chosen : plugin_folder() + "/libgstequalux.so";
    GError* error = nullptr;
    GstPlugin* plugin = gst_plugin_load_file(path.c_str(), &error);
    if (plugin == nullptr) throw std::runtime_error(error->message);
    gst_object_unref(plugin);
    return true;
  }();
  static_cast<void>(loaded);
}

Stream stream_of(PixelFormat format, int width, int height, const std::string& more_caps) {
  gst::start_up();
  Stream stream{};
  const std::string text = std::string("video/x-raw,format=") +
                           gst_video_format_to_string(gst::to_gst(format)) +
                           ",width=" + std::to_string(width) + ",height=" + std::to_string(height) +
                           ",framerate=25/1" + (more_caps.empty() ? "" : "," + more_caps);
  stream.caps.reset(gst_caps_from_string(text.c_str()));
  gst_video_info_from_caps(&stream.info, stream.caps.get());
  StreamInfo info;
  gst::read_video_info(stream.info, info);
  stream.desc = info.desc;
  return stream;
}

gst::BufferPtr picture(const Stream& stream, std::uint32_t seed, Layout layout, Content content) {
  gst::BufferPtr buffer = layout == Layout::padded
                              ? padded_buffer(stream)
                              : gst::BufferPtr(gst_buffer_new_allocate(
                                    nullptr, GST_VIDEO_INFO_SIZE(&stream.info), nullptr));
  {
    const Map map(buffer.get(), stream, GST_MAP_READWRITE);
    fill(map.view(), content, seed);
  }
  GST_BUFFER_PTS(buffer.get()) = GstClockTime{seed} * 40 * GST_MSECOND;
  GST_BUFFER_DURATION(buffer.get()) = 40 * GST_MSECOND;
  return buffer;
}

std::vector<std::uint8_t> samples_of(GstBuffer* buffer, const Stream& stream) {
  const Map map(buffer, stream, GST_MAP_READ);
  return tight_copy(map.view());
}

std::vector<std::uint8_t> filtered(GstBuffer* buffer, const Stream& stream,
                                   const EqualizeParams& params, FieldOrder field_order) {
  const auto filter = make_cpu_filter(params, {1});
  return filtered(buffer, stream, *filter, field_order);
}

std::vector<std::uint8_t> filtered(GstBuffer* buffer, const Stream& stream, Filter& filter,
                                   FieldOrder field_order) {
  const Map map(buffer, stream, GST_MAP_READ);
  Image result(filter.configure(stream.desc));
  FrameContext context;
  context.field_order = field_order;
  filter.submit(map.view(), result.view(), context);
  return tight_copy(result.view());
}

Harness::Harness(const std::string& launch) {
  load_plugin();
  harness_ = gst_harness_new_parse(launch.c_str());
  if (harness_ == nullptr) throw std::runtime_error("no harness for " + launch);
  bus_.reset(gst_bus_new());
  gst_element_set_bus(harness_->element, bus_.get());
}

void Harness::set_caps(const Stream& stream) {
  gst_harness_set_src_caps(harness_, gst_caps_ref(stream.caps.get()));
}

GstElement* Harness::equalux() const {
  for (const char* name : {"equalux", "equaluxclahe", "equaluxdenoise", "equaluxconvolve",
                           "equaluxvessel", "equaluxshapes"}) {
    // The harness holds it, too.
    GstElement* const found = gst_harness_find_element(harness_, name);
    const gst::ElementPtr reference(found);
    if (found != nullptr) return found;
  }
  return nullptr;
}

std::string Harness::device_used() const {
  gchar* text = nullptr;
  g_object_get(equalux(), "device-used", &text, nullptr);
  const gst::StringPtr owned(text);
  return text == nullptr ? "" : text;
}

std::string Harness::message(GstMessageType type) {
  return first_text(bus_.get(), type);
}

PipelineEnd run_pipeline(const std::string& launch,
                         const std::function<void(GstElement*)>& meanwhile, int limit_s) {
  load_plugin();
  PipelineEnd end;
  GError* error = nullptr;
  GstElement* parsed = gst_parse_launch(launch.c_str(), &error);
  if (error != nullptr) {
    end.error = error->message;
    g_error_free(error);
  }
  if (parsed == nullptr) return end;
  gst_object_ref_sink(parsed);
  gst::Pipeline pipeline{gst::ElementPtr(parsed)};
  const gst::BusPtr bus(gst_element_get_bus(parsed));
  gst_element_set_state(parsed, GST_STATE_PLAYING);
  if (meanwhile) meanwhile(parsed);
  const gst::MessagePtr last(
      gst_bus_timed_pop_filtered(bus.get(), static_cast<GstClockTime>(limit_s) * GST_SECOND,
                                 static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  if (!last) {
    end.error = "no end within " + std::to_string(limit_s) + " s";
  } else if (GST_MESSAGE_TYPE(last.get()) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(last.get(), &error, nullptr);
    end.error = error->message;
    g_error_free(error);
  } else {
    end.eos = true;
  }
  return end;
}

}  // namespace equalux::test

#include "pipelines/plugin/filter_properties.h"

#include <array>
#include <string>

#include "pipelines/plugin/filter_element.h"
#include "pipelines/plugin/timings_structure.h"

namespace equalux::gst {

namespace {

enum FilterProperty : guint {
  kBackend = 1,
  kDevice,
  kThreads,
  kQueueDepth,
  kEnabled,
  kSplit,
  kRegions,
  kMessageTimings,
  kDeviceUsed,
  kLastTimings,
};

constexpr int kMostThreads = 1024;
constexpr guint kMostQueueDepth = 16;

GType backend_type() {
  static constexpr std::array kDescriptions{"The GPU where one answers, else the CPU", "The CPU",
                                            "An NVIDIA GPU; an error where none answers"};
  static const GType type =
      register_enum("GstEqualuxBackend", enum_names<Backend>(), kDescriptions);
  return type;
}

void install_backend_properties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kBackend,
      g_param_spec_enum("backend", "Backend",
                        "Where frames are filtered; cpu keeps CUDA memory out of the caps",
                        backend_type(), static_cast<int>(Backend::automatic), kReady));
  g_object_class_install_property(
      klass, kDevice,
      g_param_spec_int(
          "cuda-device-id", "CUDA device",
          "Number of the GPU (-1 = that of the buffers or neighbours, else the one with "
          "most free memory)",
          -1, G_MAXINT, -1, kReady));
  g_object_class_install_property(
      klass, kThreads,
      g_param_spec_int("threads", "Threads", "Threads of the CPU backend (0 = all cores)", 0,
                       kMostThreads, 0, kReady));
  g_object_class_install_property(
      klass, kQueueDepth,
      g_param_spec_uint("queue-depth", "Queue depth",
                        "Frames held back while later ones are uploaded and filtered (0 = none); "
                        "each adds the time of a frame to the latency",
                        0, kMostQueueDepth, 0, kReady));
}

void install_picture_properties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kEnabled,
      g_param_spec_boolean("enabled", "Enabled", "Filter; otherwise frames go through untouched",
                           TRUE, kLive));
  g_object_class_install_property(
      klass, kSplit,
      g_param_spec_double("split", "Split",
                          "Share of the width, from the left, that stays as it was", 0, 1, 0,
                          kLive));
  g_object_class_install_property(
      klass, kRegions,
      g_param_spec_boolean(
          "regions", "Regions",
          "Filter only what region-of-interest metas enclose, each as a picture of its own", FALSE,
          kLive));
}

void install_report_properties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kMessageTimings,
      g_param_spec_boolean("message-timings", "Message timings",
                           "Post an element message equalux-timings for each frame", FALSE,
                           kLiveText));
  g_object_class_install_property(
      klass, kDeviceUsed,
      g_param_spec_string("device-used", "Device used", "Backend and device that filter the stream",
                          nullptr, kReadOnly));
  g_object_class_install_property(klass, kLastTimings,
                                  g_param_spec_boxed("last-timings", "Last timings",
                                                     "What the last frame cost, in milliseconds",
                                                     GST_TYPE_STRUCTURE, kReadOnly));
}

void set_own_property(GstEqualuxFilter* self, guint id, const GValue* value, GParamSpec* spec) {
  switch (self->own->set(id, value)) {
    case PropertyResult::unknown:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(self, id, spec);
      break;
    case PropertyResult::unchanged:  // A control source sets the same value for every frame.
      break;
    case PropertyResult::changed:
      ++self->changes->recipe;
      break;
  }
}

void set_filter_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  auto* self = GST_EQUALUX_FILTER(object);
  const ObjectLock lock(self);
  FilterSettings& settings = *self->settings;
  switch (id) {
    case kBackend:
      settings.backend = static_cast<Backend>(g_value_get_enum(value));
      break;
    case kDevice:
      settings.device = g_value_get_int(value);
      break;
    case kThreads:
      settings.threads = g_value_get_int(value);
      break;
    case kQueueDepth:
      settings.queue_depth = g_value_get_uint(value);
      break;
    case kEnabled:
      settings.enabled = g_value_get_boolean(value) != FALSE;
      break;
    case kSplit:
      settings.split = g_value_get_double(value);
      break;
    case kRegions:
      settings.regions = g_value_get_boolean(value) != FALSE;
      break;
    case kMessageTimings:
      settings.message_timings = g_value_get_boolean(value) != FALSE;
      break;
    default:
      set_own_property(self, id, value, spec);
      return;
  }
  ++self->changes->settings;
}

void get_filter_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  auto* self = GST_EQUALUX_FILTER(object);
  const ObjectLock lock(self);
  const FilterSettings& settings = *self->settings;
  const FilterReport& report = *self->report;
  switch (id) {
    case kBackend:
      g_value_set_enum(value, static_cast<int>(settings.backend));
      break;
    case kDevice:
      g_value_set_int(value, settings.device);
      break;
    case kThreads:
      g_value_set_int(value, settings.threads);
      break;
    case kQueueDepth:
      g_value_set_uint(value, settings.queue_depth);
      break;
    case kEnabled:
      g_value_set_boolean(value, settings.enabled ? TRUE : FALSE);
      break;
    case kSplit:
      g_value_set_double(value, settings.split);
      break;
    case kRegions:
      g_value_set_boolean(value, settings.regions ? TRUE : FALSE);
      break;
    case kMessageTimings:
      g_value_set_boolean(value, settings.message_timings ? TRUE : FALSE);
      break;
    case kDeviceUsed:
      g_value_set_string(value, report.device_used.empty() ? nullptr : report.device_used.c_str());
      break;
    case kLastTimings:
      if (report.last.filtered) g_value_take_boxed(value, timings_structure(report.last).release());
      break;
    default:
      if (!self->own->get(id, value)) G_OBJECT_WARN_INVALID_PROPERTY_ID(self, id, spec);
  }
}

}  // namespace

GType register_enum(const char* type_name, const std::vector<std::string_view>& nicks,
                    std::span<const char* const> descriptions, bool automatic) {
  // GObject keeps the table for the life of the program.
  auto* values = g_new0(GEnumValue, nicks.size() + (automatic ? 2 : 1));
  std::size_t n = 0;
  if (automatic) values[n++] = {0, "What fits best", "auto"};
  for (std::size_t i = 0; i < nicks.size(); ++i, ++n) {
    values[n].value = static_cast<gint>(n);
    values[n].value_name = descriptions[i];
    values[n].value_nick = g_intern_string(std::string(nicks[i]).c_str());
  }
  return g_enum_register_static(type_name, values);
}

std::string text_from(const GValue* value, const char* otherwise) {
  const char* text = g_value_get_string(value);
  return text == nullptr ? otherwise : text;
}

void set_text(GValue* value, const std::string& text) {
  g_value_set_string(value, text.empty() ? nullptr : text.c_str());
}

void take_properties(GObjectClass* klass) {
  klass->set_property = set_filter_property;
  klass->get_property = get_filter_property;
}

void install_filter_properties(GObjectClass* klass) {
  take_properties(klass);
  install_backend_properties(klass);
  install_picture_properties(klass);
  install_report_properties(klass);
}

}  // namespace equalux::gst

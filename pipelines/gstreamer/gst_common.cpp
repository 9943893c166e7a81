#include "pipelines/gstreamer/gst_common.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include <gst/pbutils/pbutils.h>

#include "src/common/log.h"

namespace equalux::gst {

namespace {

using namespace std::chrono_literals;

std::string one_line(std::string_view text) {
  std::string line(text.substr(0, text.find('\n')));
  while (!line.empty() && (line.back() == '.' || line.back() == ' '))
    line.pop_back();
  return line;
}

void log_gstreamer(GstDebugCategory* category, GstDebugLevel level, const gchar*, const gchar*,
                   gint, GObject* object, GstDebugMessage* message, gpointer) {
  if (level > gst_debug_category_get_threshold(category)) return;
  const bool named =
      object != nullptr && GST_IS_OBJECT(object) && GST_OBJECT_NAME(object) != nullptr;
  logger().debug("gstreamer {} {}: {}", gst_debug_category_get_name(category),
                 named ? GST_OBJECT_NAME(object) : "", one_line(gst_debug_message_get(message)));
}

void log_glib(const gchar* domain, GLogLevelFlags, const gchar* message, gpointer) {
  logger().debug("{}: {}", domain == nullptr ? "glib" : domain, message == nullptr ? "" : message);
}

void route_messages() {
  // Keeps GStreamer's own output for users who set GST_DEBUG.
  if (g_getenv("GST_DEBUG") != nullptr) return;
  gst_debug_remove_log_function(nullptr);
  // Parentheses select the function: the macro of this name compares it with a pointer to void.
  (gst_debug_add_log_function)(log_gstreamer, nullptr, nullptr);
  gst_debug_set_default_threshold(logger().writes(LogLevel::debug) ? GST_LEVEL_WARNING
                                                                   : GST_LEVEL_NONE);
  g_log_set_default_handler(log_glib, nullptr);
}

ExitCode resource_code(int code, Role role) {
  switch (code) {
    case GST_RESOURCE_ERROR_NOT_FOUND:
      return role == Role::input ? ExitCode::no_input : ExitCode::cannot_create;
    case GST_RESOURCE_ERROR_OPEN_READ:
    case GST_RESOURCE_ERROR_OPEN_READ_WRITE:
    case GST_RESOURCE_ERROR_OPEN_WRITE:
    case GST_RESOURCE_ERROR_NOT_AUTHORIZED:
      return role == Role::input ? ExitCode::no_input : ExitCode::cannot_create;
    case GST_RESOURCE_ERROR_NO_SPACE_LEFT:
    case GST_RESOURCE_ERROR_WRITE:
      return ExitCode::write_failed;
    case GST_RESOURCE_ERROR_READ:
    case GST_RESOURCE_ERROR_SEEK:
      return role == Role::input ? ExitCode::bad_input : ExitCode::write_failed;
    default:
      return ExitCode::unavailable;
  }
}

ExitCode code_of(const GError& error, Role role) {
  if (error.domain == GST_RESOURCE_ERROR) return resource_code(error.code, role);
  if (error.domain == GST_CORE_ERROR && error.code == GST_CORE_ERROR_MISSING_PLUGIN) {
    return ExitCode::unavailable;
  }
  if (error.domain == GST_STREAM_ERROR && error.code == GST_STREAM_ERROR_CODEC_NOT_FOUND) {
    return ExitCode::unavailable;
  }
  if (error.domain == GST_LIBRARY_ERROR) return ExitCode::unavailable;
  return role == Role::input ? ExitCode::bad_input : ExitCode::write_failed;
}

/// Returns the media type for which a missing-plugin message asks a decoder; empty where it asks
/// for something else.
std::string type_to_decode(GstMessage* message) {
  const GstStructure* structure = gst_message_get_structure(message);
  const gchar* kind = gst_structure_get_string(structure, "type");
  const GValue* caps = gst_structure_get_value(structure, "detail");
  if (g_strcmp0(kind, "decoder") != 0 || caps == nullptr || !GST_VALUE_HOLDS_CAPS(caps)) return "";
  const GstCaps* wanted = gst_value_get_caps(caps);
  if (wanted == nullptr || gst_caps_get_size(wanted) == 0) return "";
  return gst_structure_get_name(gst_caps_get_structure(wanted, 0));
}

/// Returns true for what GStreamer recognises but no plugin makes a video of: web pages first of
/// all.
bool is_document(std::string_view type) {
  static constexpr auto kDocuments = std::to_array<std::string_view>(
      {"text/html", "text/plain", "text/uri-list", "application/xml", "application/xhtml+xml",
       "image/svg+xml", "application/pdf", "application/postscript", "application/msword",
       "application/zip", "application/x-gzip", "application/x-bzip", "application/x-compress",
       "application/x-tar", "application/x-rar", "application/x-executable"});
  return std::find(kDocuments.begin(), kDocuments.end(), type) != kDocuments.end();
}

}  // namespace

void start_up() {
  static const ErrorPtr failure = [] {
    GError* error = nullptr;
    if (gst_init_check(nullptr, nullptr, &error) == FALSE && error == nullptr) {
      error = g_error_new_literal(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT, "no reason given");
    }
    if (error == nullptr) {
      route_messages();
      gst_pb_utils_init();
    }
    return ErrorPtr(error);
  }();
  if (failure) {
    throw Error(ExitCode::unavailable, "GStreamer does not start: " + one_line(failure->message));
  }
}

std::string package_of(const std::string& factory) {
  static constexpr std::pair<std::string_view, std::string_view> kPackages[] = {
      {"x264enc", "gstreamer1.0-plugins-ugly"},   {"x265enc", "gstreamer1.0-plugins-bad"},
      {"av1enc", "gstreamer1.0-plugins-bad"},     {"vp9enc", "gstreamer1.0-plugins-good"},
      {"jpegenc", "gstreamer1.0-plugins-good"},   {"v4l2", "gstreamer1.0-plugins-good"},
      {"avenc_", "gstreamer1.0-libav"},           {"avdec_", "gstreamer1.0-libav"},
      {"nv", "gstreamer1.0-plugins-bad"},         {"va", "gstreamer1.0-plugins-bad"},
      {"decodebin", "gstreamer1.0-plugins-base"}, {"videoconvert", "gstreamer1.0-plugins-base"},
      {"app", "gstreamer1.0-plugins-base"},
  };
  for (const auto& [prefix, package] : kPackages) {
    if (factory.starts_with(prefix)) return std::string(package);
  }
  return "gstreamer1.0-libav or gstreamer1.0-plugins-base, -good, -bad or -ugly";
}

bool has_element(const char* factory) {
  GstElementFactory* found = gst_element_factory_find(factory);
  if (found == nullptr) return false;
  // A registry may contain a plugin that no longer loads.
  GstPluginFeature* loaded = gst_plugin_feature_load(GST_PLUGIN_FEATURE(found));
  gst_object_unref(found);
  if (loaded == nullptr) return false;
  gst_object_unref(loaded);
  return true;
}

ElementPtr make_element(const char* factory, const char* name) {
  GstElement* element = gst_element_factory_make(factory, name);
  if (element == nullptr) {
    throw Error(ExitCode::unavailable, std::string("GStreamer has no element ") + factory +
                                           ": install " + package_of(factory));
  }
  gst_object_ref_sink(element);
  return ElementPtr(element);
}

GstElement* add_to(GstElement* bin, ElementPtr element) {
  GstElement* const added = element.get();
  gst_bin_add(GST_BIN(bin), added);  // takes a reference of its own
  return added;
}

ElementPtr parse_launch(const std::string& full, const std::string& launch,
                        const std::string& hint) {
  start_up();
  if (launch.find_first_not_of(" \t\n") == std::string::npos) {
    throw Error(ExitCode::usage, "gst: holds no launch string; " + hint);
  }
  GError* raw = nullptr;
  GstElement* parsed =
      gst_parse_launch_full(full.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &raw);
  const ErrorPtr error(raw);
  ElementPtr pipeline;
  if (parsed != nullptr) {
    gst_object_ref_sink(parsed);
    pipeline.reset(parsed);
  }
  if (error || !pipeline) {
    std::string text = error ? error->message : "cannot be parsed";
    std::replace(text.begin(), text.end(), '\n', ' ');
    throw Error(ExitCode::usage, "gst:" + launch + ": " + text + "; " + hint);
  }
  return pipeline;
}

GstElement* element_of(GstElement* pipeline, const char* name) {
  GstElement* element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  gst_object_unref(element);  // the pipeline keeps it
  return element;
}

Messages::Messages(GstElement* pipeline) : bus_(gst_element_get_bus(pipeline)) {}

void Messages::poll(std::chrono::milliseconds wait) {
  constexpr auto kWanted = static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING |
                                                       GST_MESSAGE_EOS | GST_MESSAGE_ELEMENT);
  auto left = static_cast<GstClockTime>(std::chrono::nanoseconds(wait).count());
  while (!failed() && !ended_) {
    const MessagePtr message(gst_bus_timed_pop_filtered(bus_.get(), left, kWanted));
    if (!message) return;
    take(message.get());
    left = 0;
  }
}

void Messages::take(GstMessage* message) {
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) {
    ended_ = true;
    return;
  }
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT) {
    if (gst_is_missing_plugin_message(message) == FALSE) return;
    const StringPtr text(gst_missing_plugin_message_get_description(message));
    missing_ = text.get();
    missing_type_ = type_to_decode(message);
    return;
  }
  const bool is_error = GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
  GError* error = nullptr;
  gchar* details = nullptr;
  if (is_error) {
    gst_message_parse_error(message, &error, &details);
  } else {
    gst_message_parse_warning(message, &error, &details);
    ++warnings_;
    warned_of_resource_ |= error->domain == GST_RESOURCE_ERROR;
  }
  const ErrorPtr owned(error);
  const StringPtr owned_details(details);
  logger().debug("gstreamer {}: {} ({})", GST_MESSAGE_SRC_NAME(message), error->message,
                 details == nullptr ? "" : details);
  if (is_error && !error_) error_.reset(gst_message_ref(message));
}

std::string Messages::failed_element() const {
  return error_ ? GST_MESSAGE_SRC_NAME(error_.get()) : "";
}

std::string Messages::reason() const {
  if (!error_) return "";
  GError* error = nullptr;
  gst_message_parse_error(error_.get(), &error, nullptr);
  const ErrorPtr owned(error);
  return one_line(error->message);
}

Error Messages::error(const std::string& name, Role role) const {
  if (!error_) return {ExitCode::unavailable, name + ": the pipeline stopped without a reason"};
  GError* error = nullptr;
  gst_message_parse_error(error_.get(), &error, nullptr);
  const ErrorPtr owned(error);
  ExitCode code = code_of(*error, role);
  if (!missing_.empty() && (code == ExitCode::unavailable || code == ExitCode::bad_input)) {
    if (role == Role::input && is_document(missing_type_)) {
      return {ExitCode::bad_input, name + ": is no video (" + missing_type_ +
                                       "); give the address of a video or stream"};
    }
    return {ExitCode::unavailable,
            name + ": GStreamer has no " + missing_ + ": install " + package_of("")};
  }
  const char* element = GST_MESSAGE_SRC_NAME(error_.get());
  return {code, name + ": " + one_line(error->message) + " (" + element + ")"};
}

bool Patience::is_over(std::chrono::milliseconds usual, std::chrono::milliseconds when_cancelled) {
  const auto now = std::chrono::steady_clock::now();
  if (now - since_ > usual) return true;
  if (!cancelled_) return false;
  if (!seen_cancelled_) seen_cancelled_ = now;
  return now - std::max(since_, *seen_cancelled_) > when_cancelled;
}

Pipeline::Pipeline() : pipeline_(gst_pipeline_new(nullptr)) {
  gst_object_ref_sink(pipeline_.get());
}

Pipeline::Pipeline(ElementPtr pipeline) : pipeline_(std::move(pipeline)) {}

void Pipeline::stop(std::chrono::milliseconds limit) noexcept {
  if (!pipeline_) return;
  // Stops a pipeline in a thread of its own, because an element may wait for a device or a peer in
  // its state change, which cannot be interrupted.
  struct Stopping {
    std::mutex mutex;
    std::condition_variable done;
    bool finished = false;
  };
  try {
    auto stopping = std::make_shared<Stopping>();
    std::thread([stopping, element = pipeline_.release()] {
      gst_element_set_state(element, GST_STATE_NULL);
      gst_object_unref(element);
      const std::lock_guard lock(stopping->mutex);
      stopping->finished = true;
      stopping->done.notify_all();
    }).detach();
    std::unique_lock lock(stopping->mutex);
    if (!stopping->done.wait_for(lock, limit, [&] { return stopping->finished; })) {
      logger().warn("a GStreamer element does not stop; it is left behind");
    }
  } catch (const std::exception& error) {
    logger().warn("a GStreamer pipeline is left behind: {}", error.what());
  }
}

}  // namespace equalux::gst

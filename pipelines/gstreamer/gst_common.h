#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <equalux/error.h>
#include <gst/gst.h>

/// Common parts of every use of GStreamer: start-up, handles, messages turned into errors.
namespace equalux::gst {

/// Initialises GStreamer once, and sends its messages to our log at debug level. Thread-safe.
/// Throws Error(unavailable).
void start_up();

struct UnrefObject {
  void operator()(gpointer object) const noexcept { gst_object_unref(object); }
};
struct UnrefMini {
  template <typename T>
  void operator()(T* object) const noexcept {
    gst_mini_object_unref(GST_MINI_OBJECT_CAST(object));
  }
};
struct FreeG {
  void operator()(gpointer memory) const noexcept { g_free(memory); }
};
struct FreeError {
  void operator()(GError* error) const noexcept { g_error_free(error); }
};
using ElementPtr = std::unique_ptr<GstElement, UnrefObject>;
using PadPtr = std::unique_ptr<GstPad, UnrefObject>;
using BusPtr = std::unique_ptr<GstBus, UnrefObject>;
using BufferPoolPtr = std::unique_ptr<GstBufferPool, UnrefObject>;
using CapsPtr = std::unique_ptr<GstCaps, UnrefMini>;
using BufferPtr = std::unique_ptr<GstBuffer, UnrefMini>;
using SamplePtr = std::unique_ptr<GstSample, UnrefMini>;
using MessagePtr = std::unique_ptr<GstMessage, UnrefMini>;
using StringPtr = std::unique_ptr<gchar, FreeG>;
using ErrorPtr = std::unique_ptr<GError, FreeError>;

/// Makes an element, owned by the caller. Throws Error(unavailable) that names the plugin's
/// package.
[[nodiscard]] ElementPtr make_element(const char* factory, const char* name = nullptr);
/// Returns true where the registry has that element.
[[nodiscard]] bool has_element(const char* factory);
/// Returns "gstreamer1.0-plugins-ugly" for "x264enc"; a list of all plugin packages where the
/// element is unknown.
[[nodiscard]] std::string package_of(const std::string& factory);
/// Puts an element into a bin, which owns it from now on.
GstElement* add_to(GstElement* bin, ElementPtr element);

/// Parses the pipeline `full`, which is `launch` with an element of ours in front or behind. Throws
/// Error(usage) with GStreamer's message, naming `launch` and adding `hint`.
[[nodiscard]] ElementPtr parse_launch(const std::string& full, const std::string& launch,
                                      const std::string& hint);
/// How buffers of a kind of memory are mapped.
struct MapMode {
  unsigned flags = 0;  ///< GST_MAP flags beside those for reading and writing
  /// Waits for what others still do on the device with a buffer that is mapped; null = nothing to
  /// wait for.
  void (*settle)(GstBuffer* buffer) = nullptr;
};

/// Returns an element of a parsed pipeline; borrowed from it.
[[nodiscard]] GstElement* element_of(GstElement* pipeline, const char* name);

/// Connects a handler to a signal; its data is a copy of `data` that lives as long as the
/// connection.
template <typename Data>
void connect(gpointer object, const char* signal, GCallback handler, const Data& data) {
  g_signal_connect_data(
      object, signal, handler, new Data(data),
      [](gpointer copy, GClosure*) { delete static_cast<Data*>(copy); }, GConnectFlags{});
}

/// End of the program that a pipeline serves; decides what a missing resource means.
enum class Role { input, output };

/// Messages from a pipeline's bus. Not thread-safe.
class Messages {
 public:
  explicit Messages(GstElement* pipeline);

  /// Takes the messages that have come; waits up to `wait` for an error or the end.
  void poll(std::chrono::milliseconds wait = std::chrono::milliseconds(0));
  [[nodiscard]] bool failed() const { return error_ != nullptr; }
  /// Name of the element that failed; empty where none has.
  [[nodiscard]] std::string failed_element() const;
  /// Error of the element that failed, one line; empty where none has failed.
  [[nodiscard]] std::string reason() const;
  [[nodiscard]] bool ended() const { return ended_; }
  /// Number of decoder warnings that did not stop the stream.
  [[nodiscard]] unsigned warnings() const { return warnings_; }
  /// Returns true where one of them was about a device, a file or a connection.
  [[nodiscard]] bool warned_of_resource() const { return warned_of_resource_; }
  /// Returns the first error as one line that starts with `name`.
  [[nodiscard]] Error error(const std::string& name, Role role) const;

 private:
  void take(GstMessage* message);

  BusPtr bus_;
  MessagePtr error_;
  std::string missing_;       // named by a missing-plugin message
  std::string missing_type_;  // media type that it asks a decoder for
  bool ended_ = false;
  unsigned warnings_ = 0;
  bool warned_of_resource_ = false;
};

/// Decides how long a wait for an inactive element lasts: the usual time, but only a few seconds
/// once the run is being stopped.
class Patience {
 public:
  /// Shortens the waits. Any thread may call it.
  void cancel() noexcept { cancelled_ = true; }
  [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_; }

  /// Notes progress. To be called by the waiting thread, as is_over().
  void renew() { since_ = std::chrono::steady_clock::now(); }
  /// Returns true where nothing has happened since renew() for `usual`, or for `when_cancelled`
  /// since cancel().
  [[nodiscard]] bool is_over(std::chrono::milliseconds usual,
                             std::chrono::milliseconds when_cancelled);

 private:
  std::atomic<bool> cancelled_{false};
  std::optional<std::chrono::steady_clock::time_point> seen_cancelled_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

/// A pipeline that the destructor stops. Stopping is bounded in time: an element that does not stop
/// within five seconds is abandoned, and the log says so.
class Pipeline {
 public:
  Pipeline();
  explicit Pipeline(ElementPtr pipeline);
  ~Pipeline() { stop(); }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  [[nodiscard]] GstElement* get() const { return pipeline_.get(); }
  [[nodiscard]] GstBin* bin() const { return GST_BIN_CAST(pipeline_.get()); }
  void stop(std::chrono::milliseconds limit = std::chrono::seconds(5)) noexcept;

 private:
  ElementPtr pipeline_;
};

}  // namespace equalux::gst

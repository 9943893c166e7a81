#pragma once

#include <memory>
#include <string>
#include <utility>

/// Detection of a display without highgui, which ends the process where there is none.
namespace equalux {

/// A connection of our own to the display server, which tells whether the server is still alive.
class DisplayWatch {
 public:
  explicit DisplayWatch(std::string name) : name_(std::move(name)) {}
  virtual ~DisplayWatch() = default;
  /// Returns false for good once the server is gone: highgui must not be called any more.
  [[nodiscard]] virtual bool alive() = 0;
  [[nodiscard]] const std::string& name() const { return name_; }  ///< "DISPLAY=:0"
  [[nodiscard]] int width() const { return width_; }               ///< pixels; 0 = unknown
  [[nodiscard]] int height() const { return height_; }             ///< pixels; 0 = unknown

 protected:
  int width_ = 0;
  int height_ = 0;
  bool alive_ = true;

 private:
  std::string name_;
};

/// Connects to $DISPLAY, or else to $WAYLAND_DISPLAY if highgui's toolkit can use it, and makes the
/// toolkit use the same. Throws Error(unavailable).
[[nodiscard]] std::unique_ptr<DisplayWatch> open_display();

/// Guards a call of highgui. Toolkits call exit() when the server dies within one; the process then
/// ends with one line and ExitCode::write_failed instead. One thread at a time.
class HighguiCall {
 public:
  HighguiCall();
  ~HighguiCall();
  HighguiCall(const HighguiCall&) = delete;
  HighguiCall& operator=(const HighguiCall&) = delete;
};

}  // namespace equalux

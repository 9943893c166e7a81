#pragma once

#include <string>

#include <sys/types.h>

/// An X server without a screen, for tests of windows.
namespace equalux::test {

/// A running Xvfb of 1280x800, which ends with this object. Sets nothing in the environment.
class VirtualDisplay {
 public:
  /// Starts one on a free number; started() is false where there is no Xvfb on this machine.
  VirtualDisplay();
  ~VirtualDisplay();
  VirtualDisplay(const VirtualDisplay&) = delete;
  VirtualDisplay& operator=(const VirtualDisplay&) = delete;

  [[nodiscard]] bool started() const { return !name_.empty(); }
  [[nodiscard]] const std::string& name() const { return name_; }  ///< ":5"
  /// Ends the server at once, as a crash would.
  void kill();

 private:
  pid_t server_ = -1;
  std::string name_;
};

/// Asks the window of that number on $DISPLAY to close, as a window manager does for the mouse.
/// False where this build has no Xlib to ask with.
bool ask_to_close(unsigned long window);

/// The first visible window whose title starts so; 0 where there is none, or no xdotool to ask.
unsigned long find_window(const std::string& title);

/// Runs a program found in PATH, its output thrown away; its exit status, 127 where it is missing.
int run_quietly(const std::string& command);

}  // namespace equalux::test

#pragma once

#include <string>
#include <vector>

/// GStreamer's elements that inputs and outputs need, and the packages that have them.
namespace equalux {

struct PluginListing {
  std::string element;
  std::string purpose;  ///< what does not work without it
  std::string package;  ///< Debian's name
  bool found = false;
};

/// Lists elements that files, cameras, streams and virtual cameras need; encoders are in
/// encoders.h. Throws Error(unavailable) where GStreamer does not start.
[[nodiscard]] std::vector<PluginListing> list_plugins();

}  // namespace equalux

#pragma once

#include <string>
#include <vector>

/// GStreamer's elements that inputs and outputs are made of, and which package has them.
namespace equalux {

struct PluginListing {
  std::string element;
  std::string purpose;  ///< what does not work without it
  std::string package;  ///< Debian's
  bool found = false;
};

/// Elements that files, cameras, streams and virtual cameras need; encoders are in encoders.h.
/// Throws Error(unavailable) where GStreamer does not start.
[[nodiscard]] std::vector<PluginListing> list_plugins();

}  // namespace equalux

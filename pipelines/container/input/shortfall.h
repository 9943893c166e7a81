#pragma once

#include <optional>
#include <string>

namespace equalux {

/// Describes what a file declares but does not contain: missing bytes ("holds 1.20 of 3.40 MB") or
/// an early end over all streams ("ends 3.20 s short of its declared 10.00 s"). Nothing where it is
/// complete, or where its format declares nothing: transport and program streams, live Matroska,
/// truncated ASF. Reads the outermost structure and the index, and packets only where these do not
/// settle it. Throws as probe_container.
[[nodiscard]] std::optional<std::string> container_shortfall(const std::string& path);

}  // namespace equalux

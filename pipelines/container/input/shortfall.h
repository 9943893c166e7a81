#pragma once

#include <optional>
#include <string>

namespace equalux {

/// What a file declares and does not hold: missing bytes ("holds 1.20 of 3.40 MB") or an early end
/// over all streams ("ends 3.20 s short of its declared 10.00 s"). Nothing where it is whole, or
/// where its format declares nothing: transport and program streams, live Matroska, ASF that was
/// cut. Reads the outermost structure and the index; packets only where these do not settle it.
/// Throws as probe_container.
[[nodiscard]] std::optional<std::string> container_shortfall(const std::string& path);

}  // namespace equalux

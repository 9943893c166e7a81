#pragma once

#include <string>
#include <string_view>

#include "pipelines/files/still.h"

/// The still formats that OpenCV reads and writes, described without it.
namespace equalux {

struct StillFormat {
  std::string_view extension;
  std::string_view name;
  int longest_side;  ///< that the format can store
  bool holds_deep;   ///< 16 bits per sample
  bool holds_alpha;
};

/// Returns the format of an extension in lower case, without its dot; null for any other.
[[nodiscard]] const StillFormat* still_format_of(std::string_view extension);

/// Returns a codec of these formats that only describes them; reading and writing are to be added.
[[nodiscard]] StillCodec still_codec_of_formats();

}  // namespace equalux

#pragma once

#include <string>
#include <string_view>

#include "pipelines/files/still.h"

/// The stills that OpenCV reads and writes, told without it.
namespace equalux {

struct StillFormat {
  std::string_view extension;
  std::string_view name;
  int longest_side;  ///< that the format can hold
  bool holds_deep;   ///< 16 bits a sample
  bool holds_alpha;
};

/// By an extension in lower case, without its dot; null for any other.
[[nodiscard]] const StillFormat* still_format_of(std::string_view extension);

/// A codec of these formats that tells what they hold; reading and writing is still to be added.
[[nodiscard]] StillCodec still_codec_of_formats();

}  // namespace equalux

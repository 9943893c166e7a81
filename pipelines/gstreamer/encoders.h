#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/image.h>

/// The video encoders that `--encoder` names, and what each one needs.
namespace equalux {

/// An encoder as `--list-encoders` and `equalux devices` show it.
struct EncoderListing {
  std::string name;         ///< what `--encoder` takes
  std::string description;  ///< one line, with the meaning and the default of `--quality`
  bool available = false;
  std::string reason;  ///< why it is not available: the missing plugin or device; else empty
};

/// Every encoder we know, the default first.
[[nodiscard]] std::vector<EncoderListing> list_encoders();

/// The default of `--encoder`.
inline constexpr std::string_view kDefaultEncoder = "x264";

/// Throws Error(usage) for a name that is not ours, a quality outside its range or `lossless` where
/// it has no such mode. Asks GStreamer nothing.
void check_encoder_options(const std::string& name, std::optional<int> quality, bool lossless);
/// The same, and Error(unavailable) where the encoder cannot run here.
void check_encoder(const std::string& name, std::optional<int> quality, bool lossless);

}  // namespace equalux

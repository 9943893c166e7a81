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
/// The default for a file of that name: VP9 for webm, which has no place for H.264.
[[nodiscard]] std::string_view default_encoder(const std::string& path);
/// True for a name that ends in .webm, whatever its case.
[[nodiscard]] bool is_webm(const std::string& path);
/// True for a name that ends in .mkv or .webm, whatever its case.
[[nodiscard]] bool is_matroska(const std::string& path);

/// Throws Error(usage) for a name that is not ours, a quality outside its range or `lossless` where
/// it has no such mode. Asks GStreamer nothing.
void check_encoder_options(const std::string& name, std::optional<int> quality, bool lossless);
/// Throws Error(usage) for an encoder whose video a file of that name cannot hold, or which a
/// stream of that address does not have, and for names that are not ours; of files only webm is
/// asked here, the others know when they are opened.
void check_encoder_fits(const std::string& name, const std::string& path);
/// Throws as check_encoder_options(), and Error(unavailable) where the encoder cannot run here.
void check_encoder(const std::string& name, std::optional<int> quality, bool lossless);

}  // namespace equalux

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
  std::string name;         ///< the value for `--encoder`
  std::string description;  ///< one line, with meaning and default of `--quality`
  bool available = false;
  std::string reason;  ///< why it is not available: the missing plugin or device; else empty
};

/// Returns every known encoder, the default first.
[[nodiscard]] std::vector<EncoderListing> list_encoders();

/// Default of `--encoder`.
inline constexpr std::string_view kDefaultEncoder = "x264";
/// Returns the default for a file of that name: VP9 for webm, which cannot store H.264.
[[nodiscard]] std::string_view default_encoder(const std::string& path);
/// Returns true for a name that ends in .webm, in any case.
[[nodiscard]] bool is_webm(const std::string& path);
/// Returns true for a name that ends in .mkv or .webm, in any case.
[[nodiscard]] bool is_matroska(const std::string& path);

/// Throws Error(usage) for an unknown name, a quality outside its range, or `lossless` where the
/// encoder has no such mode. Does not load GStreamer.
void check_encoder_options(const std::string& name, std::optional<int> quality, bool lossless);
/// Throws Error(usage) for an unknown name, and for an encoder whose video a file of that name
/// cannot store or a stream of that address does not carry.
void check_encoder_fits(const std::string& name, const std::string& path);
/// Throws as check_encoder_options(), and Error(unavailable) where the encoder cannot run here.
void check_encoder(const std::string& name, std::optional<int> quality, bool lossless);

}  // namespace equalux

#include "pipelines/files/y4m_header.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include <equalux/error.h>

#include "src/common/size_text.h"
#include "src/options/option_values.h"

namespace equalux {
namespace {

constexpr std::string_view kMagic = "YUV4MPEG2";
constexpr std::string_view kFrameMagic = "FRAME";
constexpr Rational kDefaultRate{25, 1};
// Rows up to which video without a colour tag is BT.601; above, it is BT.709.
constexpr int kStandardDefinitionRows = 576;

struct ChromaTag {
  std::string_view tag;
  PixelFormat format;
  std::string_view site;
};
constexpr std::array<ChromaTag, 15> kChromaTags{{
    {"420jpeg", PixelFormat::i420, "jpeg"},
    {"420mpeg2", PixelFormat::i420, "mpeg2"},
    {"420paldv", PixelFormat::i420, "dv"},
    {"420", PixelFormat::i420, ""},
    {"422", PixelFormat::y42b, ""},
    {"444", PixelFormat::y444, ""},
    {"mono", PixelFormat::gray8, ""},
    {"420p10", PixelFormat::i420_10le, ""},
    {"420p12", PixelFormat::i420_12le, ""},
    {"422p10", PixelFormat::i422_10le, ""},
    {"422p12", PixelFormat::i422_12le, ""},
    {"444p10", PixelFormat::y444_10le, ""},
    {"444p12", PixelFormat::y444_12le, ""},
    {"444p16", PixelFormat::y444_16le, ""},
    {"mono16", PixelFormat::gray16_le, ""},
}};

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw Error(ExitCode::bad_input, name + ": " + what);
}

/// Quotes a piece of untrusted text, shortened and printable.
std::string quoted_word(std::string_view text) {
  constexpr std::size_t kLongest = 32;
  std::string result = "'";
  for (const char c : text.substr(0, kLongest))
    result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > kLongest ? "...'" : "'");
}

int parse_side(std::string_view text, std::string_view which, const std::string& name) {
  const std::optional<std::int64_t> side = number_from<std::int64_t>(text);
  if (!side || *side < 1 || *side > kMaxSide) {
    refuse(name, "YUV4MPEG2 header with " + std::string(which) + " " + quoted_word(text) +
                     "; must be 1 to " + std::to_string(kMaxSide));
  }
  return static_cast<int>(*side);
}

/// Parses "30000:1001"; "0:0" means unknown and gives 0/1.
Rational parse_ratio(std::string_view text, std::string_view which, const std::string& name) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::optional<std::int64_t> num = number_from<std::int64_t>(text.substr(0, colon));
    const std::optional<std::int64_t> den = number_from<std::int64_t>(text.substr(colon + 1));
    if (num && den && *num >= 0 && *den >= 0 && *num <= kLargest && *den <= kLargest) {
      if (*num == 0) return {0, 1};
      if (*den > 0) return {*num, *den};
    }
  }
  refuse(name, "YUV4MPEG2 header with " + std::string(which) + " " + quoted_word(text) +
                   "; must be two whole numbers as in 30000:1001");
}

/// Returns the bits of a tag such as "420p10", "422p12", "mono16"; 8 where it names none.
int depth_of(std::string_view tag) {
  const std::size_t digits = tag.find_last_not_of("0123456789") + 1;
  if (digits == 0 || digits == tag.size()) return 8;
  const std::string_view stem = tag.substr(0, digits);
  const bool deep = stem == "mono" || stem == "420p" || stem == "422p" || stem == "444p";
  return deep ? static_cast<int>(number_from<std::int64_t>(tag.substr(digits)).value_or(8)) : 8;
}

void parse_chroma(std::string_view tag, StreamInfo& info) {
  for (const ChromaTag& known : kChromaTags) {
    if (tag != known.tag) continue;
    info.desc.format = known.format;
    info.chroma_site = known.site;
    return;
  }
  if (const int depth = depth_of(tag); depth > 8) {
    refuse(info.name, "is " + std::to_string(depth) + "-bit (C" + std::string(tag) +
                          "), which is not supported; beside 8 bits, 420 and 422 must have 10 or "
                          "12, 444 10, 12 or 16, and mono 16");
  }
  refuse(info.name,
         "YUV4MPEG2 chroma format " + quoted_word(tag) +
             " is not supported; must be 420jpeg, 420mpeg2, 420paldv, 420, 422, 444 or mono");
}

FieldOrder parse_interlacing(std::string_view text, const std::string& name) {
  if (text == "p" || text == "?" || text == "m") return FieldOrder::progressive;
  if (text == "t") return FieldOrder::top_first;
  if (text == "b") return FieldOrder::bottom_first;
  refuse(name,
         "YUV4MPEG2 header with interlacing " + quoted_word(text) + "; must be p, t, b, m or ?");
}

std::optional<ColorRange> find_range(std::string_view token) {
  if (token == "XCOLORRANGE=FULL") return ColorRange::full;
  if (token == "XCOLORRANGE=LIMITED") return ColorRange::limited;
  return std::nullopt;
}

void parse_parameter(std::string_view token, StreamInfo& info) {
  const std::string_view value = token.substr(1);
  switch (token.front()) {
    case 'W':
      info.desc.width = parse_side(value, "width", info.name);
      break;
    case 'H':
      info.desc.height = parse_side(value, "height", info.name);
      break;
    case 'F':
      info.frame_rate = parse_ratio(value, "frame rate", info.name);
      break;
    case 'A':
      info.pixel_aspect = parse_ratio(value, "pixel aspect", info.name);
      break;
    case 'I':
      info.field_order = parse_interlacing(value, info.name);
      break;
    case 'C':
      parse_chroma(value, info);
      break;
    default:
      break;  // Unknown parameters are ignored, as the format requires.
  }
}

/// Calls `use` with each word of `text`.
template <typename Use>
void for_each_word(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    if (space > 0) use(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
}

std::string_view chroma_tag(const StreamInfo& info) {
  switch (info.desc.format) {
    case PixelFormat::i420:
    case PixelFormat::nv12:
      for (const ChromaTag& known : kChromaTags) {
        if (!known.site.empty() && known.site == info.chroma_site) return known.tag;
      }
      return "420";
    case PixelFormat::y42b:
    case PixelFormat::yuy2:
    case PixelFormat::uyvy:
      return "422";
    case PixelFormat::p010_10le:
      return "420p10";
    case PixelFormat::p012_le:
      return "420p12";
    default:
      for (const ChromaTag& known : kChromaTags) {
        if (known.format == info.desc.format) return known.tag;
      }
      return {};
  }
}

std::string_view interlacing_tag(FieldOrder order) {
  switch (order) {
    case FieldOrder::top_first:
      return " It";
    case FieldOrder::bottom_first:
      return " Ib";
    default:
      return " Ip";
  }
}

std::string y4m_ratio(Rational ratio) {
  return std::to_string(ratio.num) + ":" + std::to_string(ratio.num == 0 ? 0 : ratio.den);
}

}  // namespace

StreamInfo parse_y4m_header(std::string_view line, const std::string& name) {
  if (!line.starts_with(kMagic) || (line.size() > kMagic.size() && line[kMagic.size()] != ' ')) {
    refuse(name, "is not YUV4MPEG2; it must begin with 'YUV4MPEG2 W... H...'");
  }
  StreamInfo info;
  info.name = name;
  info.desc.format = PixelFormat::i420;
  info.chroma_site = "jpeg";
  info.frame_rate = {0, 1};
  info.pixel_aspect = {0, 1};
  std::optional<ColorRange> range;
  for_each_word(line.substr(kMagic.size()), [&](std::string_view token) {
    parse_parameter(token, info);
    if (const auto found = find_range(token)) range = found;
  });
  if (info.desc.width == 0 || info.desc.height == 0) {
    refuse(name, "YUV4MPEG2 header without a size; must hold W and H");
  }
  if (std::int64_t{info.desc.width} * info.desc.height > kMaxPixels) {
    refuse(name, "YUV4MPEG2 frames of " + size_text(info.desc) + "; must be 2^31 pixels at most");
  }
  info.desc.matrix =
      info.desc.height > kStandardDefinitionRows ? ColorMatrix::bt709 : ColorMatrix::bt601;
  const bool gray = traits(info.desc.format).model == ColorModel::gray;
  info.desc.range = range.value_or(gray ? ColorRange::full : ColorRange::limited);
  if (info.frame_rate.num == 0) info.frame_rate = kDefaultRate;
  return info;
}

FieldOrder parse_y4m_frame_line(std::string_view line, FieldOrder stream_order,
                                const std::string& name) {
  if (!line.starts_with(kFrameMagic) ||
      (line.size() > kFrameMagic.size() && line[kFrameMagic.size()] != ' ')) {
    refuse(name, "YUV4MPEG2 stream is damaged: " + quoted_word(line) + " stands where FRAME must");
  }
  FieldOrder order = stream_order;
  for_each_word(line.substr(kFrameMagic.size()), [&](std::string_view token) {
    if (token.front() != 'I' || token.size() < 2) return;
    if (token[1] == 't' || token[1] == 'T') order = FieldOrder::top_first;
    if (token[1] == 'b' || token[1] == 'B') order = FieldOrder::bottom_first;
  });
  return order;
}

std::string format_y4m_header(const StreamInfo& info, const std::string& name) {
  const std::string_view tag = chroma_tag(info);
  if (tag.empty()) {
    const bool floats = traits(info.desc.format).model == ColorModel::real;
    throw Error(
        ExitCode::usage,
        name + ": YUV4MPEG2 holds YCbCr and gray video, not " +
            std::string(to_string(info.desc.format)) +
            (floats
                 ? "; write arrays (frames/%05d.npy)"
                 : "; take a video as input, or write images (frames/%05d.png) or a video file"));
  }
  std::string header(kMagic);
  header += " W" + std::to_string(info.desc.width) + " H" + std::to_string(info.desc.height);
  header += " F" + y4m_ratio(info.frame_rate);
  header += interlacing_tag(info.field_order);
  header += " A" + y4m_ratio(info.pixel_aspect);
  header += " C" + std::string(tag);
  header += info.desc.range == ColorRange::full ? " XCOLORRANGE=FULL" : " XCOLORRANGE=LIMITED";
  return header + "\n";
}

}  // namespace equalux

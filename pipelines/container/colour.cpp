#include "pipelines/container/colour.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "pipelines/container/input/file_bytes.h"

namespace equalux {
namespace {

// GStreamer's enumerations in their order; values beyond the end are treated as unknown.
constexpr std::array<AVColorRange, 3> kRanges{AVCOL_RANGE_UNSPECIFIED, AVCOL_RANGE_JPEG,
                                              AVCOL_RANGE_MPEG};
constexpr std::array<AVColorSpace, 7> kMatrices{
    AVCOL_SPC_UNSPECIFIED, AVCOL_SPC_RGB,       AVCOL_SPC_FCC,       AVCOL_SPC_BT709,
    AVCOL_SPC_SMPTE170M,   AVCOL_SPC_SMPTE240M, AVCOL_SPC_BT2020_NCL};
constexpr std::array<AVColorTransferCharacteristic, 17> kTransfers{
    AVCOL_TRC_UNSPECIFIED, AVCOL_TRC_LINEAR,    AVCOL_TRC_UNSPECIFIED, AVCOL_TRC_UNSPECIFIED,
    AVCOL_TRC_GAMMA22,     AVCOL_TRC_BT709,     AVCOL_TRC_SMPTE240M,   AVCOL_TRC_IEC61966_2_1,
    AVCOL_TRC_GAMMA28,     AVCOL_TRC_LOG,       AVCOL_TRC_LOG_SQRT,    AVCOL_TRC_BT2020_12,
    AVCOL_TRC_UNSPECIFIED, AVCOL_TRC_BT2020_10, AVCOL_TRC_SMPTE2084,   AVCOL_TRC_ARIB_STD_B67,
    AVCOL_TRC_SMPTE170M};
constexpr std::array<AVColorPrimaries, 13> kPrimaries{
    AVCOL_PRI_UNSPECIFIED, AVCOL_PRI_BT709,     AVCOL_PRI_BT470M,   AVCOL_PRI_BT470BG,
    AVCOL_PRI_SMPTE170M,   AVCOL_PRI_SMPTE240M, AVCOL_PRI_FILM,     AVCOL_PRI_BT2020,
    AVCOL_PRI_UNSPECIFIED, AVCOL_PRI_SMPTE428,  AVCOL_PRI_SMPTE431, AVCOL_PRI_SMPTE432,
    AVCOL_PRI_EBU3213};

struct NamedColorimetry {
  std::string_view name;
  const char* numbers;
};
constexpr std::array<NamedColorimetry, 8> kNamed{{
    {"bt601", "2:4:16:4"},
    {"bt709", "2:3:5:1"},
    {"smpte240m", "2:5:6:5"},
    {"sRGB", "1:1:7:1"},
    {"bt2020", "2:6:11:7"},
    {"bt2020-10", "2:6:13:7"},
    {"bt2100-pq", "2:6:14:7"},
    {"bt2100-hlg", "2:6:15:7"},
}};

template <typename Array>
typename Array::value_type at(const Array& table, unsigned index) {
  return index < table.size() ? table[index] : table[0];
}

AVColorSpace matrix_of(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::bt601:
      return AVCOL_SPC_SMPTE170M;
    case ColorMatrix::bt709:
      return AVCOL_SPC_BT709;
    case ColorMatrix::bt2020:
      return AVCOL_SPC_BT2020_NCL;
  }
  return AVCOL_SPC_UNSPECIFIED;
}

/// Returns true for the same matrix; BT.470BG and SMPTE 170M are two names of one.
bool same_matrix(AVColorSpace a, AVColorSpace b) {
  const auto plain = [](AVColorSpace m) {
    return m == AVCOL_SPC_BT470BG ? AVCOL_SPC_SMPTE170M : m;
  };
  return plain(a) == plain(b);
}

/// Reads the number that `tag` holds without treating it as an enumerator; see
/// forget_unknown_tags().
template <typename Tag>
void forget_beyond(Tag& tag, int end, Tag unspecified) {
  std::underlying_type_t<Tag> number;
  static_assert(sizeof number == sizeof tag);
  std::memcpy(&number, &tag, sizeof number);
  if (std::cmp_less(number, 0) || std::cmp_greater_equal(number, end)) tag = unspecified;
}

using Bytes = std::vector<std::uint8_t>;

/// Splits a byte stream into its NAL units, without their start codes.
std::vector<Bytes> units_of(std::span<const std::uint8_t> stream) {
  std::vector<Bytes> units;
  std::size_t begin = 0;
  const auto end_unit = [&](std::size_t end) {
    while (end > begin && stream[end - 1] == 0)
      --end;
    if (end > begin) units.emplace_back(stream.begin() + begin, stream.begin() + end);
  };
  for (std::size_t i = 0; i + 3 <= stream.size(); ++i) {
    if (stream[i] != 0 || stream[i + 1] != 0 || stream[i + 2] != 1) continue;
    end_unit(i);
    begin = i + 3;
  }
  end_unit(stream.size());
  return units;
}

/// An option of libavcodec's metadata bitstream filters for H.264 and H.265, and its value.
struct HeadSetting {
  const char* name;
  int value;
};

/// Returns the parameter sets of an H.264 or H.265 head after these settings replaced its own.
std::vector<Bytes> head_units(const AVCodecParameters& codec,
                              std::initializer_list<HeadSetting> settings) {
  const bool h264 = codec.codec_id == AV_CODEC_ID_H264;
  if ((!h264 && codec.codec_id != AV_CODEC_ID_HEVC) || codec.extradata_size == 0) return {};
  const AVBitStreamFilter* kind = av_bsf_get_by_name(h264 ? "h264_metadata" : "hevc_metadata");
  AVBSFContext* raw = nullptr;
  if (kind == nullptr || av_bsf_alloc(kind, &raw) < 0) return {};
  const BitstreamFilter filter(raw);
  for (const HeadSetting& setting : settings)
    av_opt_set_int(filter->priv_data, setting.name, setting.value, 0);
  if (avcodec_parameters_copy(filter->par_in, &codec) < 0 || av_bsf_init(filter.get()) < 0) {
    return {};
  }
  // The filter writes byte streams.
  return units_of(
      {filter->par_out->extradata, static_cast<std::size_t>(filter->par_out->extradata_size)});
}

/// Returns a unit's bits without emulation prevention bytes, which keep start codes out of it.
std::vector<bool> bits_of(const Bytes& unit) {
  std::vector<bool> bits;
  std::size_t zeros = 0;
  for (const std::uint8_t byte : unit) {
    const bool inserted = zeros >= 2 && byte == 3;
    zeros = byte == 0 ? zeros + 1 : 0;
    if (inserted) continue;
    for (unsigned mask = 0x80; mask != 0; mask >>= 1)
      bits.push_back((byte & mask) != 0);
  }
  return bits;
}

Bytes unit_of(const std::vector<bool>& bits) {
  Bytes unit;
  std::size_t zeros = 0;
  for (std::size_t at = 0; at < bits.size(); at += 8) {
    unsigned byte = 0;
    for (std::size_t i = 0; i < 8; ++i)
      byte = byte << 1 | ((at + i < bits.size() && bits[at + i]) ? 1U : 0U);
    if (zeros >= 2 && byte <= 3) {
      unit.push_back(3);
      zeros = 0;
    }
    zeros = byte == 0 ? zeros + 1 : 0;
    unit.push_back(static_cast<std::uint8_t>(byte));
  }
  return unit;
}

/// Returns `unit` without its video format, range and colours: one flag precedes all of them and is
/// cleared. Its position is found by comparison with `other`, which is the same unit with every bit
/// of the video format inverted.
Bytes without_colours(const Bytes& unit, const Bytes& other) {
  constexpr std::size_t kFormat = 3;
  constexpr std::size_t kRange = 1;
  constexpr std::size_t kColours = 24;
  std::vector<bool> bits = bits_of(unit);
  const std::vector<bool> others = bits_of(other);
  const auto format = std::mismatch(bits.begin(), bits.end(), others.begin(), others.end()).first;
  const auto has_colours = static_cast<std::size_t>(format - bits.begin()) + kFormat + kRange;
  if (format == bits.begin() || has_colours + kColours >= bits.size()) return unit;
  const std::size_t end = has_colours + 1 + (bits[has_colours] ? kColours : 0);
  *std::prev(format) = false;
  bits.erase(format, bits.begin() + static_cast<std::ptrdiff_t>(end));
  // The last bit that is set ends the unit.
  while (!bits.empty() && !bits.back())
    bits.pop_back();
  return unit_of(bits);
}

/// Returns the parameter sets of the head without colour tags.
std::vector<Bytes> untold_units(const AVCodecParameters& codec) {
  std::vector<Bytes> units = head_units(codec, {{"video_format", 0}});
  const std::vector<Bytes> others = head_units(codec, {{"video_format", 7}});
  if (units.size() != others.size()) return {};
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i] != others[i]) units[i] = without_colours(units[i], others[i]);
  }
  return units;
}

constexpr unsigned kVp9Rgb = 7;  // color_space of VP9

/// Returns VP9's number of a matrix; 0 = unknown, for those that it cannot name. Its number 1,
/// BT.601, is what libavcodec calls BT.470BG.
unsigned vp9_number_of(AVColorSpace matrix) {
  switch (matrix) {
    case AVCOL_SPC_BT470BG:
      return 1;
    case AVCOL_SPC_BT709:
      return 2;
    case AVCOL_SPC_SMPTE170M:
      return 3;
    case AVCOL_SPC_SMPTE240M:
      return 4;
    case AVCOL_SPC_BT2020_NCL:
      return 5;
    default:
      return 0;
  }
}

/// Puts a matrix into the header of a VP9 key frame; returns false where it has it already, and for
/// RGB and other packets. Section 6.2 of the VP9 bitstream specification has the header.
bool set_vp9_matrix(std::span<const std::byte> packet, unsigned matrix,
                    std::vector<std::byte>& result) {
  constexpr std::size_t kHead = 6;  // bytes that hold all bits read here
  if (packet.size() < kHead) return false;
  std::size_t at = 0;
  const auto read = [&](std::size_t bits) {
    unsigned value = 0;
    for (; bits > 0; --bits, ++at) {
      value = value << 1U | (std::to_integer<unsigned>(packet[at / 8]) >> (7 - at % 8) & 1U);
    }
    return value;
  };
  constexpr unsigned kMarker = 2;
  constexpr unsigned kSync = 0x498342;
  if (read(2) != kMarker) return false;
  const unsigned low_bit = read(1);
  const unsigned profile = low_bit + 2 * read(1);
  if (profile == 3) read(1);
  const bool shows_existing = read(1) != 0;
  const bool key = read(1) == 0;
  read(2);  // whether it is shown, and whether it tolerates errors
  if (shows_existing || !key || read(24) != kSync) return false;
  if (profile >= 2) read(1);  // 10 or 12 bits
  const std::size_t place = at;
  const unsigned now = read(3);
  if (now == matrix || now == kVp9Rgb) return false;
  result.assign(packet.begin(), packet.end());
  for (std::size_t bit = 0; bit < 3; ++bit) {
    const auto mask = std::byte{1} << (7 - (place + bit) % 8);
    std::byte& byte = result[(place + bit) / 8];
    byte = (matrix >> (2 - bit) & 1U) != 0 ? byte | mask : byte & ~mask;
  }
  return true;
}

Bytes with_length(const Bytes& unit, std::size_t size) {
  Bytes whole(size + unit.size());
  for (std::size_t i = 0; i < size; ++i) {
    whole[i] = static_cast<std::uint8_t>(unit.size() >> (8 * (size - 1 - i)));
  }
  std::copy(unit.begin(), unit.end(), whole.begin() + static_cast<std::ptrdiff_t>(size));
  return whole;
}

}  // namespace

ColourTags colour_tags_from(const std::string& colorimetry) {
  std::string numbers = colorimetry;
  for (const auto& named : kNamed) {
    if (colorimetry == named.name) numbers = named.numbers;
  }
  unsigned range = 0;
  unsigned matrix = 0;
  unsigned transfer = 0;
  unsigned primaries = 0;
  if (std::sscanf(numbers.c_str(), "%3u:%3u:%3u:%3u", &range, &matrix, &transfer, &primaries) !=
      4) {
    return {};
  }
  return {at(kRanges, range), at(kMatrices, matrix), at(kTransfers, transfer),
          at(kPrimaries, primaries)};
}

ColourTags encoded_colour(const EncodedVideoFormat& video, const AVCodecParameters* input) {
  const ColourTags told = colour_tags_from(video.colorimetry);
  ColourTags tags = told;
  if (input != nullptr) {
    if (input->color_trc != AVCOL_TRC_UNSPECIFIED) tags.transfer = input->color_trc;
    if (input->color_primaries != AVCOL_PRI_UNSPECIFIED) tags.primaries = input->color_primaries;
  }
  if (video.rgb) {
    const bool was_rgb = input != nullptr && input->color_space == AVCOL_SPC_RGB;
    tags.matrix = was_rgb ? AVCOL_SPC_RGB : AVCOL_SPC_UNSPECIFIED;
    tags.range = was_rgb ? input->color_range : AVCOL_RANGE_UNSPECIFIED;
    return tags;
  }
  if (video.says_matrix) {
    tags.matrix = matrix_of(video.matrix);
    tags.range = video.range == ColorRange::full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    if (input != nullptr && same_matrix(input->color_space, tags.matrix)) {
      tags.matrix = input->color_space;
    }
    return tags;
  }
  // The samples are still the input's, so its matrix holds, even if it is unspecified.
  if (input != nullptr && input->color_space != AVCOL_SPC_RGB) tags.matrix = input->color_space;
  if (input != nullptr && input->color_range != AVCOL_RANGE_UNSPECIFIED) {
    tags.range = input->color_range;
  }
  if (video.range == ColorRange::full) tags.range = AVCOL_RANGE_JPEG;
  return tags;
}

HeadTags::HeadTags(AVCodecParameters& codec, const std::string& encoder_colorimetry) {
  const ColourTags said = colour_tags_from(encoder_colorimetry);
  const ColourTags wanted{codec.color_range, codec.color_space, codec.color_trc,
                          codec.color_primaries};
  if (codec.codec_id == AV_CODEC_ID_VP9 && !encoder_colorimetry.empty()) {
    vp9_matrix_ = vp9_number_of(codec.color_space);
    return;
  }
  const bool untold = wanted == ColourTags{};
  if (encoder_colorimetry.empty() ||
      (!untold && said.matrix == wanted.matrix && said.transfer == wanted.transfer &&
       said.primaries == wanted.primaries)) {
    return;
  }
  const std::vector<Bytes> before = head_units(codec, {});
  const std::vector<Bytes> after =
      untold ? untold_units(codec)
             : head_units(codec, {{"colour_primaries", wanted.primaries},
                                  {"transfer_characteristics", wanted.transfer},
                                  {"matrix_coefficients", wanted.matrix}});
  if (before.size() != after.size()) return;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] != after[i]) units_.emplace_back(before[i], after[i]);
  }
  Bytes head(codec.extradata, codec.extradata + codec.extradata_size);
  for (const auto& [old, made] : units_) {
    const Bytes old_unit = with_length(old, 2);
    const Bytes new_unit = with_length(made, 2);
    const auto at = std::search(head.begin(), head.end(), old_unit.begin(), old_unit.end());
    if (at == head.end()) continue;
    const auto offset = at - head.begin();
    head.erase(at, at + static_cast<std::ptrdiff_t>(old_unit.size()));
    head.insert(head.begin() + offset, new_unit.begin(), new_unit.end());
  }
  set_extradata(codec, head);
}

bool HeadTags::rewrite(std::span<const std::byte> packet, std::vector<std::byte>& result) const {
  if (vp9_matrix_) return set_vp9_matrix(packet, *vp9_matrix_, result);
  if (units_.empty()) return false;
  const auto* data = reinterpret_cast<const std::uint8_t*>(packet.data());
  Bytes made;
  bool changed = false;
  for (std::size_t at = 0; at < packet.size();) {
    if (packet.size() - at < 4) return false;
    const std::size_t length = big_endian({data + at, 4});
    if (length > packet.size() - at - 4) return false;
    Bytes unit(data + at + 4, data + at + 4 + length);
    for (const auto& [old, fresh] : units_) {
      if (unit != old) continue;
      unit = fresh;
      changed = true;
      break;
    }
    const Bytes whole = with_length(unit, 4);
    made.insert(made.end(), whole.begin(), whole.end());
    at += 4 + length;
  }
  if (!changed) return false;
  const auto* bytes = reinterpret_cast<const std::byte*>(made.data());
  result.assign(bytes, bytes + made.size());
  return true;
}

void forget_unknown_tags(AVCodecParameters& codec) {
  forget_beyond(codec.color_range, AVCOL_RANGE_NB, AVCOL_RANGE_UNSPECIFIED);
  forget_beyond(codec.color_primaries, AVCOL_PRI_NB, AVCOL_PRI_UNSPECIFIED);
  forget_beyond(codec.color_trc, AVCOL_TRC_NB, AVCOL_TRC_UNSPECIFIED);
  forget_beyond(codec.color_space, AVCOL_SPC_NB, AVCOL_SPC_UNSPECIFIED);
  forget_beyond(codec.chroma_location, AVCHROMA_LOC_NB, AVCHROMA_LOC_UNSPECIFIED);
  forget_beyond(codec.field_order, AV_FIELD_BT + 1, AV_FIELD_UNKNOWN);
}

}  // namespace equalux

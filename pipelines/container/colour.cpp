#include "colour.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

namespace equalux {
namespace {

// GStreamer's enumerations, in its order; a value beyond the end is unknown to us.
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

/// BT.470BG and SMPTE 170M are two names of one matrix.
bool same_matrix(AVColorSpace a, AVColorSpace b) {
  const auto plain = [](AVColorSpace m) {
    return m == AVCOL_SPC_BT470BG ? AVCOL_SPC_SMPTE170M : m;
  };
  return plain(a) == plain(b);
}

/// `tag` as its bits are; see forget_unknown_tags().
template <typename Tag>
void forget_beyond(Tag& tag, int end, Tag unspecified) {
  std::underlying_type_t<Tag> number;
  static_assert(sizeof number == sizeof tag);
  std::memcpy(&number, &tag, sizeof number);
  if (std::cmp_less(number, 0) || std::cmp_greater_equal(number, end)) tag = unspecified;
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
  ColourTags tags = colour_tags_from(video.colorimetry);
  if (tags.matrix != AVCOL_SPC_RGB) {
    tags.matrix = matrix_of(video.matrix);
    tags.range = video.range == ColorRange::full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    if (input != nullptr && same_matrix(input->color_space, tags.matrix)) {
      tags.matrix = input->color_space;
    }
  }
  if (input != nullptr) {
    if (input->color_trc != AVCOL_TRC_UNSPECIFIED) tags.transfer = input->color_trc;
    if (input->color_primaries != AVCOL_PRI_UNSPECIFIED) tags.primaries = input->color_primaries;
  }
  return tags;
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

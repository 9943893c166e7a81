#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "pipelines/container/colour.h"

namespace equalux {
namespace {

struct FreeParameters {
  void operator()(AVCodecParameters* codec) const { avcodec_parameters_free(&codec); }
};
using ParametersPtr = std::unique_ptr<AVCodecParameters, FreeParameters>;

/// A tag as a demuxer leaves it that believes a broken header.
template <typename Tag>
void set_number(Tag& tag, int number) {
  static_assert(sizeof tag == sizeof number);
  std::memcpy(&tag, &number, sizeof number);
}

TEST(ContainerColour, NumbersBeyondTheEnumerationsAreForgotten) {
  for (const int number : {AVCOL_PRI_NB + 100, 33, 1 << 20, -1}) {
    const ParametersPtr codec(avcodec_parameters_alloc());
    set_number(codec->color_range, number);
    set_number(codec->color_primaries, number);
    set_number(codec->color_trc, number);
    set_number(codec->color_space, number);
    set_number(codec->chroma_location, number);
    set_number(codec->field_order, number);
    forget_unknown_tags(*codec);
    EXPECT_EQ(codec->color_range, AVCOL_RANGE_UNSPECIFIED) << number;
    EXPECT_EQ(codec->color_primaries, AVCOL_PRI_UNSPECIFIED) << number;
    EXPECT_EQ(codec->color_trc, AVCOL_TRC_UNSPECIFIED) << number;
    EXPECT_EQ(codec->color_space, AVCOL_SPC_UNSPECIFIED) << number;
    EXPECT_EQ(codec->chroma_location, AVCHROMA_LOC_UNSPECIFIED) << number;
    EXPECT_EQ(codec->field_order, AV_FIELD_UNKNOWN) << number;
  }
}

TEST(ContainerColour, KnownTagsAreKept) {
  const ParametersPtr codec(avcodec_parameters_alloc());
  codec->color_range = AVCOL_RANGE_JPEG;
  codec->color_primaries = AVCOL_PRI_EBU3213;
  codec->color_trc = AVCOL_TRC_ARIB_STD_B67;
  codec->color_space = AVCOL_SPC_ICTCP;
  codec->chroma_location = AVCHROMA_LOC_BOTTOM;
  codec->field_order = AV_FIELD_BT;
  forget_unknown_tags(*codec);
  EXPECT_EQ(codec->color_range, AVCOL_RANGE_JPEG);
  EXPECT_EQ(codec->color_primaries, AVCOL_PRI_EBU3213);
  EXPECT_EQ(codec->color_trc, AVCOL_TRC_ARIB_STD_B67);
  EXPECT_EQ(codec->color_space, AVCOL_SPC_ICTCP);
  EXPECT_EQ(codec->chroma_location, AVCHROMA_LOC_BOTTOM);
  EXPECT_EQ(codec->field_order, AV_FIELD_BT);
}

}  // namespace
}  // namespace equalux

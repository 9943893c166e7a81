#include <gtest/gtest.h>

#include "pipelines/gstreamer/gst_formats.h"
#include "src/format/layout.h"

namespace equalux::gst {
namespace {

/// R, G, B and Y, Cb, Cr are GStreamer's components in the same order.
TEST(GstFormats, SamplesLieWhereGStreamerHasThem) {
  int compared = 0;
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    const GstVideoFormat theirs = to_gst(format);
    if (theirs == GST_VIDEO_FORMAT_UNKNOWN) continue;
    SCOPED_TRACE(std::string(to_string(format)));
    const GstVideoFormatInfo* info = gst_video_format_get_info(theirs);
    const FormatTraits& t = traits(format);
    EXPECT_EQ(static_cast<guint>(t.planes), GST_VIDEO_FORMAT_INFO_N_PLANES(info));
    for (int c = 0; c < (t.model == ColorModel::gray ? 1 : 3); ++c) {
      const Component at = component_of(format, c);
      EXPECT_EQ(static_cast<guint>(at.plane), GST_VIDEO_FORMAT_INFO_PLANE(info, c));
      // GStreamer's table has Cr of P010 and its kin at byte 1, which is the middle of Cb's word.
      if (c < 2 || t.planes != 2 || t.depth == 8) {
        EXPECT_EQ(static_cast<guint>(at.offset), GST_VIDEO_FORMAT_INFO_POFFSET(info, c));
      }
      EXPECT_EQ(at.step, GST_VIDEO_FORMAT_INFO_PSTRIDE(info, c));
      EXPECT_EQ(static_cast<guint>(c > 0 ? t.chroma_shift_x : 0),
                GST_VIDEO_FORMAT_INFO_W_SUB(info, c));
      EXPECT_EQ(static_cast<guint>(c > 0 ? t.chroma_shift_y : 0),
                GST_VIDEO_FORMAT_INFO_H_SUB(info, c));
      EXPECT_EQ(static_cast<guint>(t.depth), GST_VIDEO_FORMAT_INFO_DEPTH(info, c));
      EXPECT_EQ(static_cast<guint>(t.shift), GST_VIDEO_FORMAT_INFO_SHIFT(info, c));
    }
    if (GST_VIDEO_FORMAT_INFO_HAS_ALPHA(info)) {
      EXPECT_EQ(static_cast<guint>(t.alpha_offset), GST_VIDEO_FORMAT_INFO_POFFSET(info, 3));
    }
    ++compared;
  }
  EXPECT_GE(compared, 30);
}

}  // namespace
}  // namespace equalux::gst

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/files/y4m_header.h"
#include "tests/support/pipeline_fakes.h"

namespace equalux::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Y4mHeader, WhatIsLeftOutHasDefaults) {
  EXPECT_EQ(parse_y4m_header("YUV4MPEG2 W2 H720 F0:0", "x").desc.matrix, ColorMatrix::bt709);
  EXPECT_EQ(parse_y4m_header("YUV4MPEG2 W2 H2 F0:0", "x").frame_rate, (Rational{25, 1}));
  EXPECT_EQ(parse_y4m_header("YUV4MPEG2 W2 H2", "x").chroma_site, "jpeg");
  EXPECT_EQ(parse_y4m_header("YUV4MPEG2 W2 H2 Cmono", "x").desc.range, ColorRange::full);
}

TEST(Y4mHeader, MixedFieldsAreReadFromTheFrames) {
  EXPECT_EQ(parse_y4m_frame_line("FRAME", FieldOrder::top_first, "x"), FieldOrder::top_first);
  EXPECT_EQ(parse_y4m_frame_line("FRAME Itip", FieldOrder::progressive, "x"),
            FieldOrder::top_first);
  EXPECT_EQ(parse_y4m_frame_line("FRAME Xa Ibii", FieldOrder::progressive, "x"),
            FieldOrder::bottom_first);
  EXPECT_EQ(parse_y4m_frame_line("FRAME I1pp", FieldOrder::progressive, "x"),
            FieldOrder::progressive);
}

TEST(Y4mHeader, DamagedHeadersAreBadInput) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "is not YUV4MPEG2"},
      {"RIFF....AVI LIST", "is not YUV4MPEG2"},
      {"YUV4MPEG W2 H2", "is not YUV4MPEG2"},
      {"YUV4MPEG22 W2 H2", "is not YUV4MPEG2"},
      {"YUV4MPEG2", "without a size"},
      {"YUV4MPEG2 W2", "without a size"},
      {"YUV4MPEG2 H2 F25:1", "without a size"},
      {"YUV4MPEG2 W0 H2", "width '0'; must be 1 to 65535"},
      {"YUV4MPEG2 W2 H-2", "height '-2'"},
      {"YUV4MPEG2 W2 H", "height ''"},
      {"YUV4MPEG2 W2x H2", "width '2x'"},
      {"YUV4MPEG2 W70000 H2", "width '70000'"},
      {"YUV4MPEG2 W99999999999999999999 H2", "width '9999"},
      {"YUV4MPEG2 W65535 H65535", "must be 2^31 pixels at most"},
      {"YUV4MPEG2 W2 H2 F25", "frame rate '25'"},
      {"YUV4MPEG2 W2 H2 F25:0", "frame rate '25:0'"},
      {"YUV4MPEG2 W2 H2 F-25:1", "frame rate"},
      {"YUV4MPEG2 W2 H2 F99999999999:1", "frame rate"},
      {"YUV4MPEG2 W2 H2 Aoo:1", "pixel aspect"},
      {"YUV4MPEG2 W2 H2 Ix", "interlacing 'x'"},
      {"YUV4MPEG2 W2 H2 C420p14", "is 14-bit (C420p14), which is not supported"},
      {"YUV4MPEG2 W2 H2 C422p16", "is 16-bit"},
      {"YUV4MPEG2 W2 H2 Cmono10", "is 10-bit (Cmono10)"},
      {"YUV4MPEG2 W2 H2 C411", "chroma format '411' is not supported"},
      {"YUV4MPEG2 W2 H2 C444alpha", "chroma format '444alpha'"},
      {"YUV4MPEG2 W2 H2 C\x01\xff", "chroma format '?\?'"},
  };
  for (const auto& [header, message] : cases) {
    const auto [code, text] =
        error_of([line = header] { static_cast<void>(parse_y4m_header(line, "in.y4m")); });
    EXPECT_EQ(code, ExitCode::bad_input) << header;
    EXPECT_THAT(text, HasSubstr(message));
    EXPECT_THAT(text, StartsWith("in.y4m: "));
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
}

TEST(Y4mHeader, WritesWhatItReads) {
  for (const std::string header : {"YUV4MPEG2 W3 H5 F25:1 Ip A0:0 C420jpeg XCOLORRANGE=LIMITED\n",
                                   "YUV4MPEG2 W3 H5 F30000:1001 It A1:1 C420 XCOLORRANGE=FULL\n",
                                   "YUV4MPEG2 W3 H5 F50:1 Ib A64:45 C444 XCOLORRANGE=LIMITED\n",
                                   "YUV4MPEG2 W3 H5 F50:1 Ip A1:1 C420p10 XCOLORRANGE=LIMITED\n",
                                   "YUV4MPEG2 W3 H5 F50:1 Ip A1:1 C422p12 XCOLORRANGE=FULL\n",
                                   "YUV4MPEG2 W3 H5 F50:1 Ip A1:1 C444p16 XCOLORRANGE=LIMITED\n",
                                   "YUV4MPEG2 W3 H5 F50:1 Ip A1:1 Cmono16 XCOLORRANGE=FULL\n",
                                   "YUV4MPEG2 W3 H5 F50:1 Ip A1:1 Cmono XCOLORRANGE=FULL\n"}) {
    const StreamInfo info = parse_y4m_header(header.substr(0, header.size() - 1), "x");
    EXPECT_EQ(format_y4m_header(info, "x"), header);
  }
}

}  // namespace
}  // namespace equalux::test

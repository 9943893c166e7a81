#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "pipelines/container/input/picture_data.h"
#include "pipelines/container/side_data.h"

namespace equalux {
namespace {

PacketPtr packet_of(const std::string& bytes) {
  PacketPtr packet = make_packet();
  EXPECT_EQ(av_new_packet(packet.get(), static_cast<int>(bytes.size())), 0);
  std::memcpy(packet->data, bytes.data(), bytes.size());
  return packet;
}

std::string found_in(const std::string& bytes) {
  PictureData data;
  data.note(*packet_of(bytes));
  return data.text();
}

TEST(PictureData, KnowsMessagesByTheirFirstBytes) {
  const std::string before(100, 'x');
  EXPECT_EQ(found_in(before), "");
  EXPECT_EQ(found_in(before + std::string("\xB5\x00\x31GA94\x03", 8)), "closed captions");
  EXPECT_EQ(found_in(std::string("\x00\x00\x01\xB2GA94\x03", 9) + before), "closed captions");
  EXPECT_EQ(found_in(std::string("\x00\x00\x01\xB2"
                                 "DTG1",
                                 8)),
            "active format description");
  EXPECT_EQ(found_in(std::string("\xB5\x00\x3C\x00\x01\x04\x01", 7)), "HDR10+ metadata");
  // Other messages of that provider, and a beginning that is cut off.
  EXPECT_EQ(found_in(std::string("\xB5\x00\x31GA94\x06", 8)), "");
  EXPECT_EQ(found_in(std::string("\xB5\x00\x31GA94", 7)), "");
}

TEST(PictureData, RemembersEveryKind) {
  PictureData data;
  data.note(*packet_of(std::string("\xB5\x00\x3C\x00\x01\x04\x01", 7)));
  data.note(*packet_of("nothing"));
  const PacketPtr with_captions = packet_of("x");
  ASSERT_NE(av_packet_new_side_data(with_captions.get(), AV_PKT_DATA_A53_CC, 3), nullptr);
  data.note(*with_captions);
  EXPECT_EQ(data.text(), "closed captions, HDR10+ metadata");
}

TEST(PictureData, DolbyVisionIsInTheDescription) {
  AVFormatContext* context = avformat_alloc_context();
  AVStream* stream = avformat_new_stream(context, nullptr);
  PictureData data;
  data.note(*stream);
  EXPECT_EQ(data.text(), "");
  const std::string bytes(8, '\0');
  set_side_data(*stream, AV_PKT_DATA_DOVI_CONF, std::as_bytes(std::span(bytes)));
  data.note(*stream);
  EXPECT_EQ(data.text(), "Dolby Vision metadata");
  avformat_free_context(context);
}

}  // namespace
}  // namespace equalux

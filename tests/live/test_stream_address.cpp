#include <string>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/live/stream_address.h"
#include "src/common/log.h"
#include "tests/support/pipeline_fakes.h"

namespace equalux::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StreamAddress, ThisMachineAloneWithoutAPassword) {
  const ServedStream stream = parse_served_stream("rtsp://:8554/live/camera-1");
  EXPECT_EQ(stream.port, 8554);
  EXPECT_EQ(stream.path, "/live/camera-1");
  EXPECT_EQ(stream.listen, "127.0.0.1");
  EXPECT_EQ(stream.user, "");
}

TEST(StreamAddress, TheNetworkWithAPassword) {
  const ServedStream stream = parse_served_stream("rtsp://ann:a%40b:c@:0/x");
  EXPECT_EQ(stream.user, "ann");
  EXPECT_EQ(stream.password, "a@b:c");
  EXPECT_EQ(stream.listen, "0.0.0.0");
  EXPECT_EQ(stream.port, 0);
}

TEST(StreamAddress, ListenNamesTheAddress) {
  EXPECT_EQ(parse_served_stream("rtsp://:1/x?listen=0.0.0.0").listen, "0.0.0.0");
  EXPECT_EQ(parse_served_stream("rtsp://:1/x?listen=[::1]").listen, "::1");
  EXPECT_EQ(parse_served_stream("rtsp://a:b@:1/x?listen=127.0.0.1").listen, "127.0.0.1");
}

TEST(StreamAddress, WhatIsWrongIsNamedWithoutThePassword) {
  const std::pair<const char*, const char*> wrong[] = {
      {"rtsp://a:secret@:x/y", "no port from 0 to 65535"},
      {"rtsp://a:secret@:65536/y", "no port from 0 to 65535"},
      {"rtsp://a:secret@:8554", "no name of its stream"},
      {"rtsp://a:secret@:8554/", "no name of its stream"},
      {"rtsp://a:secret@:8554/x/", "no name of its stream"},
      {"rtsp://a:secret@:8554/a b", "must be letters"},
      {"rtsp://a:secret%4@:8554/x", "must be %25 for a % itself"},
      {"rtsp://a@:8554/x", "must be rtsp://USER:PASSWORD@:PORT/NAME"},
      {"rtsp://:secret@:8554/x", "must be rtsp://USER:PASSWORD@:PORT/NAME"},
      {"rtsp://a:secret@:8554/x?mode=y", "has the key 'mode', must be listen=ADDRESS"},
      {"rtsp://a:secret@:8554/x?listen=here", "must be an address of this machine in numbers"},
      {"rtsp://a:secret@:8554/x?listen", "must be an address of this machine in numbers"},
  };
  for (const auto& [text, what] : wrong) {
    const auto [code, message] = error_of([&, text = text] { (void)parse_served_stream(text); });
    EXPECT_EQ(code, ExitCode::usage) << text;
    EXPECT_THAT(message, AllOf(HasSubstr(what), Not(HasSubstr("secret")))) << text;
  }
}

TEST(StreamAddress, PasswordsAreNotShown) {
  EXPECT_EQ(without_password("rtsp://a:b@host:1/x"), "rtsp://a:***@host:1/x");
  EXPECT_EQ(without_password("rtsp://a:b@c@host/x"), "rtsp://a:***@host/x");
  EXPECT_EQ(without_password("rtsp://host:1/x@y:z"), "rtsp://host:1/x@y:z");
  EXPECT_EQ(without_password("clip.mp4"), "clip.mp4");
  EXPECT_EQ(without_password("rtsp://host?x=a:b@c"), "rtsp://host?x=a:b@c");
}

TEST(StreamAddress, NeitherFormOfAPasswordIsLogged) {
  hide_password("rtsp://ann:hunter%202@host/x");
  hide_password("rtsp://bob:ab@host/x");
  EXPECT_EQ(logger().without_secrets("to rtsp://ann:hunter%202@host/x with 'hunter 2'"),
            "to rtsp://ann:***@host/x with '***'");
  EXPECT_EQ(logger().without_secrets("about rtsp://bob:ab@host/x"), "about rtsp://bob:***@host/x");
}

}  // namespace
}  // namespace equalux::test

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
      {"rtsp://a@:8554/x", "must have USER:PASSWORD@"},
      {"rtsp://:secret@:8554/x", "must have USER:PASSWORD@"},
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
  EXPECT_EQ(without_secrets("rtsp://a:b@host:1/x"), "rtsp://a:***@host:1/x");
  EXPECT_EQ(without_secrets("rtsp://a:b@c@host/x"), "rtsp://a:***@host/x");
  EXPECT_EQ(without_secrets("rtsp://host:1/x@y:z"), "rtsp://host:1/x@y:z");
  EXPECT_EQ(without_secrets("clip.mp4"), "clip.mp4");
  EXPECT_EQ(without_secrets("rtmp://a:b@host/app/key?x=1"), "rtmp://a:***@host/app/***");
  EXPECT_EQ(without_secrets("srt://h:1?passphrase=abc&latency=2&streamid=d"),
            "srt://h:1?passphrase=***&latency=2&streamid=***");
  EXPECT_EQ(without_secrets("rtsp://host?x=a:b@c"), "rtsp://host?x=a:b@c");
}

TEST(StreamAddress, AHostIsPushedTo) {
  EXPECT_TRUE(is_served_stream("rtsp://a:b@:8554/x"));
  EXPECT_FALSE(is_served_stream("rtsp://a:b@host/x"));
  EXPECT_FALSE(is_served_stream("srt://:9000"));
  const PushedStream rtsp = parse_pushed_stream("rtsp://a:b%21@[::1]:8554/live/x?key=1");
  EXPECT_EQ(rtsp.protocol, PushProtocol::rtsp);
  EXPECT_EQ(rtsp.url, "rtsp://[::1]:8554/live/x?key=1");
  EXPECT_EQ(rtsp.password, "b!");
  EXPECT_EQ(rtsp.host, "::1");
  EXPECT_EQ(rtsp.port, 8554);
  const PushedStream rtmp = parse_pushed_stream("rtmps://live.example/app/key");
  EXPECT_EQ(rtmp.protocol, PushProtocol::rtmp);
  EXPECT_EQ(rtmp.url, "rtmps://live.example/app/key");
  EXPECT_EQ(rtmp.port, 443);
}

TEST(StreamAddress, SrtCallsOrListens) {
  const PushedStream calls =
      parse_pushed_stream("srt://host:9000?latency=40&streamid=publish%3Ax&passphrase=0123456789");
  EXPECT_EQ(calls.protocol, PushProtocol::srt);
  EXPECT_FALSE(calls.listens);
  EXPECT_EQ(calls.url, "srt://host:9000");
  EXPECT_EQ(calls.latency_ms, 40);
  EXPECT_EQ(calls.stream_id, "publish:x");
  EXPECT_EQ(calls.passphrase, "0123456789");
  const PushedStream here = parse_pushed_stream("srt://:9000");
  EXPECT_TRUE(here.listens);
  EXPECT_EQ(here.url, "srt://127.0.0.1:9000");
  EXPECT_EQ(parse_pushed_stream("srt://:9000?passphrase=0123456789").host, "0.0.0.0");
  EXPECT_TRUE(parse_pushed_stream("srt://0.0.0.0:9000?mode=listener").listens);
}

TEST(StreamAddress, WhatCannotBePushedToIsNamed) {
  const std::pair<const char*, const char*> wrong[] = {
      {"rtmp://:1935/app/secret", "names no host, must be rtmp://HOST/APP/KEY"},
      {"rtmp://host/app", "has no name of its stream"},
      {"rtmp://host/app/", "has no name of its stream"},
      {"rtmp://host:0/app/secret", "no port from 1 to 65535"},
      {"rtsp://a:secret@host:x/app", "no port from 1 to 65535"},
      {"rtsp://a:secret@host/", "has no name of its stream, must be rtsp://HOST/NAME"},
      {"srt://host", "no port from 1 to 65535"},
      {"srt://host:9000/x", "has a path"},
      {"srt://a:secret@host:9000", "must have ?passphrase=TEXT"},
      {"srt://:9000?mode=caller", "has no host to call"},
      {"srt://host:9000?mode=both", "must be caller or listener"},
      {"srt://host:9000?latency=-1", "must be 0 to 10000 milliseconds"},
      {"srt://host:9000?passphrase=secret", "a passphrase of 6 characters, must be 10 to 79"},
      {"srt://host:9000?key=1", "must be mode, latency, passphrase or streamid"},
  };
  for (const auto& [text, what] : wrong) {
    const auto [code, message] = error_of([&, text = text] { (void)parse_pushed_stream(text); });
    EXPECT_EQ(code, ExitCode::usage) << text;
    EXPECT_THAT(message, AllOf(HasSubstr(what), Not(HasSubstr("secret")))) << text;
  }
}

TEST(StreamAddress, NeitherFormOfAPasswordIsLogged) {
  hide_secrets("rtsp://ann:hunter%202@host/x");
  hide_secrets("rtsp://bob:ab@host/x");
  hide_secrets("rtmp://host/app/live");
  EXPECT_EQ(logger().without_secrets("live at rtmp://host/app/live"),
            "live at rtmp://host/app/***");
  EXPECT_EQ(logger().without_secrets("to rtsp://ann:hunter%202@host/x with 'hunter 2'"),
            "to rtsp://ann:***@host/x with '***'");
  EXPECT_EQ(logger().without_secrets("about rtsp://bob:ab@host/x"), "about rtsp://bob:***@host/x");
}

}  // namespace
}  // namespace equalux::test

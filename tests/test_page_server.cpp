#include <array>
#include <cstdlib>
#include <string>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "json_text.h"
#include "serve/page_server.h"
#include "serve/serve_address.h"
#include "support/pipeline_fakes.h"

/// The page over real sockets.
namespace equalux::test {
namespace {

using ::testing::HasSubstr;

struct HttpAnswer {
  int status = 0;
  std::string head;
  std::string body;
  [[nodiscard]] nlohmann::json json() const { return parse_json(body); }
};

/// Sends bytes to a port of this machine and reads to the end.
HttpAnswer talk(int port, const std::string& bytes) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  HttpAnswer answer;
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    static_cast<void>(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    std::array<char, 65536> chunk{};
    for (ssize_t n = 0; (n = ::recv(fd, chunk.data(), chunk.size(), 0)) > 0;)
      answer.head.append(chunk.data(), static_cast<std::size_t>(n));
  }
  ::close(fd);
  const std::size_t end = answer.head.find("\r\n\r\n");
  if (end != std::string::npos) {
    answer.body = answer.head.substr(end + 4);
    answer.head.resize(end);
    answer.status = std::atoi(answer.head.c_str() + answer.head.find(' '));
  }
  return answer;
}

class PageServerTest : public ::testing::Test {
 protected:
  void serve(const std::string& token = "") {
    server_ = open_page_server({"127.0.0.1:0", token}, api_, monitor_);
    const std::string url = server_->url();
    EXPECT_TRUE(url.starts_with("http://127.0.0.1:"));
    port_ = std::atoi(url.c_str() + url.rfind(':') + 1);
  }
  HttpAnswer get(const std::string& path, const std::string& headers = "",
                 const std::string& host = "localhost:1") {
    return talk(port_, "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" +
                           headers + "\r\n");
  }
  HttpAnswer post(const std::string& body, const std::string& type = "application/json",
                  const std::string& path = "/api/state") {
    return talk(port_, "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" +
                           "Content-Type: " + type + "\r\nContent-Length: " +
                           std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  void show_frame() {
    const ImageDesc desc = small_desc(640, 48);
    Image before(desc);
    Image after(desc);
    fill_bytes(before.view(), 10);
    fill_bytes(after.view(), 200);
    Frame frame;
    frame.image = std::as_const(after).view();
    frame.original = FramePtr(new Frame);
    frame.original->image = std::as_const(before).view();
    monitor_.add(frame);
  }

  Watchdog watchdog_;
  Steering steering_{{{0, EqualizeParams{}}}, {"plain"}, {}};
  LiveMonitor monitor_;
  ControlApi api_{steering_, monitor_};
  std::unique_ptr<PageServer> server_;
  int port_ = 0;
};

TEST_F(PageServerTest, GivesThePageStateAndMetrics) {
  serve();
  const HttpAnswer page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.head, HasSubstr("text/html"));
  EXPECT_THAT(page.head, HasSubstr("no-store"));
  EXPECT_THAT(page.body, HasSubstr("<title>equalux</title>"));
  EXPECT_EQ(get("/api/state").json()["state"]["strength"], 1);
  const HttpAnswer metrics = get("/metrics");
  EXPECT_THAT(metrics.head, HasSubstr("text/plain; version=0.0.4"));
  EXPECT_THAT(metrics.body, HasSubstr("equalux_frames_total 0\n"));
  EXPECT_EQ(get("/nothing").status, 404);
  EXPECT_EQ(get("/../etc/passwd").status, 404);
}

TEST_F(PageServerTest, TakesChangesAndSaysWhatIsWrong) {
  serve();
  const HttpAnswer done = post(R"({"strength":0.25})");
  EXPECT_EQ(done.status, 200);
  EXPECT_EQ(done.json()["state"]["strength"], 0.25);
  const HttpAnswer wrong = post(R"({"strength":9})");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.json()["error"].get<std::string>(), HasSubstr("strength is 9"));
  EXPECT_EQ(post("{").status, 400);
  EXPECT_EQ(post(std::string(9000, ' ')).status, 413);
  EXPECT_EQ(post(R"({"strength":0.5})", "text/plain").status, 415);
  EXPECT_EQ(post("{}", "application/json", "/metrics").status, 404);
  EXPECT_EQ(talk(port_, "DELETE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").status,
            405);
  EXPECT_EQ(steering_.state()["strength"], 0.25);
}

TEST_F(PageServerTest, GivesPicturesOnceThereAreSome) {
  serve();
  EXPECT_EQ(get("/api/picture?view=after").status, 503);
  EXPECT_EQ(get("/api/tones").status, 503);
  show_frame();
  const HttpAnswer before = get("/api/picture?view=before&width=160");
  EXPECT_EQ(before.status, 200);
  EXPECT_THAT(before.head, HasSubstr("image/jpeg"));
  EXPECT_EQ(before.body.substr(0, 2), "\xff\xd8");
  const HttpAnswer wide = get("/api/picture?view=before&width=640");
  EXPECT_GT(wide.body.size(), before.body.size());
  EXPECT_NE(get("/api/picture?view=after&width=160").body, before.body);
  const auto tones = get("/api/tones").json();
  EXPECT_EQ(tones["before"][10], 640 * 48);
  EXPECT_EQ(tones["after"][200], 640 * 48);
  EXPECT_EQ(tones["curve"][10], 200);
  EXPECT_TRUE(tones["curve"][11].is_null());
  for (const char* bad : {"", "?view=side", "?view=after&width=0", "?view=after&width=9999",
                          "?view=after&width=12x", "?view=after&width=-5"})
    EXPECT_EQ(get(std::string("/api/picture") + bad).status, 400) << bad;
}

TEST_F(PageServerTest, AWrongTokenIsRefusedEverywhere) {
  const std::string token = "correct-horse-battery";
  serve(token);
  for (const char* path : {"/", "/api/state", "/api/tones", "/metrics", "/nothing"}) {
    EXPECT_EQ(get(path).status, 401) << path;
    EXPECT_EQ(get(std::string(path) + "?token=correct-horse-batterz").status, 401) << path;
    EXPECT_EQ(get(path, "Authorization: Bearer correct-horse\r\n").status, 401) << path;
  }
  EXPECT_EQ(post(R"({"strength":0.5})").status, 401);
  EXPECT_EQ(steering_.state()["strength"], 1);
  EXPECT_EQ(get("/?token=" + token).status, 200);
  EXPECT_EQ(get("/metrics", "Authorization: Bearer " + token + "\r\n", "camera.example").status,
            200);
}

TEST_F(PageServerTest, WithoutATokenOnlyThisMachinesNamesCount) {
  serve();
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "192.168.0.5:80", ""})
    EXPECT_EQ(get("/api/state", "", host).status, 403) << host;
  for (const char* host : {"localhost", "127.0.0.1:8080", "[::1]:8080"})
    EXPECT_EQ(get("/api/state", "", host).status, 200) << host;
}

TEST_F(PageServerTest, AnOpenPortWithoutATokenIsImpossible) {
  const auto error_for = [&](const std::string& address, const std::string& token) {
    return error_of([&] { (void)open_page_server({address, token}, api_, monitor_); });
  };
  for (const char* address : {"0.0.0.0:0", "[::]:0", "192.168.0.1:0", "128.0.0.1:0", "[::2]:0"}) {
    const auto [code, text] = error_for(address, "");
    EXPECT_EQ(code, ExitCode::usage) << address;
    EXPECT_THAT(text, HasSubstr("must have a --serve-token")) << address;
  }
  EXPECT_THAT(error_for("0.0.0.0:0", "short").second, HasSubstr("has 5 characters, must be 16"));
  EXPECT_EQ(error_for("0.0.0.0:0", "0123456789abcdef").first, ExitCode::done);
  for (const char* address : {"", ":", "x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000",
                              "example.org:80", "[::1:80", "127.0.0.1:8o"}) {
    const auto [code, text] = error_for(address, "");
    EXPECT_EQ(code, ExitCode::usage) << address;
    EXPECT_THAT(text, HasSubstr("must be ADDRESS:PORT")) << address;
  }
}

TEST_F(PageServerTest, APortThatIsTakenIsSaid) {
  serve();
  const std::string address = "127.0.0.1:" + std::to_string(port_);
  const auto [code, text] = error_of([&] {
    (void)open_page_server({address, ""}, api_, monitor_);
  });
  EXPECT_EQ(code, ExitCode::cannot_create);
  EXPECT_THAT(text, HasSubstr("--serve " + address + " cannot listen: Address already in use"));
}

TEST(ServeAddress, KnowsLoopback) {
  EXPECT_TRUE(parse_serve_address("8080").loopback);
  EXPECT_TRUE(parse_serve_address("localhost:8080").loopback);
  EXPECT_TRUE(parse_serve_address("127.9.9.9:8080").loopback);
  EXPECT_TRUE(parse_serve_address("[::1]:8080").loopback);
  EXPECT_FALSE(parse_serve_address("[::]:8080").loopback);
}

}  // namespace
}  // namespace equalux::test

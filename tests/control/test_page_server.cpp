#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <future>
#include <list>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgcodecs.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pipelines/control/page_server.h"
#include "pipelines/control/serve_address.h"
#include "src/common/json_text.h"
#include "tests/support/pipeline_fakes.h"

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

/// A connection to a port of this machine.
class Caller {
 public:
  /// `room` is for bytes that came and were not read, 0 = the system's.
  explicit Caller(int port, int room = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (room > 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    static_cast<void>(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address));
  }
  ~Caller() { ::close(fd_); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  /// False once the other end has hung up.
  [[nodiscard]] bool say(const std::string& bytes) const {
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  /// What comes at most at once; empty once the other end has hung up.
  [[nodiscard]] std::string hear() const {
    std::string bytes(65536, ' ');
    bytes.resize(
        static_cast<std::size_t>(std::max<ssize_t>(0, ::recv(fd_, bytes.data(), bytes.size(), 0))));
    return bytes;
  }
  [[nodiscard]] bool is_cut_off(std::chrono::milliseconds within) const {
    pollfd end{.fd = fd_, .events = POLLRDHUP, .revents = 0};
    return ::poll(&end, 1, static_cast<int>(within.count())) > 0;
  }

 private:
  int fd_;
};

/// Sends bytes to a port of this machine and reads to the end.
HttpAnswer talk(int port, const std::string& bytes) {
  HttpAnswer answer;
  const Caller caller(port);
  static_cast<void>(caller.say(bytes));
  for (std::string more = caller.hear(); !more.empty(); more = caller.hear())
    answer.head += more;
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
#if defined(__SANITIZE_THREAD__)
  // The sanitizer does not see what OpenCV's threads wait for in Debian's oneTBB.
  static void SetUpTestSuite() {
    cv::setNumThreads(1);
  }
#endif
  void serve(const std::string& token = "") {
    server_ = open_page_server({"127.0.0.1:0", token, {{"fog", "thick air"}}, limits_, once_}, api_,
                               monitor_);
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
  /// Serves a stream whose first frame has come.
  void serve_first_frame(const StreamInfo& info) {
    monitor_.open(info);
    serve();
    (void)get("/api/picture?view=after");
    std::this_thread::sleep_for(std::chrono::milliseconds(80));  // 15 pictures a second.
    show_frame();
  }
  void show_frame() {
    Image before(small_desc(640, 48));
    Image after(small_desc(640, 48));
    fill_bytes(before.view(), 10);
    fill_bytes(after.view(), 200);
    show(before, after);
  }
  /// A frame whose JPEG is large.
  void show_noise() {
    Image noise(small_desc(640, 48));
    std::minstd_rand random;
    for (int y = 0; y < 48; ++y)
      for (int x = 0; x < 640; ++x)
        noise.view().row(0, y)[x] = static_cast<std::uint8_t>(random() >> 8U);
    show(noise, noise);
  }
  void show(const Image& before, const Image& after) {
    Frame frame;
    frame.image = after.view();
    frame.original = FramePtr(new Frame);
    frame.original->image = before.view();
    monitor_.add(frame);
  }

  Watchdog watchdog_;
  std::string once_;
  PageLimits limits_{.wrong_token = std::chrono::milliseconds(1),
                     .picture = std::chrono::milliseconds(50)};
  Steering steering_{
      {steered(0, read_recipe({"equalize", {}})), steered(1, read_recipe({"denoise", {}}))},
      {"plain"},
      {}};
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
  const auto help = get("/api/parameters").json();
  EXPECT_THAT(help["strength"].get<std::string>(), HasSubstr("0 to 1"));
  EXPECT_EQ(help["preset"]["fog"], "thick air");
  // The page makes its sliders of these.
  ASSERT_EQ(help["sliders"].size(), 16U);
  const auto clip = help["sliders"][1];
  EXPECT_EQ(clip["key"], "clip-limit");
  EXPECT_EQ(clip["title"], "Clip limit");
  EXPECT_EQ(clip["from"], 0);
  EXPECT_EQ(clip["to"], 10);
  EXPECT_EQ(clip["step"], 0.25);
  EXPECT_EQ(clip["least"], 1);
  EXPECT_EQ(clip["zero"], "none");
  EXPECT_EQ(clip["off"], false);
  EXPECT_EQ(clip["word"], "");
  const auto saturation = help["sliders"][7];
  EXPECT_EQ(saturation["key"], "saturation");
  EXPECT_EQ(saturation["word"], "auto");
  const auto denoise = help["sliders"][12];
  EXPECT_EQ(denoise["key"], "denoise-strength");
  EXPECT_EQ(denoise["title"], "Strength (denoise)");
  EXPECT_EQ(denoise["off"], true);  // it has a switch
  EXPECT_EQ(denoise["zero"], "off");
  // The page makes the controls of each filter of these.
  ASSERT_EQ(help["filters"].size(), 2U);
  EXPECT_EQ(help["filters"][0]["name"], "equalize");
  EXPECT_EQ(help["filters"][0]["choices"][0]["key"], "scaler");
  EXPECT_EQ(help["filters"][0]["choices"][0]["names"].size(), 3U);
  EXPECT_EQ(help["filters"][0]["sliders"][10]["key"], "brighten-ms");
  EXPECT_EQ(help["filters"][0]["sliders"][10]["zero"], "temporal-ms");  // that slider's value
  EXPECT_EQ(help["filters"][1]["name"], "denoise");
  EXPECT_EQ(help["filters"][1]["sliders"][0]["key"], "strength");
  EXPECT_EQ(help["filters"][1]["sliders"][0]["title"], "Strength");
  const auto state = get("/api/state").json()["filters"];
  for (const auto& filter : help["filters"]) {
    for (const char* kind : {"sliders", "choices"}) {
      for (const auto& control : filter[kind]) {
        EXPECT_TRUE(state[filter["name"]].contains(control["key"])) << control;
        EXPECT_FALSE(control["help"].get<std::string>().empty()) << control;
      }
    }
  }
  for (const auto& slider : help["sliders"])
    EXPECT_TRUE(get("/api/state").json()["state"].contains(slider["key"])) << slider;
  EXPECT_EQ(get("/nothing").status, 404);
  EXPECT_EQ(get("/../etc/passwd").status, 404);
}

TEST_F(PageServerTest, ThePageKeepsItsTokenOutOfTheHistoryAndNamesItsControls) {
  serve();
  const std::string page = get("/").body;
  for (const char* part :
       {"history.replaceState", "sessionStorage.setItem('token'", ">Filter: on<", "Stop recording",
        "does not answer", "id=\"reset\"", "data-still=\"after\"", "requestFullscreen",
        "counters.recording.failure", "/api/parameters"})
    EXPECT_THAT(page, HasSubstr(part));
}

TEST_F(PageServerTest, LetsOneBrowserInWithoutTheTokenAndTellsItThat) {
  once_ = "this-once";
  serve("sixteen \"letters\"");
  const std::string told = "content=\"sixteen &quot;letters&quot;\"";
  EXPECT_EQ(get("/?once=that-one").status, 401);
  EXPECT_EQ(get("/?once=").status, 401);
  EXPECT_EQ(get("/api/state?once=this-once").status, 401);
  EXPECT_EQ(get("/?once=this-once", "Sec-Fetch-Site: cross-site\r\n").status, 403);
  const HttpAnswer page = get("/?once=this-once");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr(told));
  const HttpAnswer again = get("/?once=this-once");
  EXPECT_EQ(again.status, 401);
  EXPECT_THAT(again.body, Not(HasSubstr(told)));
  EXPECT_EQ(get("/?once=").status, 401);
}

TEST_F(PageServerTest, KnowsWhetherSomebodyIsThere) {
  limits_.back = std::chrono::milliseconds(700);
  serve();
  const std::string request = "GET /api/here HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const auto comes = [&](bool (PageServer::*what)() const) {
    for (int i = 0; i < 500 && !((*server_).*what)(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return ((*server_).*what)();
  };
  EXPECT_FALSE(server_->is_visited());
  {
    const Caller first(port_);
    ASSERT_TRUE(first.say(request));
    EXPECT_TRUE(comes(&PageServer::is_visited));
    EXPECT_FALSE(server_->is_left());
    const Caller second(port_);
    ASSERT_TRUE(second.say(request));
  }
  EXPECT_TRUE(comes(&PageServer::is_left));
  EXPECT_FALSE(server_->is_visited());
  // Whoever comes back is there again, and hears of the end.
  const Caller third(port_);
  ASSERT_TRUE(third.say(request));
  EXPECT_TRUE(comes(&PageServer::is_visited));
  EXPECT_FALSE(server_->is_left());
  server_.reset();
  EXPECT_THAT(third.hear(), HasSubstr("200 OK"));
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
  EXPECT_EQ(post(R"({"strength":0.5})", "application/jsonp").status, 415);
  EXPECT_EQ(post("{}", "Application/JSON; charset=utf-8").status, 200);
  EXPECT_EQ(post("{}", "application/json", "/metrics").status, 404);
  const HttpAnswer deleted =
      talk(port_, "DELETE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(deleted.status, 405);
  EXPECT_THAT(deleted.head, HasSubstr("\r\nAllow: GET, HEAD, POST\r\n"));
  EXPECT_EQ(steering_.state()["strength"], 0.25);
}

TEST_F(PageServerTest, SwitchesDenoiseOffAndOnAndMovesItsSlidersAlone) {
  serve();
  const auto set = [&](const char* wanted) { return post(wanted).json()["state"]; };
  const auto before = steering_.state();
  ASSERT_GT(before["denoise-strength"], 0);
  // The switch is the strength: 0, and back to what it was.
  EXPECT_EQ(set(R"({"denoise-strength":0})")["denoise-strength"], 0);
  EXPECT_EQ(set(R"({"denoise-strength":0.75})")["denoise-strength"], 0.75);
  EXPECT_EQ(set(R"({"spatial":0.25})")["spatial"], 0.25);
  EXPECT_EQ(set(R"({"temporal":8})")["temporal"], 8);
  EXPECT_EQ(set(R"({"noise":3.5})")["noise"], 3.5);
  EXPECT_EQ(set(R"({"denoise.noise":2.5})")["noise"], 2.5);
  const HttpAnswer wrong = post(R"({"denoise-strength":2})");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.json()["error"].get<std::string>(), HasSubstr("denoise-strength is 2"));
  EXPECT_EQ(steering_.state()["denoise-strength"], 0.75);
  EXPECT_EQ(steering_.state()["strength"], before["strength"]);  // equalize's
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

/// The width and height that a JPEG's frame header tells.
std::string size_of_jpeg(const std::string& bytes) {
  const std::size_t header = bytes.find("\xff\xc0");
  if (header == std::string::npos || bytes.size() < header + 9) return "none";
  const auto number = [&](std::size_t at) {
    return std::to_string(static_cast<unsigned char>(bytes[header + at]) << 8 |
                          static_cast<unsigned char>(bytes[header + at + 1]));
  };
  return number(7) + "x" + number(5);
}

TEST_F(PageServerTest, PicturesStandUpright) {
  for (const Orientation orientation : {Orientation::clockwise, Orientation::counter_clockwise,
                                        Orientation::upside_down, Orientation::upright}) {
    StreamInfo info;
    info.desc = small_desc(640, 48);
    info.orientation = orientation;
    serve_first_frame(info);
    for (const char* view : {"before", "after"}) {
      const HttpAnswer answer = get(std::string("/api/picture?width=640&view=") + view);
      EXPECT_EQ(answer.status, 200);
      EXPECT_EQ(size_of_jpeg(answer.body), swaps_sides(orientation) ? "48x640" : "640x48");
    }
  }
}

TEST_F(PageServerTest, PicturesHaveSquarePixels) {
  const auto sizes = [this](Rational aspect, Orientation orientation) {
    StreamInfo info;
    info.desc = small_desc(640, 48);
    info.pixel_aspect = aspect;
    info.orientation = orientation;
    serve_first_frame(info);
    return size_of_jpeg(get("/snapshot.jpg").body) + " " +
           size_of_jpeg(get("/snapshot.jpg?view=both").body) + " " +
           size_of_jpeg(get("/api/picture?view=before&width=320").body);
  };
  EXPECT_EQ(sizes({3, 2}, Orientation::upright), "960x48 1920x48 320x16");
  EXPECT_EQ(sizes({1, 2}, Orientation::upright), "640x96 1280x96 320x48");
  EXPECT_EQ(sizes({3, 2}, Orientation::clockwise), "48x960 96x960 48x960");
}

/// Frames come, a number of them a second, for as long as this is there.
class Frames {
 public:
  explicit Frames(std::function<void()> show)
      : thread_([this, show = std::move(show)] {
          while (!stop_) {
            show();
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
          }
        }) {}
  ~Frames() {
    stop_ = true;
    thread_.join();
  }
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// Reads until `wanted` is there or nothing more comes.
std::string hear_until(const Caller& caller, const std::string& wanted) {
  std::string all;
  while (all.find(wanted) == std::string::npos) {
    const std::string more = caller.hear();
    if (more.empty()) break;
    all += more;
  }
  return all;
}

std::string stream_request(const std::string& arguments) {
  return "GET /stream.mjpeg" + arguments + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

/// The JPEGs of an answer's parts, each as long as its header says and with the next boundary
/// behind it; empty where one is not.
std::vector<std::string> parts_of(const std::string& answer) {
  std::vector<std::string> parts;
  const std::string boundary = "--equalux-picture";
  std::size_t at = answer.find("\r\n\r\n" + boundary);
  if (at == std::string::npos) return {};
  at += 4 + boundary.size();
  const std::string header = "\r\nContent-Type: image/jpeg\r\nContent-Length: ";
  while (answer.compare(at, header.size(), header) == 0) {
    const auto size = static_cast<std::size_t>(std::atol(answer.c_str() + at + header.size()));
    at = answer.find("\r\n\r\n", at) + 4;
    if (at + size + 2 + boundary.size() > answer.size()) return parts;  // Still on its way.
    parts.push_back(answer.substr(at, size));
    at += size;
    if (answer.compare(at, 2 + boundary.size(), "\r\n" + boundary) != 0) return {};
    at += 2 + boundary.size();
  }
  return parts;
}

TEST_F(PageServerTest, StreamsPicturesUntilTheRunEnds) {
  limits_.picture = std::chrono::seconds(30);
  serve();
  auto frames = std::make_unique<Frames>([&] { show_frame(); });
  const Caller caller(port_);
  ASSERT_TRUE(caller.say(stream_request("?view=both&width=320&quality=70")));
  std::string all;
  while (parts_of(all).size() < 5) {
    const std::string more = caller.hear();
    ASSERT_FALSE(more.empty());
    all += more;
  }
  EXPECT_THAT(all, HasSubstr("multipart/x-mixed-replace; boundary=equalux-picture\r\n"));
  EXPECT_THAT(all, ::testing::Not(HasSubstr("chunked")));
  const auto viewers = get("/api/state").json()["counters"]["viewers"];
  EXPECT_EQ(viewers["now"], 1);
  EXPECT_EQ(viewers["came"], 1);
  EXPECT_GE(viewers["pictures"], 5);
  EXPECT_THAT(get("/metrics").body, HasSubstr("equalux_viewers 1\n"));
  server_.reset();
  frames.reset();
  all += hear_until(caller, "never");
  EXPECT_TRUE(all.ends_with("\r\n--equalux-picture--\r\n"));
  for (const std::string& jpeg : parts_of(all))
    EXPECT_EQ(size_of_jpeg(jpeg), "320x12");
}

TEST_F(PageServerTest, StreamsKeepTheirRate) {
  limits_.picture = std::chrono::seconds(30);
  serve();
  const Frames frames([&] { show_frame(); });
  const Caller caller(port_);
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(caller.say(stream_request("?rate=20")));
  std::string all;
  while (parts_of(all).size() < 11)
    all += caller.hear();
  // Ten periods lie between eleven pictures; the first two may stand closer.
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(440));
}

TEST_F(PageServerTest, SnapshotsAreThePagesPicturesAndBothViewsStandSideBySide) {
  serve();
  (void)get("/snapshot.jpg");
  show_frame();
  for (const std::string view : {"before", "after"}) {
    EXPECT_EQ(get("/snapshot.jpg?width=160&view=" + view).body,
              get("/api/picture?width=160&view=" + view).body);
  }
  EXPECT_EQ(get("/snapshot.jpg").body, get("/snapshot.jpg?view=after&width=8192&quality=85").body);
  EXPECT_LT(get("/snapshot.jpg?quality=5").body.size(), get("/snapshot.jpg").body.size());
  const std::string both = get("/snapshot.jpg?view=both&quality=100").body;
  EXPECT_EQ(size_of_jpeg(both), "1280x48");
  const cv::Mat picture = cv::imdecode(std::vector<char>(both.begin(), both.end()), 1);
  ASSERT_EQ(picture.cols, 1280);
  for (const int column : {0, 300, 631})
    EXPECT_NEAR(picture.at<cv::Vec3b>(20, column)[1], 10, 2) << column;
  for (const int column : {648, 900, 1279})
    EXPECT_NEAR(picture.at<cv::Vec3b>(20, column)[1], 200, 2) << column;
}

TEST_F(PageServerTest, ArgumentsOfPicturesAreReadStrictly) {
  serve();
  (void)get("/snapshot.jpg");
  show_frame();
  for (const auto& [arguments, message] : std::vector<std::pair<std::string, std::string>>{
           {"view=side", "view is 'side', must be before, after or both"},
           {"width=15", "width is '15', must be 16 to 8192"},
           {"width=8193", "width is '8193', must be 16 to 8192"},
           {"width=", "width is '', must be 16 to 8192"},
           {"quality=0", "quality is '0', must be 1 to 100"},
           {"quality=101", "quality is '101', must be 1 to 100"},
           {"widht=100", "'widht' is unknown, must be view, width, quality"},
           {"view=after&view=after", "'view' stands there twice"}}) {
    for (const std::string path : {"/snapshot.jpg?", "/stream.mjpeg?"}) {
      const HttpAnswer answer = get(path + arguments);
      EXPECT_EQ(answer.status, 400) << path << arguments;
      EXPECT_THAT(answer.json()["error"].get<std::string>(), HasSubstr(message));
    }
  }
  for (const char* rate : {"0", "nan", "121", "-1", "inf", "x"}) {
    EXPECT_THAT(get(std::string("/stream.mjpeg?rate=") + rate).json()["error"].get<std::string>(),
                HasSubstr("must be 0.1 to 120"));
  }
  EXPECT_EQ(get("/snapshot.jpg?rate=5").status, 400);
}

TEST_F(PageServerTest, WithoutAPictureAStreamIsRefusedForAWhile) {
  serve();
  for (const char* path : {"/stream.mjpeg", "/snapshot.jpg"}) {
    const HttpAnswer answer = get(path);
    EXPECT_EQ(answer.status, 503) << path;
    EXPECT_THAT(answer.head, HasSubstr("Retry-After: 1"));
  }
  const HttpAnswer head =
      talk(port_, "HEAD /stream.mjpeg HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(head.status, 200);
  EXPECT_THAT(head.head, HasSubstr("multipart/x-mixed-replace"));
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(monitor_.viewers().came, 0U);
}

TEST_F(PageServerTest, StreamsNeedTheTokenToo) {
  limits_.picture = std::chrono::seconds(30);
  const std::string token = "correct-horse-battery";
  serve(token);
  const Frames frames([&] { show_frame(); });
  for (const char* path : {"/stream.mjpeg", "/snapshot.jpg", "/stream.mjpeg?token=wrong"})
    EXPECT_EQ(get(path).status, 401) << path;
  EXPECT_EQ(get("/snapshot.jpg", "Authorization: Bearer " + token + "\r\n").status, 200);
  EXPECT_EQ(get("/snapshot.jpg", "Authorization: bearer " + token + "\r\n").status, 200);
  EXPECT_EQ(get("/snapshot.jpg", "Authorization: Basic " + token + "\r\n").status, 401);
  const Caller caller(port_);
  ASSERT_TRUE(caller.say(stream_request("?token=" + token)));
  EXPECT_THAT(hear_until(caller, "image/jpeg"), HasSubstr("200 OK"));
}

TEST_F(PageServerTest, AViewerThatNeverReadsKeepsNobodyWaiting) {
  limits_.picture = std::chrono::seconds(30);
  serve();
  auto frames = std::make_unique<Frames>([&] { show_noise(); });
  const Caller stuck(port_, 4096);
  ASSERT_TRUE(stuck.say(stream_request("?view=both&quality=100")));
  const Caller caller(port_);
  ASSERT_TRUE(caller.say(stream_request("?width=64")));
  std::string all;
  while (parts_of(all).size() < 100) {
    const std::string more = caller.hear();
    ASSERT_FALSE(more.empty());
    all += more;
  }
  EXPECT_EQ(monitor_.viewers().now, 2U);
  EXPECT_LT(monitor_.viewers().pictures, 160U);  // What is not read is not made either.
  const auto began = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

TEST_F(PageServerTest, AViewerThatTakesNothingIsLetGo) {
  limits_.picture = std::chrono::seconds(30);
  limits_.reply = std::chrono::milliseconds(200);
  serve();
  const Frames frames([&] { show_noise(); });
  const Caller reads(port_);
  ASSERT_TRUE(reads.say(stream_request("?width=64")));
  const Caller stuck(port_, 4096);
  ASSERT_TRUE(stuck.say(stream_request("?view=both&quality=100")));
  while (monitor_.viewers().came < 2 || monitor_.viewers().now > 1)
    ASSERT_NE(reads.hear(), "");
  EXPECT_NE(reads.hear(), "");
}

/// Lines of /proc/self/status that begin so, as a number.
long status_of(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return std::atol(line.c_str() + key.size());
  return -1;
}

TEST_F(PageServerTest, ViewersComeAndGoAndLeaveNothing) {
  limits_.picture = std::chrono::seconds(30);
  serve();
  const Frames frames([&] { show_frame(); });
  const auto come_and_go = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const Caller caller(port_);
      ASSERT_TRUE(caller.say(stream_request("?width=64")));
      ASSERT_THAT(hear_until(caller, "image/jpeg"), HasSubstr("200 OK"));
    }
  };
  come_and_go(20);
  const long threads = status_of("Threads:");
  [[maybe_unused]] const long memory_kib = status_of("VmRSS:");
  ASSERT_GT(threads, 0);
  come_and_go(100);
  EXPECT_EQ(status_of("Threads:"), threads);
#if !defined(__SANITIZE_ADDRESS__)
  // That sanitizer keeps what was freed for a while, and finds leaks by itself.
  EXPECT_LT(status_of("VmRSS:"), memory_kib + 8192);
#endif
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (monitor_.viewers().now > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(monitor_.viewers().now, 0U);
  EXPECT_EQ(monitor_.viewers().came, 120U);
}

TEST_F(PageServerTest, ThereMayBeSoManyViewers) {
  limits_.picture = std::chrono::seconds(30);
  limits_.viewers = 2;
  serve();
  const Frames frames([&] { show_frame(); });
  std::list<Caller> callers;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(callers.emplace_back(port_).say(stream_request("?width=64")));
    EXPECT_THAT(hear_until(callers.back(), "image/jpeg"), HasSubstr("200 OK"));
  }
  const HttpAnswer answer = get("/stream.mjpeg");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.head, HasSubstr("Retry-After: 1"));
  EXPECT_EQ(answer.json()["error"], "2 viewers are there, which is the limit");
  EXPECT_EQ(monitor_.viewers().refused, 1U);
  // One that goes makes room, also where no frame is sent to it.
  callers.pop_front();
  while (monitor_.viewers().now > 1)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(callers.emplace_back(port_).say(stream_request("?width=64")));
  EXPECT_THAT(hear_until(callers.back(), "image/jpeg"), HasSubstr("200 OK"));
}

/// What a client program prints, and its exit code.
std::pair<int, std::string> client(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> bytes{};
  for (std::size_t n = 0; (n = std::fread(bytes.data(), 1, bytes.size(), pipe)) > 0;)
    text.append(bytes.data(), n);
  return {::pclose(pipe), text};
}

TEST_F(PageServerTest, ProgramsOfOthersReadTheStream) {
  limits_.picture = std::chrono::seconds(30);
  serve();
  const Frames frames([&] { show_frame(); });
  const std::string url = "'http://127.0.0.1:" + std::to_string(port_) + "/stream.mjpeg?rate=50'";
  std::vector<std::string> missing;
  for (const auto& [program, command] : std::vector<std::pair<std::string, std::string>>{
           {"ffmpeg", "ffmpeg -v error -f mpjpeg -i " + url + " -frames:v 10 -f framemd5 -"},
           {"ffmpeg", "ffmpeg -v error -i " + url + " -frames:v 10 -f framemd5 -"},
           {"gst-launch-1.0", "gst-launch-1.0 -q souphttpsrc location=" + url +
                                  " ! multipartdemux ! jpegdec ! identity eos-after=10 !"
                                  " fakesink sync=false"}}) {
    if (client("command -v " + program).first != 0 ||
        (program != "ffmpeg" && client("gst-inspect-1.0 souphttpsrc multipartdemux").first != 0)) {
      missing.push_back(program);
      continue;
    }
    const auto [code, text] = client("timeout 60 " + command);
    EXPECT_EQ(code, 0) << command << "\n" << text;
    if (program == "ffmpeg") {
      EXPECT_THAT(text, HasSubstr("#dimensions 0: 640x48\n"));
      EXPECT_THAT(text, HasSubstr("\n0,          9,"));
    }
  }
  if (client("command -v curl").first != 0) {
    missing.emplace_back("curl");
  } else {
    const auto [code, text] = client("curl -s --max-time 1 -N " + url + " | grep -ac image/jpeg");
    EXPECT_GE(std::atoi(text.c_str()), 20) << text;
  }
  if (!missing.empty()) GTEST_SKIP() << "missing: " << ::testing::PrintToString(missing);
}

TEST_F(PageServerTest, WhoeverLooksFirstWaitsForTheNextFrame) {
  limits_.picture = std::chrono::seconds(30);
  serve();
  show_frame();  // Before anybody looked.
  for (const char* path : {"/api/picture?view=before&width=160", "/api/tones"}) {
    auto answer = std::async(std::launch::async, [&] { return get(path); });
    while (answer.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready)
      show_frame();
    EXPECT_EQ(answer.get().status, 200) << path;
  }
}

TEST_F(PageServerTest, ARunThatEndsAnswersThoseWhoWait) {
  limits_.picture = limits_.wrong_token = std::chrono::seconds(50);
  const std::string token = "correct-horse-battery";
  serve(token);
  const Caller looking(port_);
  const Caller guessing(port_);
  ASSERT_TRUE(looking.say("GET /api/tones?token=" + token + " HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(guessing.say("GET /api/tones?token=wrong HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_FALSE(looking.is_cut_off(std::chrono::milliseconds(50)));
  server_.reset();
  EXPECT_THAT(looking.hear(), ::testing::AnyOf("", HasSubstr(" 503 ")));
  EXPECT_THAT(guessing.hear(), ::testing::AnyOf("", HasSubstr(" 401 ")));
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
  // Whole tokens are compared, not what stands before a zero.
  EXPECT_EQ(get("/?token=" + token + "%00").status, 401);
  EXPECT_EQ(get("/api/state?token=" + token + "%00more").status, 401);
  EXPECT_EQ(get("/api/state%00/nothing?token=" + token).status, 400);
  EXPECT_EQ(get("/api/picture?view=after%00&token=" + token).status, 400);
  // The page asks for the token itself: its address no longer has one when it is loaded again.
  EXPECT_THAT(get("/").body, HasSubstr("<title>equalux</title>"));
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

TEST_F(PageServerTest, OtherSitesPagesAreRefused) {
  const std::string token = "correct-horse-battery";
  serve(token);
  const std::string path = "/api/state?token=" + token;
  for (const char* site : {"cross-site", "same-site"})
    EXPECT_EQ(get(path, std::string("Sec-Fetch-Site: ") + site + "\r\n").status, 403) << site;
  for (const char* site : {"same-origin", "none"}) {
    const HttpAnswer answer = get(path, std::string("Sec-Fetch-Site: ") + site + "\r\n");
    EXPECT_EQ(answer.status, 200) << site;
    EXPECT_THAT(answer.head, HasSubstr("Cross-Origin-Resource-Policy: same-origin"));
  }
}

TEST_F(PageServerTest, NobodyIsShutOutByThoseWhoOnlyConnect) {
  serve();
  std::list<Caller> silent;
  for (unsigned i = 0; i < limits_.connections + 20; ++i)
    static_cast<void>(silent.emplace_back(port_).say("G"));
  EXPECT_EQ(get("/api/state").status, 200);
  // Nor by those who were answered and stay.
  std::list<Caller> idle;
  for (unsigned i = 0; i < 2 * limits_.connections_of_one; ++i) {
    ASSERT_TRUE(idle.emplace_back(port_).say("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    EXPECT_THAT(idle.back().hear(), HasSubstr("200 OK"));
  }
  EXPECT_EQ(get("/api/state").status, 200);
  EXPECT_TRUE(idle.front().is_cut_off(std::chrono::seconds(10)));
  EXPECT_FALSE(idle.back().is_cut_off(std::chrono::milliseconds(0)));
}

/// Says `byte` again and again, and how long that was taken.
std::chrono::milliseconds dribble(const Caller& caller, const std::string& byte) {
  const auto began = std::chrono::steady_clock::now();
  while (!caller.is_cut_off(std::chrono::milliseconds(10)) && caller.say(byte)) {
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               began);
}

TEST_F(PageServerTest, WhoeverDribblesIsLetGo) {
  limits_.header = limits_.body = limits_.idle = std::chrono::milliseconds(100);
  serve();
  const std::string first = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n";
  const Caller header(port_);
  ASSERT_TRUE(header.say(first + "X: "));
  EXPECT_GE(dribble(header, "x").count(), 50);  // And it ends, or else the watchdog barks.
  const Caller next(port_);
  ASSERT_TRUE(next.say(first + "\r\n"));
  EXPECT_THAT(next.hear(), HasSubstr("200 OK"));
  dribble(next, "G");
  const Caller body(port_);
  ASSERT_TRUE(
      body.say("POST /api/state HTTP/1.1\r\nHost: localhost\r\n"
               "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"));
  dribble(body, " ");
  EXPECT_EQ(get("/api/state").status, 200);
}

TEST_F(PageServerTest, WhoeverTakesNoRepliesIsLetGo) {
  limits_.reply = std::chrono::milliseconds(100);
  serve();
  const Caller caller(port_);
  std::string requests;
  for (int i = 0; i < 2000; ++i)
    requests += "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  static_cast<void>(caller.say(requests));
  EXPECT_TRUE(caller.is_cut_off(std::chrono::seconds(30)));
}

TEST_F(PageServerTest, TokensAreGuessedSlowly) {
  limits_.wrong_token = std::chrono::milliseconds(200);
  const std::string token = "correct-horse-battery";
  serve(token);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(get("/?token=wrong").status, 401);
  EXPECT_EQ(get("/api/state", "Authorization: Bearer wrong\r\n").status, 401);
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(400));
}

TEST_F(PageServerTest, WhoeverGuessesTokensAndHangsUpIsNoFaster) {
  limits_.wrong_token = std::chrono::seconds(50);
  const std::string token = "correct-horse-battery";
  serve(token);
  const Caller known(port_);
  const std::string right = "GET /metrics?token=" + token + " HTTP/1.1\r\nHost: a\r\n\r\n";
  ASSERT_TRUE(known.say(right));
  EXPECT_THAT(known.hear(), HasSubstr("200 OK"));
  unsigned taken = 0;
  for (unsigned i = 0; i < 3 * limits_.connections_of_one; ++i) {
    const Caller guesser(port_);
    static_cast<void>(guesser.say("GET /?token=wrong HTTP/1.1\r\nHost: a\r\n\r\n"));
    taken += guesser.is_cut_off(std::chrono::milliseconds(30)) ? 0 : 1;
  }
  EXPECT_LE(taken, limits_.connections_of_one);
  EXPECT_GT(taken, 0U);
  // A page that is open goes on.
  ASSERT_TRUE(known.say(right));
  EXPECT_THAT(known.hear(), HasSubstr("200 OK"));
}

TEST_F(PageServerTest, AnOpenPortWithoutATokenIsImpossible) {
  const auto error_for = [&](const std::string& address, const std::string& token) {
    return error_of([&] { (void)open_page_server({address, token, {}, {}}, api_, monitor_); });
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
    (void)open_page_server({address, "", {}, {}}, api_, monitor_);
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

#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/common/json_text.h"
#include "tests/support/program_test.h"

/// `equalux run --record`: the frames of the files, as ffmpeg decodes them.
namespace equalux::test {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string shell(const std::string& command) {
  std::string output;
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    output += static_cast<char>(c);
  ::pclose(pipe);
  return output;
}

/// The frames' hashes and, in front of each, its time in milliseconds; error lines beside them.
std::vector<std::string> decode(const std::string& path) {
  std::vector<std::string> frames;
  for (const std::string& line :
       lines_of(shell("ffmpeg -v error -i '" + path +
                      "' -map 0:v -enc_time_base 1:1000 "
                      "-fps_mode passthrough -f framemd5 - | grep -v '^#' | tr -d ' '"))) {
    std::vector<std::string> fields;
    for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
      end = line.find(',', at);
      fields.push_back(line.substr(at, end - at));
    }
    frames.push_back(fields.size() == 6 ? fields[2] + " " + fields[5] : "error " + line);
  }
  return frames;
}

std::string hash_of(const std::string& frame) {
  return frame.substr(frame.find(' ') + 1);
}

/// A setting of this process, which the program inherits.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit tight{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &tight);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

/// A caller of a run's control socket.
class Control {
 public:
  explicit Control(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    for (int i = 0; i < 1000; ++i) {
      if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  ~Control() { ::close(fd_); }
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  [[nodiscard]] nlohmann::json ask(const std::string& change) const {
    static_cast<void>(::send(fd_, (change + "\n").data(), change.size() + 1, MSG_NOSIGNAL));
    std::string line(8192, ' ');
    line.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::recv(fd_, line.data(), 8192, 0))));
    return json_or_discarded(line);
  }
  template <typename What>
  void wait_for(const What& what) const {
    for (int i = 0; i < 1000 && !what(ask("{}")); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

 private:
  int fd_;
};

class RecordTest : public ProgramTest {
 protected:
  void SetUp() override {
    if (shell("command -v ffmpeg").empty()) GTEST_SKIP() << "ffmpeg is not installed";
  }
  /// Names that begin with "rec".
  std::vector<std::string> recordings() const {
    std::vector<std::string> names = folder_.names();
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("rec"); });
    return names;
  }
  std::string live(const std::string& rest = "") const {
    return "gst:videotestsrc is-live=true pattern=ball ! " + rest +
           "video/x-raw,format=I420,width=64,height=48,framerate=50/1";
  }
};

TEST_F(RecordTest, FilesTogetherHoldEveryFrameOnceAndEachBeginsAtZero) {
  folder_.write("in.y4m", dim_y4m(64, 48, 65));  // 25 a second
  for (const char* extension : {"mkv", "mp4"}) {
    const std::string record = std::string("rec.") + extension;
    const ProgramResult result = run({"run", "in.y4m", "-o", "null", "--verify=hashes", "--record",
                                      record, "--lossless", "--record-split", "1s"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("recorded: 65 frames into 3 files, 0 dropped"));
    std::vector<std::string> wanted;
    for (const std::string& line : lines_of(folder_.read("hashes")))
      if (!line.starts_with('#')) wanted.push_back(line.substr(line.rfind(' ') + 1));
    std::vector<std::string> found;
    for (const char* number : {"00001", "00002", "00003"}) {
      const auto frames = decode(folder_ / (std::string("rec-") + number + "." + extension));
      ASSERT_EQ(frames.size(), std::string(number) == "00003" ? 15U : 25U);
      EXPECT_THAT(frames[0], StartsWith("0 "));
      EXPECT_THAT(frames[1], StartsWith("40 "));
      for (const std::string& frame : frames)
        found.push_back(hash_of(frame));
    }
    EXPECT_EQ(found, wanted);
  }
}

TEST_F(RecordTest, WhatIsLostIsSaidOnceAndNotOfEachFile) {
  const ProgramResult result =
      run({"run",
           "gst:videotestsrc num-buffers=60 ! video/x-raw,format=BGR,width=64,height=48,"
           "framerate=25/1",
           "-o", "null", "--record", "rec.mkv", "--record-split", "1s"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(recordings().size(), 3U);
  EXPECT_THAT(result.err, HasSubstr("rec-00001.mkv: RGB pictures are encoded as 4:2:0\n"));
  EXPECT_THAT(result.err, Not(HasSubstr("rec-00002.mkv: RGB pictures")));
}

TEST_F(RecordTest, OriginalsAreTheFramesAsTheyCame) {
  folder_.write("in.y4m", dim_y4m(64, 48, 30));
  const ProgramResult result = run({"run", "in.y4m", "-o", "null", "--record", "rec.mkv",
                                    "--record-original", "--lossless", "--record-split", "1s"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("originals recorded: 30 frames into 2 files, 0 dropped"));
  EXPECT_THAT(recordings(), ElementsAre("rec-00001.mkv", "rec-00002.mkv", "rec-original-00001.mkv",
                                        "rec-original-00002.mkv"));
  std::vector<std::string> found;
  for (const char* name : {"rec-original-00001.mkv", "rec-original-00002.mkv"}) {
    for (const std::string& frame : decode(folder_ / name))
      found.push_back(hash_of(frame));
  }
  std::vector<std::string> wanted;
  for (const std::string& frame : decode(folder_ / "in.y4m"))
    wanted.push_back(hash_of(frame));
  EXPECT_EQ(found, wanted);
  EXPECT_NE(hash_of(decode(folder_ / "rec-00001.mkv")[0]), wanted[0]);
}

TEST_F(RecordTest, SplitsBySize) {
  const ProgramResult result = run({"run", "test:320x240@30", "-o", "null", "--frames", "300",
                                    "--record", "rec.mkv", "--record-split", "100kB"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<std::string> names = recordings();
  ASSERT_THAT(names.size(), Ge(2U)) << result.err;
  std::size_t frames = 0;
  for (const std::string& name : names) {
    frames += decode(folder_ / name).size();
    if (name == names.back()) continue;
    EXPECT_GE(folder_.read(name).size(), 100'000U) << name;
  }
  EXPECT_EQ(frames, 300U);
}

TEST_F(RecordTest, GoesOnBehindEarlierRecordings) {
  folder_.write("in.y4m", dim_y4m(64, 48, 3));
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(run({"run", "in.y4m", "-o", "null", "--record", "rec.mkv"}).exit_code, 0);
  EXPECT_THAT(recordings(), ElementsAre("rec-00001.mkv", "rec-00002.mkv"));
}

TEST_F(RecordTest, AFullDiskStopsTheRecordingNotTheRun) {
  const FileSizeLimit limit(60'000);
  const ProgramResult result = run({"run", "test:320x240@30", "-o", "null", "--frames", "600",
                                    "--record", "rec.mkv", "--timings", "/dev/null"});
  EXPECT_EQ(result.exit_code, 74) << result.err;
  EXPECT_THAT(result.err, HasSubstr("600 in, 600 out"));
  EXPECT_THAT(result.err, HasSubstr("cannot be written"));
  EXPECT_THAT(result.err, HasSubstr("recording has stopped, and rec-00001.partial.mkv is left"));
  EXPECT_THAT(recordings(), ElementsAre("rec-00001.partial.mkv"));
  EXPECT_GT(decode(folder_ / "rec-00001.partial.mkv").size(), 10U);
}

TEST_F(RecordTest, AKillLeavesPlayableFiles) {
  options_.meanwhile = [&](int program) {
    // Once the second holds pictures; the first is closed meanwhile.
    for (int i = 0; i < 3000; ++i) {
      std::error_code none;
      const auto second = folder_.path() / "rec-00002.partial.mkv";
      if (std::filesystem::exists(folder_.path() / "rec-00001.mkv") &&
          std::filesystem::exists(second) && std::filesystem::file_size(second, none) > 3000) {
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ::kill(program, SIGKILL);
  };
  const ProgramResult result =
      run({"run", live(), "-o", "null", "--record", "rec.mkv", "--record-split", "2s"});
  EXPECT_EQ(result.exit_code, 128 + SIGKILL) << result.err;
  const std::vector<std::string> names = recordings();
  ASSERT_THAT(names, ElementsAre("rec-00001.mkv", "rec-00002.partial.mkv"));
  for (const std::string& name : names) {
    const std::vector<std::string> frames = decode(folder_ / name);
    EXPECT_GT(frames.size(), 5U) << name;
    EXPECT_THAT(frames, Not(Contains(StartsWith("error")))) << name;
  }
}

TEST_F(RecordTest, AnInputThatComesBackIsOneRecording) {
  const ProgramResult result = run({"run", live("identity error-after=8 ! "), "-o", "null",
                                    "--frames", "20", "--record", "rec.mkv", "--lossless"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr(": back after "));
  EXPECT_THAT(result.err, HasSubstr("recorded: 20 frames into 1 file, 0 dropped"));
  const std::vector<std::string> frames = decode(folder_ / "rec-00001.mkv");
  ASSERT_EQ(frames.size(), 20U);
  // Times go on as time does over the gap, which lasted half a second at least.
  EXPECT_THAT(std::stoi(frames.back()), Ge(500));
  for (std::size_t i = 1; i < frames.size(); ++i)
    EXPECT_LT(std::stoi(frames[i - 1]), std::stoi(frames[i]));
}

TEST_F(RecordTest, BeginsAndEndsWhenItIsTold) {
  const std::string path = folder_ / "control";
  std::vector<nlohmann::json> answers;
  options_.meanwhile = [&](int program) {
    const Control control(path);
    control.wait_for([](const auto& now) { return now["counters"]["frames"] > 5; });
    answers.push_back(control.ask("{}"));
    answers.push_back(control.ask("{\"recording\":true}"));
    control.wait_for([](const auto& now) { return now["counters"]["recording"]["frames"] > 5; });
    answers.push_back(control.ask("{\"recording\":false}"));
    answers.push_back(control.ask("{\"recording\":1}"));
    ::kill(program, SIGINT);
  };
  const ProgramResult result = run({"run", live(), "-o", "null", "--control", "control", "--record",
                                    "rec.mkv", "--record-standby"});
  EXPECT_EQ(result.exit_code, 130) << result.err;
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(answers[0]["state"]["recording"], false);
  EXPECT_EQ(answers[0]["counters"]["recording"]["files"], 0);
  EXPECT_EQ(answers[1]["state"]["recording"], true);
  EXPECT_EQ(answers[2]["state"]["recording"], false);
  EXPECT_THAT(answers[3].value("error", ""), HasSubstr("recording is 1, must be true or false"));
  EXPECT_THAT(recordings(), ElementsAre("rec-00001.mkv"));
  EXPECT_GT(decode(folder_ / "rec-00001.mkv").size(), 5U);
}

TEST_F(RecordTest, AFailureIsToldToThoseWhoAsk) {
  nlohmann::json last;
  options_.meanwhile = [&](int program) {
    const Control control(folder_ / "control");
    control.wait_for([&](const auto& now) {
      last = now;
      return now["counters"]["recording"].contains("failure");
    });
    ::kill(program, SIGINT);
  };
  const FileSizeLimit limit(40'000);
  const ProgramResult result = run({"run", live(), "-o", "null", "--control", "control", "--record",
                                    "rec.mkv", "--record-original", "--lossless"});
  EXPECT_EQ(result.exit_code, 74) << result.err;
  EXPECT_THAT(last["counters"]["recording"].value("failure", ""), HasSubstr("rec-"));
  EXPECT_EQ(last["state"]["recording"], false);
}

TEST_F(RecordTest, WhatIsWrongIsSaidBeforeAnyFrame) {
  const auto refusal = [&](std::vector<std::string> arguments, int code, const std::string& text) {
    arguments.insert(arguments.begin(), {"run", "test:64x48@25", "-o", "null", "--frames", "2"});
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
    EXPECT_THAT(folder_.names(), ElementsAre());
  };
  refusal({"--record", "rec.avi"}, 2, "--record is 'rec.avi', must be a file .mkv, .mp4");
  refusal({"--record", "window"}, 2, "--record is 'window', must be a file .mkv, .mp4");
  refusal({"--record", "no/rec.mkv"}, 73, "no/rec-00001.mkv: its folder does not exist");
  refusal({"--record", "no/rec.mkv", "--record-standby"}, 73, "its folder does not exist");
  refusal({"--record-split", "10min"}, 2, "must stand with --record FILE");
  refusal({"--record-standby"}, 2, "--record-standby has nothing to record into");
  refusal({"--record-original"}, 2, "--record-original has nothing to record into");
  for (const char* split : {"10", "min", "0s", "-1s", "1s,2s", "1.5h", "10min,", "10 min", "3TB"}) {
    refusal({"--record", "rec.mkv", "--record-split", split}, 2,
            std::string("--record-split is '") + split + "', must be a time, a size or both");
  }
}

TEST_F(RecordTest, AnOutputIsNoFileOfTheRecording) {
  for (const std::string output : {"rec-00001.mkv", "./rec-00001.mkv", "rec-original-00002.mkv"}) {
    const ProgramResult result = run({"run", "test:64x48@25", "-o", output, "--frames", "2",
                                      "--record", "rec.mkv", "--record-original"});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.err, "equalux: output " + output +
                              " has the name of a file of --record rec.mkv, must have another "
                              "name\n");
  }
  EXPECT_THAT(folder_.names(), ElementsAre());
}

}  // namespace
}  // namespace equalux::test

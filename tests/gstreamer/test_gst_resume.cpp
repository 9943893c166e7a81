#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pipelines/core/run.h"
#include "pipelines/files/y4m.h"
#include "pipelines/gstreamer/decode/file_source.h"
#include "pipelines/gstreamer/encode/file_sink.h"
#include "tests/gstreamer/video_files.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/sample_media.h"
#include "tests/support/media/y4m_streams.h"

/// File sinks that are left in the middle and gone on with.
namespace equalux::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

struct ResumedSink : ::testing::Test {
  TempFolder folder;
  std::vector<Checkpoint> checkpoints;

  void SetUp() override {
    if (!have_ffmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  }

  /// Copies `input`; ends as a killed process where `frames` are through, 0 = never.
  RunResult write(const std::string& input, const std::string& output, std::uint64_t frames = 0,
                  const std::string& encoder = "x264") {
    FileSinkOptions options;
    options.path = output;
    options.encoder = encoder;
    options.drop_streams = true;
    options.journal = output + ".packets";
    RunOptions run_options;
    run_options.checkpoint_every = 12;
    if (!checkpoints.empty() && frames == 0) {
      run_options.resume_from = checkpoints.back();
      options.resume = checkpoints.back().sink;
    }
    run_options.on_checkpoint = [this](const Checkpoint& made) { checkpoints.push_back(made); };
    StopToken stop;
    run_options.on_result = [&](const Frame& frame) {
      if (frames > 0 && frame.index + 1 == frames) stop.signal = SIGTERM;
    };
    const auto source = make_file_source(input);
    const auto sink = make_file_sink(options);
    const auto processor = make_cpu_processor({}, 1);
    return run(*source, *processor, *sink, run_options, stop);
  }

  /// A file that was left once has the bytes of one that was not.
  void expect_same(const std::string& input, const std::string& extension,
                   const std::string& encoder = "x264") {
    SCOPED_TRACE(extension + " by " + encoder);
    const std::string whole = folder / ("whole" + extension);
    const std::string resumed = folder / ("resumed" + extension);
    checkpoints.clear();
    const ExitCode code = write(input, whole, 0, encoder).code;
    ASSERT_TRUE(code == ExitCode::done || code == ExitCode::partial);
    checkpoints.clear();
    const RunResult stopped = write(input, resumed, 30, encoder);
    ASSERT_TRUE(stopped.suspended);
    ASSERT_FALSE(checkpoints.empty());
    EXPECT_GE(frames_of(partial_of(resumed)), 30) << "what is left can be played";
    EXPECT_FALSE(std::filesystem::exists(resumed));
    ASSERT_EQ(write(input, resumed, 0, encoder).code, code);
    EXPECT_TRUE(read_file(whole) == read_file(resumed)) << "other bytes";
    std::filesystem::remove(whole);
    std::filesystem::remove(resumed);
    for (const std::string& left : folder.names()) {
      EXPECT_THAT(left, Not(HasSubstr("partial")));
      EXPECT_THAT(left, Not(HasSubstr("packets")));
    }
  }
  static int frames_of(const std::string& path) {
    const nlohmann::json json =
        ffprobe("-count_frames -select_streams v:0 -show_entries stream=nb_read_frames", path);
    return std::stoi(json.at("streams").at(0).at("nb_read_frames").get<std::string>());
  }
  static std::string partial_of(const std::string& path) {
    const std::filesystem::path file(path);
    return (file.parent_path() / file.stem()).string() + ".partial" + file.extension().string();
  }
};

TEST_F(ResumedSink, HasTheBytesOfOneThatWasLeftAlone) {
  const bool full = wants_every_count();
  const std::string mkv = folder / "in.mkv";
  make_rich_mkv(folder, mkv);
  expect_same(mkv, ".mkv");
  const std::string mp4 = folder / "in.mp4";
  make_rich_mp4(folder, mp4);
  expect_same(mp4, ".mp4");
  if (!full) return;
  const std::string variable = folder / "variable.mp4";
  make_variable_rate_mp4(variable);
  for (const std::string extension : {".mp4", ".mov", ".mkv"})
    expect_same(variable, extension);
  for (const std::string encoder : {"x265", "vp9", "ffv1", "mjpeg"})
    expect_same(mp4, ".mkv", encoder);
  expect_same(mkv, ".webm", "vp9");
}

/// VP9 has a second packet of it beside each of the colours.
TEST_F(ResumedSink, KeepsTransparency) {
  const std::string input = folder / "in.mkv";
  ffmpeg(
      "-f lavfi -i \"testsrc2=s=64x48:r=25,format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':"
      "a='mod(X*4+Y*3+N*5,256)'\" -frames:v 50 -c:v ffv1 -pix_fmt yuva420p '" +
      input + "'");
  expect_same(input, ".webm", "vp9");
  expect_same(input, ".mkv", "ffv1");

  // What lies beside a packet is looked at as well.
  const std::string output = folder / "out.webm";
  checkpoints.clear();
  ASSERT_TRUE(write(input, output, 30, "vp9").suspended);
  const nlohmann::json packets =
      ffprobe("-select_streams v -show_packets", partial_of(output)).at("packets");
  const std::string second = packets.at(1).at("pos");
  const auto size = std::stoul(packets.at(1).at("size").get<std::string>());
  std::string bytes = read_file(partial_of(output));
  bytes.at(std::stoul(second) + size + 40) ^= 4;
  std::ofstream(partial_of(output), std::ios::binary) << bytes;
  EXPECT_THROW(write(input, output, 0, "vp9"), CannotResume);
}

TEST_F(ResumedSink, TakesUpATakeOverThatWasKilled) {
  const std::string input = folder / "in.mp4";
  make_clip(input, "-c:v libx264 -pix_fmt yuv420p");
  const std::string output = folder / "out.mp4";
  ASSERT_TRUE(write(input, output, 30).suspended);
  const std::vector<Checkpoint> place = checkpoints;
  // As it is after the file was set aside and a few packets were copied.
  std::filesystem::rename(partial_of(output), folder / "out.partial.before.mp4");
  std::filesystem::copy_file(folder / "out.partial.before.mp4", partial_of(output));
  std::filesystem::resize_file(partial_of(output), 2000);
  EXPECT_EQ(write(input, output).code, ExitCode::done);
  EXPECT_EQ(decoded_frames(output), decoded_frames(input));
  EXPECT_THAT(folder.names(), UnorderedElementsAre("in.mp4", "out.mp4"));
}

TEST_F(ResumedSink, RefusesWhatIsNotWhatWasWritten) {
  const std::string input = folder / "in.mp4";
  make_clip(input, "-c:v libx264 -pix_fmt yuv420p");
  const std::string output = folder / "out.mkv";
  const auto left = [&] {
    checkpoints.clear();
    EXPECT_TRUE(write(input, output, 30).suspended);
  };
  left();
  std::string bytes = read_file(partial_of(output));
  // In the first picture: other bytes may be the sound's, which is copied again.
  const std::size_t text = bytes.find("x264 - core");
  ASSERT_NE(text, std::string::npos);
  bytes[text] ^= 4;
  std::ofstream(partial_of(output), std::ios::binary) << bytes;
  EXPECT_THROW(write(input, output), CannotResume);
  left();
  std::filesystem::remove(output + ".packets");
  EXPECT_THROW(write(input, output), CannotResume);
  for (const char* note : {"{", "[]", R"({"packets":"many","codec-data":[]})", R"({"packets":12})",
                           R"({"packets":12,"codec-data":[{}]})",
                           R"({"packets":461168601842738791,"codec-data":[]})"}) {
    left();
    checkpoints.back().sink = note;
    EXPECT_THROW(write(input, output), CannotResume) << note;
  }
  left();
  std::filesystem::remove(partial_of(output));
  std::filesystem::remove(folder / "out.partial.before.mkv");
  EXPECT_THROW(write(input, output), CannotResume);
}

/// A bit rate that an encoder allows itself by default would not hold the quality that is asked
/// for.
TEST_F(ResumedSink, QualityIsNotBoundByABitRate) {
  const std::string input = folder / "noise.y4m";
  const ImageDesc desc = desc_of(PixelFormat::i420, 320, 240);
  std::ofstream(input, std::ios::binary) << make_stream("W320 H240 F25:1 C420jpeg", desc, 25);
  FileSinkOptions options;
  options.path = folder / "noise.mkv";
  const auto source = make_y4m_source(input);
  const auto sink = make_file_sink(options);
  EXPECT_EQ(copy_frames(*source, *sink), 25U);
  sink->finish(Ending::complete);
  EXPECT_GT(std::filesystem::file_size(options.path), 1'000'000U) << "of one second";
}

}  // namespace
}  // namespace equalux::test

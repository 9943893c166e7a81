#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipelines/container/output/writer.h"
#include "tests/support/media/sample_media.h"

namespace equalux {
namespace {

using test::TempFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class ContainerFailures : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  }
  TempFolder folder_;
};

/// How many packets a stream holds.
std::size_t packet_count(const std::string& path, int stream) {
  return test::ffprobe("-show_packets -select_streams " + std::to_string(stream), path)["packets"]
      .size();
}

/// The line that `check` ends with.
std::string refusal(const ContainerWriterOptions& options, const std::string& codec,
                    ExitCode code) {
  try {
    make_container_writer(options)->check(codec);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "accepted";
}

/// Writes a mov with video, sound and a track of metadata as phones record it: a second sound track
/// whose kind is renamed in the head.
void write_phone_clip(const std::string& path) {
  test::ffmpeg(
      "-f lavfi -i testsrc=s=64x48:r=25:d=0.4 -f lavfi -i sine=d=0.4 -f lavfi -i sine=d=0.4 -map 0 "
      "-map 1 -map 2 -c:v libx264 -c:a aac -f mov '" +
      path + "'");
  std::string bytes = test::read_file(path);
  const std::size_t track = bytes.rfind("trak");
  const auto rename = [&](const char* within, const char* from, const char* to) {
    const std::size_t at = bytes.find(from, bytes.find(within, track));
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, 4, to);
  };
  rename("hdlr", "soun", "meta");
  rename("minf", "smhd", "gmhd");
  rename("stsd", "mp4a", "mebx");
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST_F(ContainerFailures, DataThatNothingHoldsIsLeftOutAndTold) {
  const std::string in = folder_ / "in.mov";
  write_phone_clip(in);
  for (const char* name : {"out.mp4", "out.mov", "out.mkv"}) {
    const auto writer = make_container_writer({folder_ / name, in, false});
    writer->check("h264");
    EXPECT_THAT(writer->dropped_streams(), ElementsAre("stream 2 (data, unknown)")) << name;
  }
  // Other streams are refused as ever, and the advice does not mind the data.
  EXPECT_THAT(refusal({folder_ / "out.webm", in, false}, "vp9", ExitCode::usage),
              AllOf(HasSubstr("stream 1 (audio, aac) does not fit in webm"),
                    HasSubstr("use .mkv, or --drop-streams")));
}

TEST_F(ContainerFailures, RefusesWhatTheContainerCannotHold) {
  const std::string in = folder_ / "in.mkv";
  test::make_rich_mkv(folder_, in);
  const auto before = folder_.names();
  EXPECT_THAT(refusal({folder_ / "out.mp4", in, false}, "h264", ExitCode::usage),
              AllOf(HasSubstr("stream 3 (subtitle, subrip) does not fit in mp4"),
                    HasSubstr("use .mkv, or --drop-streams")));
  EXPECT_THAT(refusal({folder_ / "out.mov", in, false}, "h264", ExitCode::usage),
              HasSubstr("stream 2 (audio, opus) does not fit in mov"));
  EXPECT_THAT(refusal({folder_ / "out.mov", "", false}, "vp9", ExitCode::usage),
              HasSubstr("use .mkv or .mp4"));
  EXPECT_THAT(refusal({folder_ / "out.webm", in, false}, "vp9", ExitCode::usage),
              AllOf(HasSubstr("stream 1 (audio, aac) does not fit in webm"),
                    HasSubstr("use .mkv, or --drop-streams")));
  EXPECT_THAT(refusal({folder_ / "out.webm", "", false}, "h264", ExitCode::usage),
              HasSubstr("a h264 video does not fit in webm; use .mkv"));
  EXPECT_THAT(refusal({folder_ / "out.mkv", in, false}, "h264", ExitCode::usage), "accepted");
  EXPECT_EQ(folder_.names(), before);

  const auto writer = make_container_writer({folder_ / "out.mp4", in, true});
  writer->check("h264");
  EXPECT_THAT(writer->dropped_streams(),
              ElementsAre("stream 3 (subtitle, subrip)", "stream 4 (attachment, unknown)"));
  const test::EncodedVideo video = test::read_video(in);
  writer->start(video.format);
  test::feed(*writer, video);
  writer->finish(false);
  EXPECT_EQ(packet_count(folder_ / "out.mp4", 2), packet_count(in, 2));
}

TEST_F(ContainerFailures, RefusesItsOwnInputAndBadNames) {
  const std::string in = folder_ / "in.mp4";
  test::make_clip(in, "-c:v libx264 -preset ultrafast -c:a aac");
  std::filesystem::create_symlink(in, folder_ / "link.mp4");
  EXPECT_THAT(refusal({in, in, false}, "h264", ExitCode::usage), HasSubstr("the input itself"));
  EXPECT_THAT(refusal({folder_ / "link.mp4", in, false}, "h264", ExitCode::usage),
              HasSubstr("the input itself"));
  std::filesystem::copy(in, folder_ / "take.partial.mp4");
  EXPECT_THAT(
      refusal({folder_ / "take.mp4", folder_ / "take.partial.mp4", false}, "h264", ExitCode::usage),
      HasSubstr("the input itself"));
  EXPECT_THAT(refusal({folder_ / "no/such/out.mp4", in, false}, "h264", ExitCode::cannot_create),
              HasSubstr("folder does not exist"));
  // The finished mp4 is made beside the partial file, under a longer name.
  const std::string longest = folder_ / std::string(235, 'a') + ".mp4";
  EXPECT_THAT(refusal({longest, in, false}, "h264", ExitCode::cannot_create), "accepted");
  EXPECT_THAT(refusal({folder_ / std::string(236, 'a') + ".mp4", in, false}, "h264",
                      ExitCode::cannot_create),
              HasSubstr("name is too long, must have at most 239 bytes"));
  EXPECT_THROW((void)make_container_writer({folder_ / "out.xyz", in, false}), Error);
  EXPECT_THROW((void)make_container_writer({folder_ / "out", in, false}), Error);
}

TEST_F(ContainerFailures, AbandonLeavesNothing) {
  const std::string in = folder_ / "in.mp4";
  test::make_clip(in, "-c:v libx264 -preset ultrafast -c:a aac");
  const auto before = folder_.names();
  const test::EncodedVideo video = test::read_video(in);
  for (const char* name : {"out.mp4", "out.mkv"}) {
    const auto writer = make_container_writer({folder_ / name, in, false});
    writer->start(video.format);
    test::feed(*writer, video, 0, 30);
    EXPECT_NE(folder_.names(), before);
    writer->abandon();
    EXPECT_EQ(folder_.names(), before) << name;
  }
}

TEST_F(ContainerFailures, PicturesWithoutTimesAreNoResult) {
  const std::string in = folder_ / "in.mp4";
  test::make_clip(in, "-c:v libx264 -preset ultrafast -c:a aac");
  const auto before = folder_.names();
  test::EncodedVideo video = test::read_video(in);
  for (auto& packet : video.packets)
    packet.pts_ns = packet.dts_ns = 0;
  for (const char* name : {"out.mp4", "out.mkv"}) {
    const auto writer = make_container_writer({folder_ / name, in, false});
    writer->start(video.format);
    test::feed(*writer, video);
    try {
      writer->finish(false);
      ADD_FAILURE() << name << " is done";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::write_failed);
      EXPECT_THAT(error.what(), HasSubstr("have no times"));
    }
    writer->abandon();
    EXPECT_EQ(folder_.names(), before) << name;
  }
}

/// Runs `work` in a process of its own; returns how that ended.
template <typename Work>
int in_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      work();
    } catch (const Error& error) {
      ::_exit(static_cast<int>(error.code()));
    } catch (...) {
      ::_exit(99);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(ContainerFailures, AnInputThatIsCutOffMeanwhileIsNoFaultOfTheDisk) {
  const std::string in = folder_ / "in.mp4";
  test::make_clip(in, "-c:v libx264 -preset ultrafast -c:a aac");
  const auto writer = make_container_writer({folder_ / "out.mp4", in, false});
  writer->check("h264");
  const test::EncodedVideo video = test::read_video(in);
  writer->start(video.format);
  test::feed(*writer, video);
  std::filesystem::resize_file(in, std::filesystem::file_size(in) / 2);
  try {
    writer->finish(false);
    ADD_FAILURE() << "it was finished";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input) << error.what();
    EXPECT_THAT(error.what(), AllOf(HasSubstr("in.mp4: cannot be read, it is cut off"),
                                    HasSubstr("out.partial.mp4 is left, whole and playable")));
  }
  writer->abandon();
  EXPECT_GT(packet_count(folder_ / "out.partial.mp4", 0), 0U);
}

TEST_F(ContainerFailures, AKillLeavesAPlayablePartialFile) {
  for (const auto& [in, out] : {std::pair{"in.mp4", "out.partial.mp4"},
                                {"in.mkv", "out.partial.mkv"},
                                {"in.webm", "out.partial.webm"}}) {
    const std::string input = folder_ / in;
    if (std::string(in) == "in.mp4") {
      test::make_rich_mp4(folder_, input);
    } else if (std::string(in) == "in.webm") {
      test::ffmpeg("-i '" + folder_ / "in.mkv" +
                   "' -map 0:v:0 -map 0:a:1 -c:v libvpx-vp9 -deadline realtime -cpu-used 8 "
                   "-c:a copy '" +
                   input + "'");
    } else {
      test::make_rich_mkv(folder_, input);
    }
    const std::string extension = std::filesystem::path(in).extension();
    const test::EncodedVideo video = test::read_video(input);
    const int status = in_child([&] {
      const auto writer = make_container_writer({folder_ / ("out" + extension), input, false});
      writer->start(video.format);
      test::feed(*writer, video, 0, 75);
      ::kill(::getpid(), SIGKILL);
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_THAT(folder_.names(), testing::Not(testing::Contains("out" + extension)));
    // Of 2.5 s at most the last second is lost.
    EXPECT_GE(test::decoded_frames(folder_ / out), 44) << out;
    EXPECT_GT(packet_count(folder_ / out, 1), 30U) << out;
  }
}

/// Writes a clip in a process whose files may have `most` bytes; returns how that ended.
int write_with_room(const ContainerWriterOptions& options, const test::EncodedVideo& video,
                    rlim_t most) {
  return in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{most, most};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto writer = make_container_writer(options);
    writer->check("h264");
    try {
      writer->start(video.format);
      test::feed(*writer, video);
      writer->finish(false);
    } catch (...) {
      writer->abandon();
      throw;
    }
  });
}

TEST_F(ContainerFailures, AFullDiskIsFoundAndNothingGetsTheFinalName) {
  const std::string in = folder_ / "in.mkv";
  test::ffmpeg(
      "-f lavfi -i testsrc2=s=320x240:r=30:d=4 -f lavfi -i sine=d=4 -c:v libx264 "
      "-preset ultrafast -qp 10 -c:a aac '" +
      in + "'");
  const test::EncodedVideo video = test::read_video(in);
  const auto size = std::filesystem::file_size(in);
  for (const char* name : {"out.mp4", "out.mkv"}) {
    for (const unsigned percent : {1U, 30U, 99U}) {
      const int status = write_with_room({folder_ / name, in, false}, video, size * percent / 100);
      ASSERT_TRUE(WIFEXITED(status)) << name << " " << percent;
      EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(ExitCode::write_failed))
          << name << " " << percent;
      EXPECT_FALSE(std::filesystem::exists(folder_ / name)) << name << " " << percent;
    }
  }
}

TEST_F(ContainerFailures, AFullDiskLeavesWhatWasAskedToStay) {
  const std::string in = folder_ / "in.mkv";
  test::ffmpeg(
      "-f lavfi -i testsrc2=s=320x240:r=30:d=4 -c:v libx264 -g 15 -preset ultrafast -qp 10 '" + in +
      "'");
  const test::EncodedVideo video = test::read_video(in);
  const auto write = [&](const std::string& name, rlim_t most) {
    return write_with_room({folder_ / name, "", false, true}, video, most);
  };
  for (const std::string extension : {".mp4", ".mkv"}) {
    ASSERT_EQ(write("whole" + extension, RLIM_INFINITY), 0);
    const auto whole = std::filesystem::file_size(folder_ / ("whole" + extension));
    // Half way; and where only the file's end has no room.
    for (const auto& [most, packets] : {std::pair(whole / 2, 30U), std::pair(whole - 10, 119U)}) {
      const int status = write("out" + extension, most);
      ASSERT_TRUE(WIFEXITED(status)) << extension << " " << most;
      EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(ExitCode::write_failed)) << extension;
      EXPECT_FALSE(std::filesystem::exists(folder_ / ("out" + extension)));
      EXPECT_GE(packet_count(folder_ / ("out.partial" + extension), 0), packets) << extension;
    }
  }
}

}  // namespace
}  // namespace equalux

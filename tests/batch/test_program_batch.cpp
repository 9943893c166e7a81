#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "pipelines/files/partial_file.h"
#include "src/common/json_text.h"
#include "tests/support/as_nobody.h"
#include "tests/support/program.h"

/// `equalux batch` as a user runs it, over what every build has.
namespace equalux::test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct BatchCommand : ::testing::Test {
  TempFolder folder;
  ProgramOptions options;

  BatchCommand() { options.folder = folder.path(); }
  ProgramResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "batch");
    return run_program(arguments, options);
  }
  void write_set(int files) {
    for (int i = 0; i < files; ++i)
      folder.write("set/c" + std::to_string(i) + ".y4m", dim_y4m(32, 24, 6 + i));
  }
  [[nodiscard]] nlohmann::json report(const std::string& name = "out/report.json") const {
    return parse_json(folder.read(name));
  }
  [[nodiscard]] std::vector<std::string> statuses() const {
    std::vector<std::string> all;
    const nlohmann::json json = report();
    for (const auto& file : json.at("files"))
      all.push_back(file.at("status"));
    return all;
  }
};

/// A result must not be written where another one keeps its partial file, now or in a later batch.
TEST_F(BatchCommand, NamesOfFilesThatAreBeingWrittenAreRefused) {
  for (const char* name : {"a.partial.y4m", "a.partial.closing.mp4", "a.partial.before.mkv"}) {
    folder.write(name, dim_y4m(32, 24, 4));
    const ProgramResult result = run({name, "--out", "out"});
    EXPECT_EQ(result.exit_code, 2) << name << result.err;
    EXPECT_THAT(lines_of(result.err),
                ElementsAre(HasSubstr(std::string("would be out/") + name +
                                      ", the name of a file that is being written")));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "out")) << name;
  }
  folder.write("list.txt", "a.partial.y4m\ta.y4m\n");
  EXPECT_EQ(run({"--manifest", "list.txt", "--out", "out"}).exit_code, 0);
}

TEST_F(BatchCommand, ClipsOfBeforeAndAfterAreClips) {
  for (const char* name : {"polyp.y4m", "polyp.before.y4m", "polyp.closing.y4m"})
    folder.write(std::string("set/") + name, dim_y4m(32, 24, 4));
  folder.write("set/polyp.partial.y4m", "x");
  folder.write("set/polyp.partial.before.y4m", "x");
  folder.write("set/polyp.partial.closing.y4m", "x");
  const ProgramResult result = run({"set", "--out", "out"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(statuses(), std::vector<std::string>(3, "done"));
  EXPECT_THAT(result.err,
              HasSubstr("half-written results: 3 (set/polyp.partial.before.y4m and others)"));
}

TEST_F(BatchCommand, ACurveOfAFilterThatHasChangedMakesTheResultAgain) {
  write_set(1);
  const auto make_curve = [&](const char* clip, const char* strength) {
    const ProgramResult made = run(
        {clip, "--curve-to", "st.json", "--preset", "plain", "--strength", strength, "--quiet"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  };
  make_curve("set/c0.y4m", "1");
  const std::vector<std::string> filter{
      "set", "--out", "out", "--preset", "plain", "--filter", "equalize:curve-from=st.json"};
  ASSERT_EQ(run(filter).exit_code, 0);
  const std::string first = folder.read("out/c0.y4m");
  ASSERT_EQ(run(filter).exit_code, 0);
  EXPECT_THAT(statuses(), ElementsAre("skipped"));
  make_curve("set/c0.y4m", "0.25");
  ASSERT_EQ(run(filter).exit_code, 0);
  EXPECT_THAT(statuses(), ElementsAre("done"));
  EXPECT_NE(folder.read("out/c0.y4m"), first);
}

TEST_F(BatchCommand, HashesAreThoseOfTheResultThatIsThere) {
  folder.write("c.y4m", dim_y4m(32, 24, 9));
  ASSERT_EQ(run({"c.y4m", "--out", "out", "--verify=first.md5"}).exit_code, 0);
  folder.write("c.y4m", dim_y4m(32, 24, 4));
  ASSERT_EQ(run({"c.y4m", "--out", "out"}).exit_code, 0);
  ASSERT_EQ(run({"c.y4m", "--out", "out", "--verify=again.md5"}).exit_code, 0);
  folder.write("d.y4m", dim_y4m(32, 24, 4));
  ASSERT_EQ(run({"d.y4m", "--out", "fresh", "--verify=fresh.md5"}).exit_code, 0);
  EXPECT_EQ(folder.read("again.md5"), folder.read("fresh.md5"));
}

TEST_F(BatchCommand, ACurveOfAllFilesHasNoShards) {
  write_set(2);
  const ProgramResult result = run({"set", "--curve-to", "st.json", "--shard", "0/2"});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("must stand without --shard"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "st.json"));
}

TEST_F(BatchCommand, ReportsEveryFile) {
  write_set(2);
  folder.write("set/bad.y4m", "YUV4MPEG2 nonsense\n");
  const std::string whole = dim_y4m(32, 24, 9);
  folder.write("set/short.y4m", whole.substr(0, whole.size() - 100));
  const ProgramResult result = run({"set", "--out", "out", "--strength", "0.5"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(statuses(), ElementsAre("failed", "done", "done", "partial"));
  const nlohmann::json json = report();
  EXPECT_EQ(json.at("program"), "equalux");
  EXPECT_FALSE(json.at("version").get<std::string>().empty());
  EXPECT_EQ(json.at("parameters").at("strength"), "0.5");
  EXPECT_EQ(json.at("parameters").at("temporal-ms"), "2000") << "of the preset";
  const nlohmann::json& done = json.at("files").at(2);
  EXPECT_EQ(done.at("input"), "set/c1.y4m");
  EXPECT_EQ(done.at("output"), "out/c1.y4m");
  EXPECT_EQ(done.at("frames_in"), 7);
  EXPECT_EQ(done.at("frames_out"), 7);
  EXPECT_NEAR(done.at("duration_s"), 7.0 / 25, 1e-9);
  EXPECT_GT(done.at("fps"), 0);
  EXPECT_EQ(done.at("input_md5").get<std::string>().size(), 32U);
  EXPECT_FALSE(done.contains("error"));
  const nlohmann::json& bad = json.at("files").at(0);
  EXPECT_EQ(bad.at("exit_code"), 65);
  EXPECT_THAT(bad.at("error").get<std::string>(), HasSubstr("bad.y4m"));
  EXPECT_EQ(json.at("files").at(3).at("frames_out"), 8);
  EXPECT_THAT(result.err, HasSubstr("2 done, 1 partial, 1 failed"));
#ifdef EQUALUX_HAVE_OPENCV
  // Three pairs of stills, two in a row.
  const std::string png = folder.read("out/contact-sheet.png");
  ASSERT_GT(png.size(), 24U);
  EXPECT_EQ(png.substr(1, 3), "PNG");
  EXPECT_EQ(png.substr(16, 8), std::string("\0\0\x03\xe4\0\0\x01\xb8", 8)) << "996 x 440";
#endif
}

TEST_F(BatchCommand, FilesThatFailAlikeAreTheBatchsFailure) {
  folder.write("a.y4m", "YUV4MPEG2 nonsense\n");
  EXPECT_EQ(run({"a.y4m", "--out", "out"}).exit_code, 65);
  EXPECT_EQ(run({"none.y4m", "--out", "out"}).exit_code, 66);
  EXPECT_EQ(run({"a.y4m", "none.y4m", "--out", "out"}).exit_code, 3);
}

#ifdef EQUALUX_HAVE_GSTREAMER
TEST_F(BatchCommand, AnEncoderThatIsNotThereIsToldOnce) {
  write_set(3);
  std::filesystem::create_directories(folder.path() / "plugins");
  options.environment = {{"GST_PLUGIN_SYSTEM_PATH_1_0", folder / "plugins"},
                         {"GST_PLUGIN_PATH", ""},
                         {"GST_REGISTRY_1_0", folder / "registry"}};
  const ProgramResult result = run({"set", "--out", "out", "--extension", "mkv"});
  EXPECT_EQ(result.exit_code, 69) << result.err;
  EXPECT_THAT(lines_of(result.err), ElementsAre(HasSubstr("GStreamer has no element x264enc")));
  // What is not encoded needs none.
  EXPECT_EQ(run({"set", "--out", "out"}).exit_code, 0);
}
#endif

TEST_F(BatchCommand, APictureForTheContactSheetThatCannotBeMadeCostsNoFile) {
  write_set(2);
  std::filesystem::create_directories(folder.path() / "out/.equalux/c1.y4m.ppm");
  const ProgramResult result = run({"set", "--out", "out"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(statuses(), Each("done"));
  EXPECT_THAT(result.err, HasSubstr("c1.y4m: has no picture for the contact sheet"));
}

/// Two studies with the same names.
struct TwoStudies : BatchCommand {
  TwoStudies() {
    folder.write("day1/c.y4m", dim_y4m(32, 24, 6));
    folder.write("day2/c.y4m", dim_y4m(32, 24, 4));
  }
  void expect_refused(const std::string& why, std::vector<std::string> more = {}) {
    const std::vector<std::string> before = folder.names();
    const std::string result = folder.read("out/c.y4m");
    const std::string notes = folder.read("out/.equalux/c.y4m.json");
    more.insert(more.begin(), {"day2", "--out", "out", "--quiet"});
    const ProgramResult refused = run(more);
    EXPECT_EQ(refused.exit_code, 73) << refused.err;
    EXPECT_THAT(lines_of(refused.err), ElementsAre(HasSubstr(why)));
    EXPECT_THAT(refused.err, HasSubstr("-y replaces it"));
    EXPECT_TRUE(folder.read("out/c.y4m") == result);
    EXPECT_EQ(folder.read("out/.equalux/c.y4m.json"), notes);
    for (const std::string& name : before)
      EXPECT_THAT(folder.names(), Contains(name));
  }
};

TEST_F(TwoStudies, TheSecondReplacesNothingUnlessAsked) {
  ASSERT_EQ(run({"day1", "--out", "out"}).exit_code, 0);
  expect_refused("output out/c.y4m is there already, the result of " + folder / "day1/c.y4m");
  expect_refused("output out/c.y4m is there already", {"--strength", "0.5"});
  EXPECT_EQ(run({"day1", "--out", "out"}).exit_code, 0);
  EXPECT_THAT(statuses(), ElementsAre("skipped"));
  folder.write("day2/d.y4m", dim_y4m(32, 24, 5));
  EXPECT_EQ(run({"day2", "--out", "out"}).exit_code, 3);
  EXPECT_THAT(statuses(), ElementsAre("failed", "done"));
  const ProgramResult dry = run({"day2", "--out", "out", "--dry-run"});
  EXPECT_THAT(lines_of(dry.out), Contains(::testing::AllOf(::testing::StartsWith("refuse"),
                                                           HasSubstr("is there already"))));
  const ProgramResult asked = run({"day2", "--out", "out", "-y"});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_THAT(statuses(), ElementsAre("done", "skipped"));
  EXPECT_EQ(run({"day2", "--out", "out"}).exit_code, 0);
  EXPECT_THAT(statuses(), Each("skipped"));
  EXPECT_EQ(run({"day1", "--out", "out", "-n"}).exit_code, 73);
}

TEST_F(TwoStudies, ACopyIsTheSameInput) {
  ASSERT_EQ(run({"day1", "--out", "out"}).exit_code, 0);
  std::filesystem::rename(folder / "day1", folder / "archive");
  EXPECT_EQ(run({"archive", "--out", "out"}).exit_code, 0);
  EXPECT_THAT(statuses(), ElementsAre("skipped"));
  EXPECT_EQ(run({"archive", "--out", "out", "--strength", "0.5"}).exit_code, 0);
  EXPECT_THAT(statuses(), ElementsAre("done"));
}

TEST_F(TwoStudies, AFileThatNoBatchMadeIsKept) {
  folder.write("out/c.y4m", "a report of somebody");
  expect_refused("output out/c.y4m is there already, and nothing tells that a batch made it");
  const ProgramResult asked = run({"day2", "--out", "out", "--overwrite"});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_EQ(report().at("files").at(0).at("frames_out"), 4);
}

TEST_F(TwoStudies, WhatIsNotFinishedIsKeptToo) {
  ASSERT_EQ(run({"day1", "--out", "out"}).exit_code, 0);
  std::filesystem::rename(folder / "out/c.y4m", folder / "out/c.partial.y4m");
  expect_refused("output out/c.y4m is the unfinished result of " + folder / "day1/c.y4m");
}

/// Versions before did not note the input's name.
TEST_F(TwoStudies, NotesOfEarlierVersionsNameTheInputByItsMd5) {
  ASSERT_EQ(run({"day1", "--out", "out"}).exit_code, 0);
  nlohmann::json notes = parse_json(folder.read("out/.equalux/c.y4m.json"));
  notes["version"] = 1;
  notes.erase("input");
  folder.write("out/.equalux/c.y4m.json", json_text(notes));
  expect_refused("output out/c.y4m is there already, the result of another input");
  EXPECT_EQ(run({"day1", "--out", "out"}).exit_code, 0);
  EXPECT_THAT(statuses(), ElementsAre("skipped"));
  EXPECT_EQ(run({"day1", "--out", "out", "--strength", "0.5"}).exit_code, 0);
  EXPECT_THAT(statuses(), ElementsAre("done"));
}

TEST_F(BatchCommand, DamagedNotesOfAResultAreNamedAndItIsMadeAgain) {
  write_set(2);
  ASSERT_EQ(run({"set", "--out", "out"}).exit_code, 0);
  const std::string notes = "out/.equalux/c1.y4m.json";
  folder.write(notes, folder.read(notes).substr(0, 40));
  const ProgramResult again = run({"set", "--out", "out"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(statuses(), ElementsAre("skipped", "done"));
  EXPECT_THAT(again.err, HasSubstr(notes + ": is damaged; what it tells of is made again"));
}

TEST_F(BatchCommand, TheSecondTimeEverythingIsThere) {
  write_set(3);
  ASSERT_EQ(run({"set", "--out", "out"}).exit_code, 0);
  const std::string first = folder.read("out/c1.y4m");
  const ProgramResult again = run({"set", "--out", "out"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(statuses(), Each("skipped"));
  EXPECT_EQ(report().at("files").at(1).at("frames_out"), 7);
  EXPECT_THAT(again.err, HasSubstr("3 skipped"));

  std::filesystem::resize_file(folder.path() / "out/c1.y4m", first.size() - 1000);
  const ProgramResult damaged = run({"set", "--out", "out"});
  EXPECT_EQ(damaged.exit_code, 0) << damaged.err;
  EXPECT_THAT(statuses(), ElementsAre("skipped", "done", "skipped"));
  EXPECT_EQ(folder.read("out/c1.y4m"), first);

  std::filesystem::remove(folder.path() / "out/c2.y4m");
  folder.write("set/c0.y4m", dim_y4m(32, 24, 12));
  EXPECT_EQ(run({"set", "--out", "out"}).exit_code, 0);
  EXPECT_THAT(statuses(), ElementsAre("done", "skipped", "done"));
  EXPECT_EQ(report().at("files").at(0).at("frames_out"), 12);
}

TEST_F(BatchCommand, OtherParametersMakeOtherResults) {
  write_set(1);
  ASSERT_EQ(run({"set", "--out", "out"}).exit_code, 0);
  const std::string first = folder.read("out/c0.y4m");
  EXPECT_EQ(run({"set", "--out", "out", "--strength", "0.3"}).exit_code, 0);
  EXPECT_THAT(statuses(), ElementsAre("done"));
  EXPECT_NE(folder.read("out/c0.y4m"), first);
  EXPECT_EQ(run({"set", "--out", "out", "--strength", "0.3", "--jobs", "2", "--quiet"}).exit_code,
            0);
  EXPECT_THAT(statuses(), ElementsAre("skipped")) << "jobs change no result";
}

TEST_F(BatchCommand, DamagedRecordsAreAsNone) {
  write_set(1);
  ASSERT_EQ(run({"set", "--out", "out"}).exit_code, 0);
  for (const char* text : {"{", "{\"status\": {}, \"of\": null}"}) {
    folder.write("out/.equalux/c0.y4m.json", text);
    EXPECT_EQ(run({"set", "--out", "out"}).exit_code, 0) << text;
    EXPECT_THAT(statuses(), ElementsAre("done")) << text;
  }
}

TEST_F(BatchCommand, SeveralAtOnceGiveTheSameAndTheirHashesDoNotMix) {
  write_set(6);
  ASSERT_EQ(run({"set", "--out", "out", "--verify=one.md5", "--jobs", "1"}).exit_code, 0);
  const ProgramResult result = run({"set", "--out", "four", "--verify", "--jobs", "4"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(report("four/report.json").at("files").size(), 6U);
  for (int i = 0; i < 6; ++i) {
    const std::string name = "/c" + std::to_string(i) + ".y4m";
    EXPECT_EQ(folder.read("out" + name), folder.read("four" + name));
    EXPECT_THAT(result.out, HasSubstr(folder.read("one-" + std::to_string(i + 1) + ".md5")));
  }
  // Of files that are skipped too.
  const ProgramResult skipped = run({"set", "--out", "four", "--verify", "--jobs", "1"});
  for (int i = 0; i < 6; ++i)
    EXPECT_THAT(skipped.out, HasSubstr(folder.read("one-" + std::to_string(i + 1) + ".md5")));
}

TEST_F(BatchCommand, ShardsTogetherAreTheWhole) {
  write_set(5);
  ASSERT_EQ(run({"set", "--out", "whole"}).exit_code, 0);
  options.environment = {{"SLURM_ARRAY_TASK_ID", "1"}};
  ASSERT_EQ(run({"set", "--out", "out", "--shard", "/2"}).exit_code, 0);
  options.environment = {{"JOB_COMPLETION_INDEX", "0"}};
  ASSERT_EQ(run({"set", "--out", "out", "--shard", "/2"}).exit_code, 0);
  for (int i = 0; i < 5; ++i) {
    const std::string name = "/c" + std::to_string(i) + ".y4m";
    EXPECT_EQ(folder.read("out" + name), folder.read("whole" + name));
  }
  EXPECT_EQ(report("out/report-0-of-2.json").at("files").size(), 3U);
  EXPECT_EQ(report("out/report-1-of-2.json").at("files").size(), 2U);
  // Engines may ask for more shares than there are files.
  EXPECT_EQ(run({"set", "--out", "out", "--shard", "7/9"}).exit_code, 0);
}

TEST_F(BatchCommand, AManifestNamesInputsAndResults) {
  write_set(2);
  folder.write("lists/list.txt", "# two\n../set/c0.y4m\tfirst/a.y4m\n../set/c1.y4m\n");
  const ProgramResult result = run({"--manifest", "lists/list.txt", "--out", "out"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(folder.names(), Contains("out/first/a.y4m"));
  EXPECT_THAT(folder.names(), Contains("out/c1.y4m"));
}

TEST_F(BatchCommand, WhatIsLeftOutIsSaidAndWhatCannotBeReadMakesItPartial) {
  write_set(1);
  folder.write("set/old.partial.mp4", "x");
  std::filesystem::create_symlink("gone.mp4", folder / "set/broken.mp4");
  const ProgramResult open = run({"set", "--out", "out"});
  EXPECT_EQ(open.exit_code, 0) << open.err;
  EXPECT_THAT(open.err, HasSubstr("half-written results: 1 (set/old.partial.mp4)"));
  EXPECT_THAT(open.err, HasSubstr("links that lead to no file: 1 (set/broken.mp4)"));
  EXPECT_FALSE(report().contains("unreadable"));

  folder.write("set/closed/c.y4m", dim_y4m(32, 24, 4));
  std::filesystem::permissions(folder / "set/closed", std::filesystem::perms(0));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0777));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "out"))
    std::filesystem::permissions(entry.path(), std::filesystem::perms(0777));
  std::filesystem::permissions(folder / "out", std::filesystem::perms(0777));
  ProgramResult closed;
  {
    const AsNobody nobody;
    if (::eaccess(EQUALUX_PROGRAM_FOLDER "/equalux", X_OK) != 0)
      GTEST_SKIP() << "only root may start the program";
    closed = run({"set", "--out", "out", "--quiet"});
  }
  EXPECT_EQ(closed.exit_code, 3) << closed.err;
  EXPECT_THAT(lines_of(closed.err),
              ElementsAre("equalux: set/closed: cannot be read: Permission denied; what it holds "
                          "is not in this batch"));
  EXPECT_EQ(report().at("unreadable").at(0).at("folder"), "set/closed");
  std::filesystem::permissions(folder / "set/closed", std::filesystem::perms(0755));
}

TEST_F(BatchCommand, FailuresAreSaidUnderQuietToo) {
  folder.write("bad.y4m", "YUV4MPEG2 nonsense\n");
  const ProgramResult result = run({"bad.y4m", "--out", "out", "--quiet"});
  EXPECT_EQ(result.exit_code, 65);
  ASSERT_THAT(lines_of(result.err), ::testing::SizeIs(1));
  EXPECT_THAT(result.err, HasSubstr("bad.y4m: failed: "));
}

TEST_F(BatchCommand, ADryRunWritesNothing) {
  write_set(2);
  folder.write("set/bad.y4m", "YUV4MPEG2 nonsense\n");
  const std::vector<std::string> before = folder.names();
  const ProgramResult result = run({"set", "--out", "out", "--dry-run"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(folder.names(), before);
  EXPECT_THAT(result.out, HasSubstr("set/c1.y4m -> out/c1.y4m"));
  EXPECT_THAT(result.out, HasSubstr("3 files, about "));
  EXPECT_THAT(result.out, HasSubstr(" free"));
  EXPECT_THAT(lines_of(result.out), Contains(::testing::StartsWith("fail")));
}

TEST_F(BatchCommand, DevicesThatAreNotThereGiveWayToTheCpu) {
  write_set(2);
  options.environment = {{"CUDA_VISIBLE_DEVICES", "-1"}};
  const ProgramResult result = run({"set", "--out", "out", "--devices", "0,1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the CPU takes over"));
  EXPECT_EQ(report().at("files").at(0).at("place"), "the CPU");
  const ProgramResult strict =
      run({"set", "--out", "other", "--devices", "0,1", "--backend", "cuda"});
  EXPECT_EQ(strict.exit_code, 69) << strict.err;
}

TEST_F(BatchCommand, ADeviceIsCheckedAtTheStart) {
  write_set(2);
  options.environment = {{"CUDA_VISIBLE_DEVICES", "-1"}};
  const ProgramResult beside =
      run({"set", "--out", "out", "--device", "3", "--backend", "cpu", "--jobs", "2"});
  EXPECT_EQ(beside.exit_code, 2);
  EXPECT_THAT(lines_of(beside.err),
              ElementsAre(HasSubstr("--device is 3, the number of a GPU, must be left out")));
  const ProgramResult strict =
      run({"set", "--out", "out", "--device", "3", "--backend", "cuda", "--jobs", "2"});
  EXPECT_EQ(strict.exit_code, 69);
  EXPECT_THAT(lines_of(strict.err), ElementsAre(HasSubstr("cuda")));
  EXPECT_THAT(folder.names(), Not(Contains("out")));
  const ProgramResult open = run({"set", "--out", "out", "--device", "3", "--jobs", "2"});
  EXPECT_EQ(open.exit_code, 0) << open.err;
  EXPECT_THAT(lines_of(open.err), Contains(HasSubstr("--device is 3, not used: ")).Times(1));
}

/// A batch beside another process, which has the lock of c0.y4m.
struct HeldFile : BatchCommand {
  int lock = -1;
  HeldFile() {
    write_set(2);
    folder.write("out/.equalux/c0.y4m.lock", "");
    lock = ::open((folder / "out/.equalux/c0.y4m.lock").c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_EQ(::flock(lock, LOCK_EX), 0);
  }
  ~HeldFile() override { release(); }
  void release() { ::close(std::exchange(lock, -1)); }
  void wait_for(const std::string& name) const {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!std::filesystem::exists(folder / name) && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
};

TEST_F(HeldFile, IsWaitedForWhenTheOthersAreDone) {
  options.meanwhile = [this](int) {
    wait_for("out/c1.y4m");
    EXPECT_THAT(folder.names(), Not(Contains("out/c0.y4m")));
    release();
  };
  const ProgramResult result = run({"set", "--out", "out", "--jobs", "1", "--verify=h.md5"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(statuses(), ElementsAre("done", "done"));
  EXPECT_THAT(folder.read("h-1.md5"), HasSubstr("0,          5,"));
  EXPECT_THAT(lines_of(result.err),
              Contains(HasSubstr("waits for 1 file that another equalux is at work on")).Times(1));
}

TEST_F(HeldFile, AStopEndsTheWait) {
  options.meanwhile = [this](int process) {
    wait_for("out/c1.y4m");
    ::kill(process, SIGTERM);
  };
  const ProgramResult result = run({"set", "--out", "out", "--quiet"});
  EXPECT_EQ(result.exit_code, 143) << result.err;
  EXPECT_LT(result.seconds, 5);
  EXPECT_THAT(lines_of(result.err),
              ElementsAre(HasSubstr("waits for 1 file that another equalux is at work on")));
  EXPECT_THAT(statuses(), ElementsAre("stopped", "done"));
  EXPECT_EQ(report().at("files").at(0).at("exit_code"), 143);
}

TEST_F(BatchCommand, TwoAtOnceDoAllTogetherAndBothSaySo) {
  for (int i = 0; i < 6; ++i)
    folder.write("set/c" + std::to_string(i) + ".y4m", dim_y4m(160, 120, 60));
  ASSERT_EQ(run({"set", "--out", "alone"}).exit_code, 0);
  std::vector<ProgramResult> results(2);
  std::vector<std::thread> batches;
  for (ProgramResult& result : results)
    batches.emplace_back([&] { result = run({"set", "--out", "out", "--jobs", "2"}); });
  for (std::thread& batch : batches)
    batch.join();
  for (const ProgramResult& result : results) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(lines_of(result.err), Contains(::testing::StartsWith("set/c")).Times(6));
  }
  const nlohmann::json json = report();
  ASSERT_EQ(json.at("files").size(), 6U);
  for (const auto& file : json.at("files")) {
    EXPECT_EQ(file.at("exit_code"), 0) << file;
    EXPECT_EQ(file.at("frames_out"), 60);
  }
  for (int i = 0; i < 6; ++i) {
    const std::string name = "/c" + std::to_string(i) + ".y4m";
    EXPECT_TRUE(folder.read("out" + name) == folder.read("alone" + name)) << name;
  }
}

TEST_F(TwoStudies, AtOnceOneOfThemGetsTheName) {
  for (const auto& [day, frames] : {std::pair("day1", 80), std::pair("day2", 90)})
    folder.write(std::string(day) + "/c.y4m", dim_y4m(160, 120, frames));
  std::vector<ProgramResult> results(2);
  std::vector<std::thread> batches;
  for (int i : {0, 1}) {
    batches.emplace_back([this, i, &results] {
      results[i] = run({i == 0 ? "day1" : "day2", "--out", "out"});
    });
  }
  for (std::thread& batch : batches)
    batch.join();
  const std::vector<int> codes{results[0].exit_code, results[1].exit_code};
  EXPECT_THAT(codes, ::testing::UnorderedElementsAre(0, 73)) << results[0].err << results[1].err;
  ASSERT_EQ(run({codes[0] == 0 ? "day1" : "day2", "--out", "out"}).exit_code, 0);
  EXPECT_THAT(statuses(), ElementsAre("skipped"));
}

TEST_F(BatchCommand, AReportThatAnotherBatchIsWritingIsWrittenAfterIt) {
  write_set(2);
  std::filesystem::create_directories(folder / "out");
  std::vector<std::unique_ptr<OutputLock>> others;
  for (const auto& [file, output] :
       {std::pair(partial_path(folder / "out/report.json"), folder / "out/report.json"),
        std::pair(lock_path(folder / "out/contact-sheet.png"), folder / "out/contact-sheet.png")}) {
    others.push_back(std::make_unique<OutputLock>(file, output));
  }
  options.meanwhile = [&](int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    others.clear();
  };
  const ProgramResult result = run({"set", "--out", "out"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(statuses(), ElementsAre("done", "done"));
#ifdef EQUALUX_HAVE_OPENCV
  EXPECT_THAT(folder.names(), Contains("out/contact-sheet.png"));
#endif
}

TEST_F(BatchCommand, AFolderThatIsNotThereIsCalledAFolder) {
  write_set(1);
  const ProgramResult result = run({"day1/", "set", "x/day2//", "y/day2/", "--out", "out"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("folder 'day1/' does not exist, must be one that can be read"));
  EXPECT_THAT(result.err, HasSubstr("folder 'x/day2//' does not exist"));
  EXPECT_THAT(result.err, HasSubstr("[1/4] day1/: failed"));
  EXPECT_THAT(result.err, Not(HasSubstr(".mkv")));
  EXPECT_THAT(statuses(), ElementsAre("failed", "done", "failed", "failed"));
  EXPECT_EQ(report().at("files").at(0).at("exit_code"), 66);
  EXPECT_EQ(run({"day1/", "--out", "o8"}).exit_code, 66);
}

TEST_F(BatchCommand, ListsThatCannotBeCreatedAreRefusedAtOnce) {
  write_set(2);
  folder.write("taken-2.md5/x", "a folder where a list should be");
  for (const char* list : {"--verify=none/h.md5", "--timings=none/t.jsonl", "--verify=taken.md5"}) {
    const ProgramResult result = run({"set", "--out", "out", list});
    EXPECT_EQ(result.exit_code, 73) << list << result.err;
    EXPECT_THAT(lines_of(result.err), ElementsAre(HasSubstr("cannot be created"))) << list;
    EXPECT_THAT(folder.names(), Not(Contains("out"))) << list;
    EXPECT_THAT(folder.names(), Not(Contains("taken-1.md5"))) << "nothing is left of the look";
  }
  const ProgramResult among =
      run({"set", "--out", "out", "--verify=out/h.md5", "--timings=out/lists/t.jsonl"});
  EXPECT_EQ(among.exit_code, 0) << among.err;
  EXPECT_THAT(folder.read("out/h-2.md5"), HasSubstr("#format: frame checksums"));
  EXPECT_THAT(folder.read("out/lists/t-1.jsonl"), HasSubstr("\"index\":5"));
}

TEST_F(BatchCommand, ListsBesideACurveOfAllFilesAreNumberedToo) {
  write_set(2);
  ASSERT_EQ(run({"set", "--curve-to", "c.json", "--verify=h.md5", "--timings=t.jsonl"}).exit_code,
            0);
  for (const char* list : {"h-1.md5", "h-2.md5", "t-1.jsonl", "t-2.jsonl"})
    EXPECT_THAT(folder.names(), Contains(list));
  EXPECT_EQ(run({"set", "--curve-to", "d.json", "--verify=no/h.md5"}).exit_code, 73);
  EXPECT_THAT(folder.names(), Not(Contains("d.json")));
}

TEST_F(BatchCommand, AListThatFailsLaterCostsNoFile) {
  write_set(3);
  std::filesystem::create_symlink("/dev/full", folder / "h-1.md5");
  const ProgramResult result = run({"set", "--out", "out", "--jobs", "1", "--verify=h.md5"});
  EXPECT_EQ(result.exit_code, 74) << result.err;
  EXPECT_THAT(statuses(), ElementsAre("done", "done", "done"));
  EXPECT_THAT(result.err, HasSubstr("h-1.md5: write failed: No space left on device\n"));
  EXPECT_THAT(folder.read("h-3.md5"), HasSubstr("0,          7,"));
  options.output = "/dev/full";
  const ProgramResult standard = run({"set", "--out", "out", "--verify", "--quiet"});
  EXPECT_EQ(standard.exit_code, 74) << standard.err;
  EXPECT_THAT(lines_of(standard.err), ElementsAre(HasSubstr("No space left on device")));
}

TEST_F(BatchCommand, AnInputThatIsNamedTwiceIsDoneOnce) {
  write_set(2);
  std::filesystem::create_directory_symlink("set", folder / "link");
  folder.write("list.txt", "set/c1.y4m\n");
  const ProgramResult result =
      run({"set", "set/", "./set/c0.y4m", "link", "--manifest", "list.txt", "--out", "out"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(statuses(), ElementsAre("done", "done"));
  const ProgramResult curve = run({"set", "set/c1.y4m", "--curve-to", "c.json"});
  EXPECT_THAT(curve.err, HasSubstr("\n2 done\n"));
  folder.write("copy/c1.y4m", folder.read("set/c1.y4m"));
  EXPECT_EQ(run({"set", "copy", "--out", "out"}).exit_code, 2) << "which of them is unclear";
}

/// To `run` they are cameras, launch strings and scenes.
TEST_F(BatchCommand, InputsAreFilesWhateverTheirNamesMean) {
  const std::vector<std::string> names{"camera:0.y4m", "gst:videotestsrc.y4m", "pipewire:x.y4m",
                                       "test:32x24@25.y4m", "v4l2:x.y4m"};
  for (const std::string& name : names)
    folder.write(name, dim_y4m(32, 24, 4));
  std::vector<std::string> arguments = names;
  arguments.insert(arguments.end(), {"--out", "out"});
  const ProgramResult result = run(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(statuses(), std::vector<std::string>(names.size(), "done"));
  folder.write("list.txt", "gst:videotestsrc.y4m\ta.y4m\n");
  EXPECT_EQ(run({"--manifest", "list.txt", "--out", "more"}).exit_code, 0);
  EXPECT_EQ(folder.read("more/a.y4m"), folder.read("out/gst:videotestsrc.y4m"));
}

/// Files beside a result have longer names than it.
TEST_F(BatchCommand, ANameThatIsTooLongIsRefusedBeforeTheWork) {
  const std::string longest(235, 'l');
  folder.write("set/" + longest + ".y4m", dim_y4m(32, 24, 4));
  folder.write("set/m" + longest + ".y4m", dim_y4m(32, 24, 4));
  const ProgramResult result = run({"set", "--out", "out", "--extension", "y4m", "--verify=h.md5"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(statuses(), ElementsAre("done", "failed"));
  EXPECT_EQ(report().at("files").at(1).at("exit_code"), 73);
  EXPECT_THAT(report().at("files").at(1).at("error").get<std::string>(),
              HasSubstr(".y4m: its name is too long, must have at most 239 bytes"));
}

/// A batch that is stopped while it reads its first file, which is large, for its MD5.
struct StoppedBatch : BatchCommand {
  ProgramResult stop_at_first_file(int signal) {
    std::filesystem::resize_file(folder.path() / "set/c0.y4m",
                                 std::uintmax_t{16} << 30U);  // sparse
    options.meanwhile = [this, signal](int process) {
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (!std::filesystem::exists(folder.path() / "out/.equalux/c0.y4m.lock") &&
             std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      ::kill(process, signal);
    };
    return run({"set", "--out", "out", "--jobs", "1"});
  }
};

TEST_F(StoppedBatch, AnInputThatIsNotReadToItsEndHasNotChanged) {
  write_set(1);
  const std::string entry =
      R"({"version": 2, "status": "running", "of": {"md5": "of the same input"}, "checkpoint": )"
      R"({"frames": 5, "first_pts_ns": 0, "media_end_ns": 200000000, "filters": "", "sink": "{}", )"
      R"("hash_bytes": 0}})";
  folder.write("out/.equalux/c0.y4m.json", entry);
  const ProgramResult result = stop_at_first_file(SIGTERM);
  EXPECT_EQ(result.exit_code, 143) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("has changed")));
  EXPECT_THAT(result.err, HasSubstr("c0.y4m: stopped: stopped by a signal before it began"));
  EXPECT_EQ(folder.read("out/.equalux/c0.y4m.json"), entry) << "it can still be continued";
}

TEST_F(StoppedBatch, FilesThatWereNotBegunHaveTheCodeOfTheSignal) {
  for (const int signal : {SIGINT, SIGTERM}) {
    write_set(3);
    std::filesystem::remove_all(folder.path() / "out");
    const ProgramResult result = stop_at_first_file(signal);
    EXPECT_EQ(result.exit_code, 128 + signal) << result.err;
    EXPECT_THAT(statuses(), ElementsAre("stopped", "stopped", "stopped"));
    const nlohmann::json json = report();
    for (const auto& file : json.at("files"))
      EXPECT_EQ(file.at("exit_code"), 128 + signal) << file.at("input");
    EXPECT_EQ(json.at("files").at(2).at("error"), "was not begun");
  }
}

TEST_F(BatchCommand, ResultsThatCannotBeMadeDoNotStopTheRest) {
  write_set(1);
  folder.write("set/sub/d.y4m", dim_y4m(32, 24, 4));
  folder.write("out/sub", "a file where a folder should be");
  const ProgramResult result = run({"set", "--out", "out"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(statuses(), ElementsAre("done", "failed"));
  EXPECT_EQ(report().at("files").at(1).at("exit_code"), 73);
}

TEST_F(BatchCommand, RefusesWhatCannotBeMeant) {
  write_set(1);
  for (const auto& extra :
       std::vector<std::vector<std::string>>{{"--jobs", "257"},
                                             {"--devices", "0,"},
                                             {"--devices", "0,0"},
                                             {"--devices", "x"},
                                             {"--devices", "0", "--backend", "cpu"},
                                             {"--shard", "2/2"},
                                             {"--shard", "auto"},
                                             {"--segment-frames", "-1"},
                                             {"--timings", "-"}}) {
    std::vector<std::string> arguments{"set", "--out", "out"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 2) << extra[0] << " " << extra[1];
    EXPECT_THAT(lines_of(result.err), ::testing::SizeIs(1));
    EXPECT_THAT(result.err, HasSubstr(extra[0].substr(2)));
  }
  EXPECT_EQ(run({"--manifest", "none.txt", "--out", "out"}).exit_code, 66);
  EXPECT_THAT(folder.names(), Not(Contains("out")));
}

}  // namespace
}  // namespace equalux::test

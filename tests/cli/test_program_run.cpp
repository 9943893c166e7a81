#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/common/json_text.h"
#include "tests/support/program_test.h"

/// `equalux run`, `batch` and `devices`, over what every build has.
namespace fs = std::filesystem;

namespace equalux::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

class RunCommand : public ProgramTest {
 protected:
  RunCommand() { folder_.write("in.y4m", dim_y4m(64, 48, 10)); }

  /// Until a file has more than `bytes`, however long a start takes.
  void wait_for(const std::string& name, std::uintmax_t bytes) const {
    const std::filesystem::path path = folder_.path() / name;
    std::error_code none;
    for (int i = 0; i < 2000; ++i) {
      if (std::filesystem::exists(path, none) && std::filesystem::file_size(path, none) > bytes) {
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
};

/// Outputs that grow as NAME.partial.EXT, as far as this build writes them.
std::vector<std::string> growing_outputs() {
#ifdef EQUALUX_HAVE_GSTREAMER
  return {"out.y4m", "out.mkv", "out.mp4"};
#else
  return {"out.y4m"};
#endif
}

/// `run` into an output, by an encoder that is quick where it has one.
std::vector<std::string> quick_run(const std::string& input, const std::string& output) {
  std::vector<std::string> words{"run", input, "-o", output, "-y"};
  if (!output.ends_with(".y4m")) words.insert(words.end(), {"--encoder", "mjpeg"});
  return words;
}

std::string partial_of(const std::string& name) {
  return name.substr(0, 3) + ".partial" + name.substr(3);
}

TEST_F(RunCommand, AnOutputIsWrittenByOneAtATime) {
  for (const std::string& output : growing_outputs()) {
    SCOPED_TRACE(output);
    options_.meanwhile = [&](int first) {
      wait_for(partial_of(output), 2000);
      ProgramOptions other;
      other.folder = folder_.path();
      const ProgramResult second = run_program({"run", "in.y4m", "-o", output}, other);
      EXPECT_EQ(second.exit_code, 73) << second.err;
      EXPECT_THAT(lines_of(second.err), SizeIs(1));
      EXPECT_THAT(second.err, HasSubstr(output + ": another equalux is writing it"));
      ::kill(first, SIGINT);
    };
    const ProgramResult result = run(quick_run("test:64x48@25", output));
    EXPECT_EQ(result.exit_code, 130) << result.err;
    EXPECT_THAT(folder_.names(), ElementsAre("in.y4m", output));
    options_.meanwhile = nullptr;
    // The lock went with its process: what one that was killed left is in nobody's way.
    folder_.write(partial_of(output), "what a killed one left");
    EXPECT_EQ(run(quick_run("in.y4m", output)).exit_code, 0);
    EXPECT_THAT(folder_.names(), ElementsAre("in.y4m", output));
    std::filesystem::remove(folder_.path() / output);
  }
}

/// True once a process has a handler for a signal: what comes then must not be lost.
bool catches(int process, int signal) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigCgt:")) continue;
    return ((std::stoull(line.substr(7), nullptr, 16) >> (signal - 1)) & 1U) != 0;
  }
  return false;
}

TEST_F(RunCommand, EveryWaitEndsWithASignal) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe.y4m").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((folder_ / "silent").c_str(), 0600), 0);
  const int writer = ::open((folder_ / "silent").c_str(), O_RDWR | O_CLOEXEC);
  options_.timeout_s = 20;
  options_.program = "/bin/sh";
  options_.environment = {{"PROGRAM", EQUALUX_PROGRAM_FOLDER "/equalux"}};
  for (const int signal : {SIGINT, SIGTERM}) {
    options_.meanwhile = [signal](int process) {
      for (int i = 0; i < 2000 && !catches(process, signal); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      ::kill(process, signal);
    };
    for (const char* words :
         {"run pipe.y4m -o out.y4m", "run in.y4m -y -o pipe.y4m", "run - -o out.y4m <silent",
          "measure pipe.y4m", "measure in.y4m pipe.y4m", "measure - in.y4m <silent",
          "run in.y4m -o null --timings pipe.y4m", "run in.y4m -o null --verify=pipe.y4m",
          "run in.y4m -o null --curve-to pipe.y4m"}) {
      const ProgramResult result = run({"-c", std::string("exec \"$PROGRAM\" ") + words});
      EXPECT_EQ(result.exit_code, 128 + signal) << words << ": " << result.err;
    }
  }
  ::close(writer);
  EXPECT_THAT(folder_.names(), ElementsAre("in.y4m", "pipe.y4m", "silent"));
}

TEST_F(RunCommand, StandardStreamsThatAreClosedAreNobodyElses) {
  options_.timeout_s = 20;
  options_.program = "/bin/sh";
  options_.environment = {{"PROGRAM", EQUALUX_PROGRAM_FOLDER "/equalux"}};
  for (const char* words : {"run - -o out.y4m <&-", "measure - in.y4m <&-"}) {
    const ProgramResult result = run({"-c", std::string("exec \"$PROGRAM\" ") + words});
    EXPECT_EQ(result.exit_code, 66) << words;
    EXPECT_THAT(result.err, HasSubstr("standard input is closed")) << words;
  }
  EXPECT_EQ(run({"-c", "exec \"$PROGRAM\" run in.y4m -o - >&-"}).exit_code, 74);
  const ProgramResult mute = run({"-c", "exec \"$PROGRAM\" run in.y4m -o out.y4m <&- >&- 2>&-"});
  EXPECT_EQ(mute.exit_code, 0);
  EXPECT_EQ(folder_.read("out.y4m").substr(0, 10), "YUV4MPEG2 ");
  EXPECT_EQ(folder_.read("out.y4m").find("equalux:"), std::string::npos);
}

TEST_F(RunCommand, NamedPipesAreNoFilesOfABatchOrASequence) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe.y4m").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((folder_ / "f1.ppm").c_str(), 0600), 0);
  options_.timeout_s = 20;
  const ProgramResult batch = run({"batch", "pipe.y4m", "--out", "out"});
  EXPECT_EQ(batch.exit_code, 65) << batch.err;
  EXPECT_THAT(batch.err, HasSubstr("input 'pipe.y4m' is no file, must be one"));
  const ProgramResult stills = run({"run", "f%d.ppm", "-o", "null"});
  EXPECT_EQ(stills.exit_code, 65) << stills.err;
  EXPECT_THAT(stills.err, HasSubstr("f1.ppm: is a named pipe"));
}

TEST_F(RunCommand, ASequenceIsWrittenByOneAtATime) {
  std::filesystem::create_directory(folder_.path() / "stills");
  options_.meanwhile = [&](int first) {
    wait_for("stills/00002.ppm", 0);
    ProgramOptions other;
    other.folder = folder_.path();
    const ProgramResult second =
        run_program({"run", "in.y4m", "-o", "stills/%05d.ppm", "-y"}, other);
    EXPECT_EQ(second.exit_code, 73) << second.err;
    EXPECT_THAT(second.err, HasSubstr("stills/%05d.ppm: another equalux is writing it"));
    ::kill(first, SIGINT);
  };
  EXPECT_EQ(run({"run", "test:64x48@25", "-o", "stills/%05d.ppm"}).exit_code, 130);
  EXPECT_THAT(folder_.names(), Not(Contains(HasSubstr(".lock"))));
}

TEST_F(RunCommand, WhereItsNameIsTakenByAFolderTheWholeFileStays) {
  for (const std::string& output : growing_outputs()) {
    SCOPED_TRACE(output);
    options_.meanwhile = [&](int program) {
      wait_for(partial_of(output), 2000);
      std::filesystem::create_directory(folder_.path() / output);
      ::kill(program, SIGINT);
    };
    const ProgramResult result = run(quick_run("test:64x48@25", output));
    options_.meanwhile = nullptr;
    EXPECT_EQ(result.exit_code, 74) << result.err;
    EXPECT_THAT(result.err, HasSubstr("it is left as " + partial_of(output)));
    std::filesystem::remove(folder_.path() / output);
    EXPECT_THAT(folder_.names(), ElementsAre("in.y4m", partial_of(output)));
    EXPECT_EQ(run({"run", partial_of(output), "-o", "null"}).exit_code, 0) << "can be played";
    std::filesystem::remove(folder_.path() / partial_of(output));
  }
}

TEST_F(RunCommand, FileToFileKeepsEveryFrame) {
  const ProgramResult result = run({"run", "in.y4m", "-o", "out.y4m"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(folder_.names(), ElementsAre("in.y4m", "out.y4m"));
  EXPECT_EQ(folder_.read("out.y4m").size() - folder_.read("out.y4m").find('\n'),
            folder_.read("in.y4m").size() - folder_.read("in.y4m").find('\n'));
  EXPECT_THAT(result.err, HasSubstr("10 in, 10 out, 0 dropped"));
  EXPECT_THAT(result.err, HasSubstr("CPU, "));
}

TEST_F(RunCommand, PipeGivesTheSameBytesAndNothingElseOnStdout) {
  ASSERT_EQ(run({"run", "in.y4m", "-o", "out.y4m", "--quiet"}).exit_code, 0);
  options_.input = folder_.read("in.y4m");
  const ProgramResult result = run({"run", "-", "-o", "-", "--log-level", "debug"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, folder_.read("out.y4m"));
  EXPECT_THAT(result.err, Not(IsEmpty()));
}

TEST_F(RunCommand, APartIsExactToTheFrame) {
  const std::string whole = folder_.read("in.y4m");
  const std::size_t head = whole.find('\n') + 1;
  const std::size_t frame = (whole.size() - head) / 10;
  const std::vector<std::vector<std::string>> parts{{"--from", "0.08", "--to", "0.2"},
                                                    {"--from", "0:00.05", "--duration", "0.12"}};
  for (const std::vector<std::string>& part : parts) {
    std::vector<std::string> arguments{"run", "in.y4m", "-y", "-o", "part.y4m", "--strength", "0"};
    arguments.insert(arguments.end(), part.begin(), part.end());
    const ProgramResult result = run(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::string text = folder_.read("part.y4m");
    EXPECT_EQ(text.substr(text.find('\n') + 1), whole.substr(head + 2 * frame, 3 * frame));
  }
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"in.y4m", "--from", "9"}, "has no frame from 9.000 s on; it was read up to 0.400 s"},
      {{"in.y4m", "--from", "2", "--to", "1"}, "--to is not behind --from"},
      {{"in.y4m", "--to", "2", "--duration", "1"}, "must be one of them"},
      {{"in.y4m", "--from", "1:99"}, "must be seconds or [H:]M:S"},
      {{"test:64x48@25", "--from", "1"}, "has no end"}};
  for (const auto& [more, text] : wrong) {
    std::vector<std::string> arguments{"run", "-o", "null"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_THAT(result.err, HasSubstr(text));
  }
}

TEST_F(RunCommand, QuietSaysNothing) {
  const ProgramResult result = run({"run", "in.y4m", "-o", "null", "--quiet"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
}

TEST_F(RunCommand, ThreadsAndChainDoNotChangeTheHashes) {
  const auto hashes = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"run", "test:80x60@25", "-o",     "null", "--frames",
                                       "5",   "--verify",      "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  const std::string expected = hashes({});
  EXPECT_THAT(lines_of(expected), SizeIs(15));
  EXPECT_EQ(hashes({"--threads", "1"}), expected);
  EXPECT_EQ(hashes({"--threads", "3"}), expected);
  EXPECT_EQ(hashes({"--scaler", "max-abs", "--bins", "256"}), expected);
}

TEST_F(RunCommand, StagedChainAsksForRgb) {
  const ProgramResult result =
      run({"run", "in.y4m", "-o", "f%02d.ppm", "--chain", "staged", "--frames", "3"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(folder_.names(), ElementsAre("f00.ppm", "f01.ppm", "f02.ppm", "in.y4m"));
}

TEST_F(RunCommand, SequenceOfStillsInAndOut) {
  for (const char* name : {"s/f1.ppm", "s/f2.ppm", "s/f10.ppm"}) {
    folder_.write(name, dim_ppm(32, 24));
  }
  ASSERT_EQ(run({"run", "s", "-o", "o%03d.ppm", "--fps", "10", "--quiet"}).exit_code, 0);
  EXPECT_THAT(folder_.names(), Contains("o002.ppm"));
  EXPECT_THAT(folder_.names(), Not(Contains("o003.ppm")));
}

TEST_F(RunCommand, ASequenceIsNeverWrittenOverItself) {
  std::vector<std::string> originals;
  for (int i = 1; i <= 3; ++i) {
    originals.push_back(dim_ppm(32, 20) + std::string(static_cast<std::size_t>(i), ' '));
    folder_.write("e/f" + std::to_string(i) + ".ppm", originals.back());
  }
  fs::create_directory_symlink(folder_ / "e", folder_ / "linked");
  fs::create_directory(folder_ / "hard");
  fs::create_hard_link(folder_ / "e/f3.ppm", folder_ / "hard/g2.ppm");
  fs::create_directory(folder_ / "soft");
  fs::create_symlink("../e/f2.ppm", folder_ / "soft/g1.ppm");
  folder_.write("grow/h0.partial.ppm", originals.front());
  const std::vector<std::vector<std::string>> calls{
      {"run", "e/f%d.ppm", "-o", "e/f%d.ppm"},
      {"run", "e", "-o", "e/f%d.ppm"},
      {"run", "e/*.ppm", "-o", "./e/../e/f%d.ppm"},
      {"run", "e/f%d.ppm", "-o", "linked/f%d.ppm"},
      {"run", "linked/f%d.ppm", "-o", "e/f%d.ppm"},
      {"run", "e", "-o", "hard/g%d.ppm"},
      {"run", "e", "-o", "soft/g%d.ppm"},
      {"run", "grow/h%d.partial.ppm", "-o", "grow/h%d.ppm"},
      {"run", "e", "-o", "null", "--verify=e/f2.ppm"},
      {"run", "e", "-o", "null", "--timings", "linked/f2.ppm"}};
  for (const auto& call : calls) {
    const ProgramResult result = run(call);
    const std::string what = call[1] + " to " + call[3] + ": " + result.err;
    EXPECT_EQ(result.exit_code, 2) << what;
    EXPECT_THAT(result.err, HasSubstr("the input")) << what;
    EXPECT_THAT(lines_of(result.err), SizeIs(1)) << what;
  }
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(folder_.read("e/f" + std::to_string(i) + ".ppm"),
              originals[static_cast<std::size_t>(i - 1)]);
  }
  EXPECT_EQ(run({"run", "e", "-o", "e/f%d.ppm", "--frames", "1", "--quiet"}).exit_code, 0);
  EXPECT_EQ(folder_.read("e/f1.ppm"), originals.front());
}

TEST_F(RunCommand, ValuesStandBehindTheirOptionOrBehindAnEqualsSign) {
  const ProgramResult asked = run({"run", "in.y4m", "-o", "null", "--verify", "--quiet"});
  ASSERT_EQ(asked.exit_code, 0) << asked.err;
  for (const std::vector<std::string>& call : std::vector<std::vector<std::string>>{
           {"run", "in.y4m", "-o", "null", "--verify", "h.md5", "--quiet"},
           {"run", "in.y4m", "-o=null", "--verify=h.md5", "--quiet=true"},
           {"run", "--verify", "h.md5", "in.y4m", "-onull", "--quiet"},
           {"in.y4m", "--output=null", "--verify", "h.md5", "--quiet"}}) {
    const ProgramResult result = run(call);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out + result.err, "");
    EXPECT_EQ(folder_.read("h.md5"), asked.out);
    fs::remove(folder_ / "h.md5");
  }
  // What is needed as the input is no file for hashes, nor is a video that is there.
  for (const std::vector<std::string>& call : std::vector<std::vector<std::string>>{
           {"run", "--verify", "in.y4m", "-o", "null", "--quiet"},
           {"run", "in.y4m", "-o", "null", "--quiet", "--verify", "-"}}) {
    const ProgramResult result = run(call);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, asked.out);
  }
  const std::string before = folder_.read("in.y4m");
  folder_.write("b.y4m", before);
  const ProgramResult both =
      run({"batch", "in.y4m", "--verify", "b.y4m", "--out", "results", "--quiet"});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_EQ(folder_.read("b.y4m"), before);
  EXPECT_TRUE(fs::exists(folder_ / "results/b.y4m"));
  // Where the input is elsewhere, the word is the file, whatever its name; it may be there.
  folder_.write("old", "what was there");
  for (const auto& [name, call] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"old", {"run", "in.y4m", "-o", "null", "--quiet", "--verify", "old"}},
           {"camera:0", {"run", "in.y4m", "-o", "null", "--quiet", "--verify", "camera:0"}},
           {"a:b", {"run", "--verify", "a:b", "-o", "null", "--quiet", "in.y4m"}},
           {"new.mp4", {"run", "--quiet", "--verify", "new.mp4", "in.y4m", "-onull"}},
           {"behind", {"run", "-o", "null", "--quiet", "--verify", "behind", "--", "in.y4m"}}}) {
    const ProgramResult result = run(call);
    EXPECT_EQ(result.exit_code, 0) << name << result.err;
    EXPECT_EQ(result.out, "") << name;
    EXPECT_EQ(folder_.read(name), asked.out) << name;
  }
  EXPECT_EQ(run({"run", "--verify", "test:16x12@5", "-o", "null", "--frames", "2"}).exit_code, 0);
  // A video that is there is neither lost nor taken for one input too many.
  const ProgramResult lost = run({"run", "--verify", "b.y4m", "in.y4m", "--quiet"});
  EXPECT_EQ(lost.exit_code, 2);
  EXPECT_THAT(lost.err, HasSubstr("--verify would overwrite b.y4m"));
  EXPECT_EQ(folder_.read("b.y4m"), before);
  EXPECT_EQ(run({"run", "in.y4m", "-o", "null", "--quiet", "--verify=b.y4m"}).exit_code, 0);
  EXPECT_EQ(folder_.read("b.y4m"), asked.out);
  // Behind -- a name may begin with a dash.
  folder_.write("-dash.y4m", before);
  EXPECT_EQ(run({"run", "-o", "null", "--quiet", "--", "-dash.y4m"}).exit_code, 0);
}

TEST_F(RunCommand, FilesOfOptionsAreNotOverwritten) {
  const std::string curve = "curve.json";
  ASSERT_EQ(run({"run", "in.y4m", "-o", "null", "--quiet", "--curve-to", curve}).exit_code, 0);
  folder_.write("mask.pgm", "P5\n64 48\n255\n" + std::string(64 * 48, '\xff'));
  folder_.write("one.toml", "config = \"two.toml\"\n");
  folder_.write("two.toml", "strength = 0.5\n");
  folder_.write("mine.toml", "# A preset.\nstrength = 0.5\n");
  options_.environment = {{"EQUALUX_CONFIG_PATH", folder_.path()}};
  std::map<std::string, std::string> before;
  for (const char* name : {"curve.json", "mask.pgm", "one.toml", "two.toml", "mine.toml"})
    before[name] = folder_.read(name);
  using Words = std::vector<std::string>;
  for (const auto& [what, words] : std::vector<std::pair<std::string, Words>>{
           {"what --curve-from reads", {"--curve-from", curve, "--verify=curve.json"}},
           {"what --curve-from reads", {"--curve-from", curve, "--timings", "./curve.json"}},
           {"what curve-from reads",
            {"--filter", "equalize:curve-from=curve.json", "--timings", curve}},
           {"what --region reads", {"--region", "mask.pgm", "--curve-to", "mask.pgm"}},
           {"options are read from", {"--config", "one.toml", "--timings", "one.toml"}},
           {"options are read from", {"--config", "one.toml", "--timings", "two.toml"}},
           {"options are read from", {"--preset", "mine", "--verify", "mine.toml"}}}) {
    Words call{"run", "in.y4m", "-o", "null", "--quiet"};
    call.insert(call.end(), words.begin(), words.end());
    const ProgramResult result = run(call);
    EXPECT_EQ(result.exit_code, 2) << what;
    EXPECT_THAT(lines_of(result.err),
                ElementsAre(AllOf(HasSubstr(what), HasSubstr("must be another file"))));
  }
  for (const Words& call : std::vector<Words>{
           {"run", "in.y4m", "-y", "-o", "m%d.pgm", "--region", "m1.pgm"},
           {"image", "in.ppm", "mask.pgm", "-y", "--region", "mask.pgm"},
           {"image", "in.ppm", "out.ppm", "--plot", "mask.png", "--region", "mask.png"},
           {"image", "in.ppm", "out.ppm", "--verify=in.ppm"},
           {"image", "in.ppm", "--out", ".", "-y", "--region", "mask.pgm"},
           {"batch", "in.y4m", "--out", "results", "--manifest", "m.txt", "--timings", "m.txt"},
           {"measure", "in.y4m", "--config", "default.toml", "--json", "default.toml"}}) {
    folder_.write("in.ppm", dim_ppm(64, 48));
    folder_.write("mask.png", folder_.read("mask.pgm"));
    folder_.write("m1.pgm", folder_.read("mask.pgm"));
    folder_.write("m.txt", "in.y4m\n");
    folder_.write("default.toml", "quiet = true\n");
    const ProgramResult result = run(call);
    EXPECT_EQ(result.exit_code, 2) << call[0] << " " << result.err;
    EXPECT_THAT(result.err, HasSubstr("must be another file"));
  }
  for (const auto& [name, text] : before)
    EXPECT_TRUE(folder_.read(name) == text) << name;
}

TEST_F(RunCommand, NamesDoNotSpeakToTheTerminal) {
  const std::string evil = "a\x1b[31m.y4m";
  folder_.write(evil, folder_.read("in.y4m"));
  folder_.write("evil.toml", "# A preset\x1b]0;title\x07.\nregion = \"\x1b[31m\"\n");
  options_.environment = {{"EQUALUX_CONFIG_PATH", folder_.path()}};
  for (const std::vector<std::string>& call :
       std::vector<std::vector<std::string>>{{"measure", evil, "--quiet"},
                                             {"--list-presets"},
                                             {"run", "--help-all", "--preset", "evil"},
                                             {"batch", evil, "--curve-to", "c.json"}}) {
    const ProgramResult result = run(call);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out + result.err, HasSubstr("\\x1b")) << call[0];
    EXPECT_THAT(result.out + result.err, Not(HasSubstr("\x1b"))) << call[0];
  }
}

TEST_F(RunCommand, ProgressForPrograms) {
  const std::vector<std::vector<std::string>> calls{
      {"run", "in.y4m", "-o", "null", "--progress", "json", "--quiet"},
      {"measure", "in.y4m", "--progress", "json", "--quiet"},
      {"batch", "in.y4m", "--out", "results", "--progress=json", "--quiet"}};
  for (const auto& call : calls) {
    const ProgramResult result = run(call);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::vector<std::string> lines = lines_of(result.err);
    ASSERT_FALSE(lines.empty());
    for (const std::string& line : lines) {
      const nlohmann::json each = parse_json(line);
      EXPECT_EQ(each.at("state"), &line == &lines.back() ? "ended" : "running") << line;
      EXPECT_GE(each.at("elapsed_s").get<double>(), 0);
    }
    const nlohmann::json last = parse_json(lines.back());
    EXPECT_EQ(last.at("exit_code"), 0);
    if (call[0] == "batch") {
      EXPECT_EQ(last.at("files"), 1);
    } else {
      EXPECT_GT(last.at("frame").get<int>(), 0);
    }
  }
}

/// script(1) gives the program a terminal. A longer line would wrap, and not be cleared as a whole.
TEST_F(RunCommand, ProgressFitsTheTerminal) {
  const std::string command =
      "cd '" + folder_.path().string() +
      "' && script -qec 'stty cols 12; (cat in.y4m; sleep 2) | " EQUALUX_PROGRAM_FOLDER
      "/equalux run - -o null' /dev/null > said";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_THAT(folder_.read("said"), HasSubstr("\x1b[Kframe "));
  EXPECT_THAT(folder_.read("said"), Not(HasSubstr(" fps\r")));
}

TEST_F(RunCommand, ErrorsShowUnderQuiet) {
  folder_.write("cut.y4m", folder_.read("in.y4m").substr(0, folder_.read("in.y4m").size() - 9));
  const ProgramResult cut = run({"run", "cut.y4m", "-o", "null", "--quiet"});
  EXPECT_EQ(cut.exit_code, 3);
  EXPECT_THAT(lines_of(cut.err), SizeIs(1));
  EXPECT_THAT(cut.err, HasSubstr("partial"));
  folder_.write("bad.y4m", "YUV4MPEG2 nonsense\n");
  const ProgramResult bad = run({"batch", "bad.y4m", "--out", "results", "--quiet"});
  EXPECT_EQ(bad.exit_code, 65);
  EXPECT_THAT(lines_of(bad.err), SizeIs(1));
  EXPECT_THAT(bad.err, HasSubstr("bad.y4m"));
  EXPECT_EQ(run({"run", "in.y4m", "-o", "null", "--quiet"}).err, "");
}

TEST_F(RunCommand, ConvolutionsFollowEachOther) {
  const auto frames = [this](const char* name) {
    const std::string bytes = folder_.read(name);
    return bytes.substr(bytes.find('\n'));
  };
  ASSERT_EQ(run({"run", "in.y4m", "-o", "same.y4m", "--filter", "identity"}).exit_code, 0);
  EXPECT_EQ(frames("same.y4m"), frames("in.y4m"));
  ASSERT_EQ(run({"run", "in.y4m", "-o", "edge.y4m", "--filter", "edge"}).exit_code, 0);
  EXPECT_NE(frames("edge.y4m"), frames("in.y4m"));
  ASSERT_EQ(run({"run", "edge.y4m", "-o", "two.y4m", "--filter", "box:size=5"}).exit_code, 0);
  ASSERT_EQ(run({"run", "in.y4m", "-o", "one.y4m", "--filter", "edge", "--filter", "box:size=5",
                 "--threads", "3"})
                .exit_code,
            0);
  EXPECT_EQ(frames("one.y4m"), frames("two.y4m"));
  ASSERT_EQ(run({"batch", "in.y4m", "--out", "made", "--filter", "edge"}).exit_code, 0);
  EXPECT_EQ(frames("made/in.y4m"), frames("edge.y4m"));
}

TEST_F(RunCommand, TimingsAndSummaryCarryEveryStage) {
  const ProgramResult result =
      run({"run", "in.y4m", "-o", "null", "--timings", "t.jsonl", "--chain", "staged"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto lines = lines_of(folder_.read("t.jsonl"));
  ASSERT_THAT(lines, SizeIs(10));
  const auto json = parse_json(lines.back());
  EXPECT_EQ(json["index"], 9);
  for (const char* stage : {"rgb_to_hsv", "histogram", "cdf_scan", "equalize", "hsv_to_rgb"}) {
    EXPECT_TRUE(json["stages"].contains(stage)) << lines.back();
    EXPECT_THAT(result.err, HasSubstr(stage));
  }
}

TEST_F(RunCommand, TruncatedInputIsPartial) {
  const std::string whole = folder_.read("in.y4m");
  folder_.write("cut.y4m", whole.substr(0, whole.size() * 3 / 4));
  const ProgramResult result = run({"run", "cut.y4m", "-o", "out.y4m"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("partial"));
  EXPECT_THAT(folder_.names(), Contains("out.y4m"));
}

TEST_F(RunCommand, SignalsCloseTheOutput) {
  // Where this test runs under nohup, the program would inherit that SIGHUP is ignored.
  const auto before = ::signal(SIGHUP, SIG_DFL);
  for (const auto& [signal, code] :
       {std::pair(SIGINT, 130), std::pair(SIGTERM, 143), std::pair(SIGHUP, 143)}) {
    std::chrono::steady_clock::time_point signalled;
    options_.meanwhile = [this, sent = signal, &signalled](int program) {
      // Frames are under way once the partial file holds more than its header, however long the
      // start took.
      constexpr std::uintmax_t kSomeFrames = 20000;
      const std::filesystem::path partial = folder_.path() / "endless.partial.y4m";
      std::error_code none;
      for (int i = 0; i < 2000; ++i) {
        if (std::filesystem::exists(partial, none) &&
            std::filesystem::file_size(partial, none) > kSomeFrames) {
          break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      signalled = std::chrono::steady_clock::now();
      ::kill(program, sent);
      if (sent == SIGHUP) ::kill(program, sent);  // of the terminal, and of the shell
    };
    const ProgramResult result = run({"run", "test:64x48@25", "-o", "endless.y4m"});
    EXPECT_LT(std::chrono::steady_clock::now() - signalled, std::chrono::seconds(5));
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr("stopped by a signal"));
    EXPECT_THAT(folder_.names(), ElementsAre("endless.y4m", "in.y4m"));
    std::filesystem::remove(folder_.path() / "endless.y4m");
  }
  ::signal(SIGHUP, before);
}

#ifdef EQUALUX_HAVE_GSTREAMER
TEST_F(RunCommand, ALiveInputThatFailsComesBack) {
  const std::string input =
      "gst:videotestsrc is-live=true ! identity error-after=8 ! "
      "video/x-raw,format=I420,width=64,height=48,framerate=50/1";
  const ProgramResult result =
      run({"run", input, "-o", "null", "--frames", "20", "--timings", "live.jsonl"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("waiting for it to come back"));
  EXPECT_THAT(result.err, HasSubstr(": back after "));
  EXPECT_THAT(result.err, HasSubstr(" reconnected, "));
  EXPECT_THAT(result.err, Not(HasSubstr("; 0 reconnected")));
  const std::vector<std::string> lines = lines_of(folder_.read("live.jsonl"));
  ASSERT_EQ(lines.size(), 20U);
  std::size_t placeholders = 0;
  for (const std::string& line : lines) {
    const auto json = parse_json(line);
    placeholders += json.contains("placeholder") ? 1 : 0;
    EXPECT_TRUE(json.contains("latency_ms"));
  }
  EXPECT_GT(placeholders, 0U);
  EXPECT_GE(parse_json(lines.back())["reconnects"],
            1);  // A busy machine loses it again.
}

TEST_F(RunCommand, WithoutReconnectionAFailureEndsTheRun) {
  const std::string input =
      "gst:videotestsrc is-live=true ! identity error-after=8 ! "
      "video/x-raw,format=I420,width=64,height=48,framerate=50/1";
  const ProgramResult result = run({"run", input, "-o", "out.y4m", "--reconnect", "off"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the output is partial"));
  const ProgramResult brief = run({"run", input, "-o", "brief.y4m", "--reconnect", "tomorrow"});
  EXPECT_EQ(brief.exit_code, 2);
  EXPECT_THAT(brief.err, HasSubstr("--reconnect is 'tomorrow', must be always, off or seconds"));
}
#endif

TEST_F(RunCommand, IsSteeredThroughItsSocket) {
  const std::string path = folder_ / "control";
  nlohmann::json answer;
  options_.meanwhile = [&](int program) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    for (int i = 0; i < 1000; ++i) {
      if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const std::string change = "{\"filter\":false,\"preset\":\"fog\"}\n";
    static_cast<void>(::send(fd, change.data(), change.size(), MSG_NOSIGNAL));
    std::string line(8192, ' ');
    line.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::recv(fd, line.data(), 8192, 0))));
    ::close(fd);
    answer = json_or_discarded(line);
    ::kill(program, SIGINT);
  };
  const ProgramResult result = run({"run", "test:64x48@25", "-o", "null", "--control", "control"});
  EXPECT_EQ(result.exit_code, 130) << result.err;
  ASSERT_TRUE(answer.is_object());
  EXPECT_EQ(answer["state"]["filter"], false);
  EXPECT_EQ(answer["state"]["clip-limit"], 1.5);
  EXPECT_EQ(answer["state"]["saturation"], "auto");
  EXPECT_EQ(answer["counters"].contains("late"), true);
  EXPECT_THAT(folder_.names(), Not(Contains("control")));
}

TEST_F(RunCommand, NothingButFramesThatAreWatchedGoesAtTheirPace) {
  const auto seconds = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "test:64x48@25", "--frames", "100", "-o", "null"});
    const auto start = std::chrono::steady_clock::now();
    const ProgramResult result = run(more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  EXPECT_GT(seconds({"--control", "control"}), 3.9);
#ifdef EQUALUX_HAVE_HTTP
  EXPECT_GT(seconds({"--serve", "0", "--quiet"}), 3.9);
#endif
  EXPECT_LT(seconds({}), 3.9);
}

TEST_F(RunCommand, TheStartLineNamesThePreset) {
  const auto line = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "in.y4m", "-o", "null"});
    return run(more).err;
  };
  EXPECT_THAT(line({}), HasSubstr("; preset stable\n"));
  EXPECT_THAT(line({"--preset", "fog"}), HasSubstr("; preset fog\n"));
  EXPECT_THAT(line({"--preset", "fog", "--floor", "7"}), HasSubstr("; preset fog, changed\n"));
  EXPECT_THAT(line({"--filter", "sharpen"}), Not(HasSubstr("preset")));
  folder_.write("dim.toml", "# For a test.\nclip-limit = 3\nstrength = 0.7\n");
  folder_.write("mine.toml", "clip-limit = 5\n");
  options_.environment.emplace_back("EQUALUX_CONFIG_PATH", folder_.path().string());
  const std::string changed = "; preset dim, changed\n";
  EXPECT_THAT(line({"--preset", "dim", "--strength", "0.7"}), HasSubstr("; preset dim\n"));
  EXPECT_THAT(line({"--preset", "dim", "--config", "mine.toml"}), HasSubstr(changed));
  EXPECT_THAT(line({"--preset", "dim", "--filter", "equalize:strength=0.2"}), HasSubstr(changed));
  EXPECT_THAT(line({"--preset", "dim", "--config", "mine.toml", "--strength", "0.2"}),
              Not(HasSubstr("preset")));
}

TEST_F(RunCommand, AFlagThatTheFiltersOwnSpecOverridesIsNamed) {
  const auto lines = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "in.y4m", "-o", "null", "--strength", "0.7"});
    return run(more).err;
  };
  const std::string says = "--strength 0.7: --filter sets its own, not used\n";
  EXPECT_THAT(lines({"--filter", "equalize:strength=0.5"}), HasSubstr(says));
  EXPECT_THAT(lines({"--filter", "clahe:strength=0.5", "--filter", "denoise:strength=0.5"}),
              HasSubstr(says));
  EXPECT_THAT(lines({}), Not(HasSubstr("not used")));
  EXPECT_THAT(lines({"--filter", "equalize:strength=0.7"}), Not(HasSubstr("not used")));
  EXPECT_THAT(lines({"--filter", "equalize:strength=0.5", "--filter", "clahe"}),
              Not(HasSubstr("not used")));
}

TEST_F(RunCommand, ARunThatIsStoppedBeforeItsFirstFrameSaysThatThereIsNoOutput) {
  for (const auto& [output, says] :
       {std::pair("out.y4m", "stopped by a signal before the first frame; there is no output\n"),
        std::pair("null", "stopped by a signal\n")}) {
    ASSERT_EQ(::mkfifo((folder_.path() / "slow.y4m").c_str(), 0600), 0);
    options_.meanwhile = [&](int program) {
      // The program waits for the header; its handlers are there once the pipe has a reader.
      const int pipe = ::open((folder_.path() / "slow.y4m").c_str(), O_WRONLY | O_CLOEXEC);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      ::kill(program, SIGINT);
      ::close(pipe);
    };
    const ProgramResult result = run({"run", "slow.y4m", "-o", output});
    EXPECT_EQ(result.exit_code, 130) << result.err;
    EXPECT_THAT(result.err, HasSubstr(says));
    EXPECT_THAT(folder_.names(), ElementsAre("in.y4m", "slow.y4m"));
    std::filesystem::remove(folder_.path() / "slow.y4m");
  }
}

TEST_F(RunCommand, WhatIsOfEncodedVideoIsRefusedWhereNoneIs) {
  for (const char* output : {"null", "out.y4m", "-", "s%05d.ppm"}) {
    for (const std::vector<std::string>& flag : std::vector<std::vector<std::string>>{
             {"--encoder", "x264"}, {"--quality", "20"}, {"--lossless"}}) {
      std::vector<std::string> words{"run", "in.y4m", "-o", output};
      words.insert(words.end(), flag.begin(), flag.end());
      const ProgramResult result = run(words);
      EXPECT_EQ(result.exit_code, 2) << output;
      EXPECT_THAT(lines_of(result.err), SizeIs(1));
      EXPECT_THAT(result.err, HasSubstr(flag.front() + " is of video that is encoded"));
      EXPECT_THAT(result.err, HasSubstr(std::string("left out for ") + output));
    }
  }
  folder_.write("keys.toml", "[run]\nencoder = \"ffv1\"\nlossless = true\nquality = \"\"\n");
  const ProgramResult result = run({"run", "in.y4m", "-o", "null", "--config", "keys.toml"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(
      result.err,
      HasSubstr("keys.toml:2 encoder, keys.toml:3 lossless: null is not encoded, not used"));
}

TEST_F(RunCommand, APageForOthersNeedsAToken) {
  const ProgramResult open =
      run({"run", "in.y4m", "-o", "null", "--serve", "0.0.0.0:0", "--serve-token", "none"});
#ifdef EQUALUX_HAVE_HTTP
  EXPECT_EQ(open.exit_code, 2);
  EXPECT_THAT(open.err, HasSubstr("must have a --serve-token"));
  const ProgramResult guarded = run(
      {"run", "in.y4m", "-o", "null", "--serve", "0.0.0.0:0", "--serve-token", "0123456789abcdef"});
  EXPECT_EQ(guarded.exit_code, 0) << guarded.err;
  EXPECT_THAT(guarded.err, HasSubstr("the page is at http://0.0.0.0:"));
  EXPECT_THAT(guarded.err, Not(HasSubstr("0123456789abcdef")));  // It is the user's to show.
  // Without one the program makes one, another each time, which must be seen to be of use.
  std::vector<std::string> made;
  for (const char* address : {"0.0.0.0:0", "0", "0"}) {
    const ProgramResult result =
        run({"run", "in.y4m", "-o", "null", "--serve", address, "--quiet"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, MatchesRegex("equalux: the page is at http://[0-9.]*:[0-9]*/"
                                         "[?]token=[0-9a-f]{32}\n"));
    EXPECT_THAT(made, Not(Contains(result.err.substr(result.err.find('=')))));
    made.push_back(result.err.substr(result.err.find('=')));
  }
  const ProgramResult none =
      run({"run", "in.y4m", "-o", "null", "--serve", "0", "--serve-token", "none"});
  EXPECT_THAT(none.err, HasSubstr("the page is at http://127.0.0.1:"));
  EXPECT_THAT(none.err, Not(HasSubstr("token")));
#else
  EXPECT_EQ(open.exit_code, 69);
  EXPECT_THAT(open.err, HasSubstr("libmicrohttpd"));
#endif
  const ProgramResult alone = run({"run", "in.y4m", "-o", "null", "--serve-token", "x"});
  EXPECT_EQ(alone.exit_code, 2);
}

TEST_F(RunCommand, ADeviceWhereNoneAnswersIsSaid) {
  options_.environment = {{"CUDA_VISIBLE_DEVICES", "-1"}};
  const ProgramResult result = run({"run", "in.y4m", "-o", "null", "--device", "3"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("--device is 3, not used: "));
  EXPECT_THAT(result.err, HasSubstr("; the CPU takes over"));
  EXPECT_THAT(run({"run", "in.y4m", "-o", "null", "--device", "-1"}).err,
              Not(HasSubstr("--device")));
}

#ifdef EQUALUX_HAVE_HTTP
TEST_F(RunCommand, AFileWithoutATokenOpensNoPage) {
  const auto page_with = [&](const std::string& text) {
    folder_.write("token.txt", text);
    return run({"run", "in.y4m", "-o", "null", "--serve", "0", "--serve-token", "@token.txt"});
  };
  for (const char* text : {"", "\n", "\r\n", "\n0123456789abcdef\n"}) {
    const ProgramResult result = page_with(text);
    EXPECT_EQ(result.exit_code, 2) << "'" << text << "'";
    EXPECT_THAT(lines_of(result.err), SizeIs(1));
    EXPECT_THAT(result.err, HasSubstr("--serve-token @token.txt"));
  }
  // Without its line end this token is one character too short.
  EXPECT_THAT(page_with("0123456789abcde\r\n").err, HasSubstr("has 15 characters"));
  EXPECT_EQ(page_with("0123456789abcdef\r\n").exit_code, 0);
}
#endif

TEST_F(RunCommand, BatchGoesOnAfterAFailureAndSaysSo) {
  folder_.write("set/a.y4m", dim_y4m(32, 16, 3));
  folder_.write("set/deep/b.y4m", dim_y4m(32, 16, 4));
  folder_.write("set/bad.y4m", "YUV4MPEG2 nonsense\n");
  folder_.write("set/readme.txt", "no media");
  const ProgramResult result = run({"batch", "set", "missing.y4m", "--out", "results"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(folder_.names(), Contains("results/a.y4m"));
  EXPECT_THAT(folder_.names(), Contains("results/deep/b.y4m"));
  EXPECT_THAT(folder_.names(), Not(Contains("results/bad.y4m")));
  EXPECT_THAT(result.err, HasSubstr("status"));
  EXPECT_THAT(result.err, HasSubstr("failed"));
  EXPECT_THAT(result.err, HasSubstr("no media by their names: 1"));
}

TEST_F(RunCommand, BatchOfWholeFilesIsDone) {
  const ProgramResult result = run({"batch", "in.y4m", "--out", "results", "--frames", "4"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("done, 4 frames"));
}

TEST_F(RunCommand, BatchTakesManyInputsOfAnyName) {
  folder_.write("[set]/a.y4m", dim_y4m(32, 16, 2));
  folder_.write("run", "");
  const ProgramResult result =
      run({"batch", "[set]", "in.y4m", "--out", "results", "--quiet", "--frames", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(folder_.names(), Contains("results/a.y4m"));
  EXPECT_THAT(folder_.names(), Contains("results/in.y4m"));
}

TEST_F(RunCommand, DevicesAsTextAndJson) {
  options_.environment = {{"CUDA_VISIBLE_DEVICES", "-1"}};
  const ProgramResult text = run({"devices"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("auto takes  the CPU"));
  const ProgramResult result = run({"devices", "--json", "--threads", "3"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = parse_json(result.out);
  EXPECT_EQ(json["backend"], "cpu");
  EXPECT_EQ(json["threads"], 3);
  EXPECT_FALSE(json["cuda"]["available"]);
}

}  // namespace
}  // namespace equalux::test

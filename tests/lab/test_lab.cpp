#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <thread>

#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/frame_hash.h"
#include "src/lab/equalize/scalers.h"
#include "src/lab/experiment.h"
#include "src/lab/lab.h"
#include "tests/lab/lab_fixture.h"
#include "tests/support/media/test_images.h"

/// `equalux lab` as a user runs it, without a GPU.
namespace equalux::test {
namespace {

using cli::lab::Table;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

class Lab : public LabTest {};

TEST_F(Lab, ScansOfTheCpuAreTimedAndRight) {
  const ProgramResult result = measure("scans", {"--most-bins", "512"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_results("scans");
  const Table scans = table("scans");
  std::map<std::string, int> rows;
  for (std::size_t i = 0; i < scans.rows.size(); ++i) {
    ++rows[scans.text(i, "variant")];
    EXPECT_EQ(scans.text(i, "backend"), "cpu");
    EXPECT_EQ(scans.text(i, "correct"), "yes");
    EXPECT_GT(scans.number(i, "us"), 0);
    EXPECT_LE(scans.number(i, "n"), 512);
  }
  // 2 to 512, and 3, 100, 255, 257.
  EXPECT_THAT(rows, ElementsAre(std::pair("baseline", 13), std::pair("brent-kung", 13),
                                std::pair("kogge-stone", 13), std::pair("running-sum", 13),
                                std::pair("two-ended", 13)));
}

TEST_F(Lab, StagesShareTheTime) {
  const ProgramResult result = measure("stages", {"--repeat", "5", "--bins", "64"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_results("stages");
  const Table stages = table("stages");
  EXPECT_GT(stages.fact_number("copy_gb_s"), 0);
  std::vector<std::string> names;
  double share = 0;
  for (std::size_t i = 0; i < stages.rows.size(); ++i) {
    names.push_back(stages.text(i, "stage"));
    share += stages.number(i, "share_percent");
    EXPECT_EQ(stages.number(i, "calls"), 5);
    EXPECT_LE(stages.number(i, "min_us"), stages.number(i, "mean_us"));
    EXPECT_LE(stages.number(i, "mean_us"), stages.number(i, "max_us"));
    EXPECT_NEAR(stages.number(i, "floor_us"),
                stages.number(i, "bytes") / stages.fact_number("copy_gb_s") / 1e3,
                1e-3 * stages.number(i, "floor_us"));
  }
  EXPECT_THAT(names, ElementsAre("rgb_to_hsv", "histogram", "cdf_scan", "equalize", "hsv_to_rgb"));
  EXPECT_NEAR(share, 100, 0.01);
  EXPECT_EQ(stages.number(0, "bytes"), 40 * 30 * (3 + 12));
}

TEST_F(Lab, HashesAreThoseOfTheFilters) {
  const ProgramResult result = measure("hashes");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_results("hashes", false);
  const Image image = cli::lab::read_lab_image(kImage);
  const Table hashes = table("hashes");
  EXPECT_EQ(hashes.fact("input_md5"), frame_md5(image.view()));
  ASSERT_THAT(hashes.rows, SizeIs(6));
  for (std::size_t i = 0; i < hashes.rows.size(); ++i) {
    EqualizeParams params;
    params.chain = *enum_from<Chain>(hashes.text(i, "chain"));
    params.scaler = *enum_from<Scaler>(hashes.text(i, "scaler"));
    const auto filter = make_cpu_filter(params);
    filter->configure(image.desc());
    Image out(image.desc());
    FrameContext context;
    filter->submit(image.view(), out.view(), context);
    EXPECT_EQ(hashes.text(i, "md5"), frame_md5(out.view())) << i;
  }
}

TEST_F(Lab, ScalersDifferAsADirectCountSays) {
  const ProgramResult result = measure("scalers", {"--shift-value", "-60"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_results("scalers");
  if (have_gnuplot()) {
    EXPECT_EQ(folder_.read("out/scalers-pictures.png").substr(1, 3), "PNG");
    EXPECT_EQ(folder_.read("out/scalers-shift.png").substr(1, 3), "PNG");
  }
  const Image image = cli::lab::read_lab_image(kImage);
  const Image shifted = cli::lab::shift_value(image.view(), -60);
  std::map<std::string, Image> results;
  for (const std::string_view name : enum_names<Scaler>()) {
    EqualizeParams params;
    params.scaler = *enum_from<Scaler>(name);
    const auto filter = make_cpu_filter(params);
    filter->configure(image.desc());
    FrameContext context;
    Image& out = results[std::string(name)] = Image(image.desc());
    filter->submit(shifted.view(), out.view(), context);
  }
  const Table scalers = table("scalers");
  ASSERT_THAT(scalers.rows, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) {
    const Image& a = results[scalers.text(i, "scaler")];
    const Image& b = results[scalers.text(i, "other")];
    EXPECT_EQ(scalers.number(i, "values"), 40 * 30 * 3);
    EXPECT_EQ(scalers.number(i, "differ"),
              static_cast<double>(count_differences(a.view(), b.view())));
    EXPECT_EQ(scalers.number(i, "largest_difference"), max_difference(a.view(), b.view()));
  }
}

TEST_F(Lab, LoadSamplesEveryCall) {
  const ProgramResult result = measure("load", {"--repeat", "3", "--call-ms", "60"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_results("load");
  const Table load = table("load");
  EXPECT_FALSE(load.has_column("gpu_percent"));
  std::vector<std::string> calls;
  double before = 0;
  for (std::size_t i = 0; i < load.rows.size(); ++i) {
    calls.push_back(load.text(i, "call"));
    EXPECT_GT(load.number(i, "time_s"), before);
    EXPECT_GE(load.number(i, "cpu_process_percent"), 0);
    before = load.number(i, "time_s");
  }
  EXPECT_THAT(calls, IsSupersetOf({"0", "1", "2", "3"}));
  EXPECT_GT(load.number(load.rows.size() - 1, "frames"), 2);
}

TEST_F(Lab, WithoutGnuplotTablesAreThereAndItIsSaid) {
  options_.environment = {{"PATH", "/nonexistent"}};
  const ProgramResult result = measure("stages", {"--repeat", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("gnuplot-nox"));
  EXPECT_THAT(folder_.names(), ElementsAre("out", "out/stages.csv", "out/stages.md"));
  const ProgramResult plot = lab({"plot", "out/stages.csv"});
  EXPECT_EQ(plot.exit_code, 69);
  EXPECT_THAT(lines_of(plot.err), ElementsAre(HasSubstr("gnuplot-nox")));
}

TEST_F(Lab, PlotMakesTheSameMarkdownFromTheCsvAlone) {
  ASSERT_EQ(measure("hashes").exit_code, 0);
  folder_.write("elsewhere/h.csv", folder_.read("out/hashes.csv"));
  const ProgramResult result = lab({"plot", "elsewhere/h.csv"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(folder_.read("elsewhere/h.md"), folder_.read("out/hashes.md"));
}

TEST_F(Lab, PlotDoesNotWriteOverItsInput) {
  ASSERT_EQ(measure("hashes").exit_code, 0);
  folder_.write("h.md", folder_.read("out/hashes.csv"));
  EXPECT_EQ(lab({"plot", "h.md"}).exit_code, 2);
  EXPECT_EQ(folder_.read("h.md"), folder_.read("out/hashes.csv"));
}

/// Small tables of the experiments that need a GPU, with round figures: what is tested is that
/// they are drawn.
const std::map<std::string, std::string>& gpu_tables() {
  static const std::string facts =
      "# device: A card, with \"quotes\"\n# size: 8x8 bgr\n# cpu: it's\n";
  static const std::map<std::string, std::string> tables{
      {"sweep", facts + "grid_x,block_x,threads,whole_ms,kernels_ms,calls,same_bytes\n"
                        "1,1,1,100,90,1,yes\n1,4,4,50,40,1,yes\n4,1,4,20,10,1,yes\n"},
      {"threads", facts +
                      "# cpu_threads: 2\n# cpu_mean_ms: 3\n# cpu_1_thread_mean_ms: 5\n"
                      "# log2_pixels: 6\n"
                      "log2_threads,grid,block,block_threads,whole_ms,kernels_ms,calls,"
                      "same_bytes\n0,1x1x1,1x1x1,1,100,90,1,yes\n3,1x1x1,2x2x2,8,50,40,1,yes\n"},
      {"access", facts + "variant,geometry,grid,block,pixels_per_thread,us,gb_s,calls,correct\n"
                         "coalesced,report,8x1x1,8x1x1,1,100,1,1,yes\n"
                         "uncoalesced,report,8x1x1,8x1x1,1,200,1,1,yes\n"},
      {"histograms", facts + "content,variant,bins,us,calls,correct\n"
                             "flat,global,16,100,1,yes\nflat,shared,16,10,1,yes\n"},
      {"scans", facts + "backend,variant,n,geometry,us,calls,correct\n"
                        "cuda,cub,2,chosen,3,9,yes\ncuda,cub,256,chosen,4,9,yes\n"
                        "cuda,cub,256,8x8x1 blocks of 8x4x1,5,9,yes\n"},
      {"timeline", facts + "frame,lane,begin_us,end_us\n"
                           "0,upload,0,10\n0,kernels,11,14\n0,download,15,24\n"},
      {"load", facts + "backend,time_s,call,frames,cpu_process_percent,cpu_machine_percent,"
                       "gpu_percent\ncuda,0.1,0,0,1,,0\ncuda,0.2,1,5,50,60,90\n"},
  };
  return tables;
}

TEST_F(Lab, ACsvThatAKillCutShortIsStillDrawn) {
  folder_.write("out/sweep.csv",
                "# equalux lab sweep\n# device: A card\n"
                "grid_x,block_x,threads,whole_ms,kernels_ms,calls,same_bytes\n"
                "1,1,1,100,90,1,yes\n");
  const ProgramResult result = lab({"plot", "out/sweep.csv"});
  EXPECT_EQ(result.exit_code, have_gnuplot() ? 0 : 69) << result.err;
  EXPECT_THAT(folder_.read("out/sweep.md"), HasSubstr("| 1 | 100 |"));
}

TEST_F(Lab, PlotsEveryExperimentOfAnotherMachine) {
  if (!have_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  for (const auto& [name, text] : gpu_tables()) {
    folder_.write("out/" + name + ".csv", "# equalux lab " + name + "\n" + text);
    const ProgramResult result = lab({"plot", "out/" + name + ".csv"});
    EXPECT_EQ(result.exit_code, 0) << name << ": " << result.err;
    EXPECT_EQ(result.err, "") << name;
    expect_results(name);
  }
}

TEST_F(Lab, ABrokenOrForeignCsvIsOneLine) {
  const std::string sweep = "# equalux lab sweep\n";
  folder_.write("foreign.csv", "a,b\n1,2\n");
  folder_.write("unknown.csv", "# equalux lab dance\na\n1\n");
  folder_.write("empty.csv", sweep + "grid_x\n");
  folder_.write("short.csv", sweep + "grid_x,block_x\n1\n");
  folder_.write("columns.csv", sweep + "grid_x,block_x\n1,2\n");
  folder_.write("words.csv", sweep + "grid_x,block_x,whole_ms,kernels_ms\n1,2,fast,faster\n");
  for (const char* name : {"foreign", "unknown", "empty", "short", "columns", "words"}) {
    const std::string file = std::string(name) + ".csv";
    const ProgramResult result = lab({"plot", file});
    EXPECT_EQ(result.exit_code, 65) << name;
    EXPECT_THAT(lines_of(result.err), ElementsAre(HasSubstr(file))) << name;
  }
  const ProgramResult missing = lab({"plot", "missing.csv"});
  EXPECT_EQ(missing.exit_code, 66);
  EXPECT_THAT(lines_of(missing.err), ElementsAre(HasSubstr("missing.csv")));
  EXPECT_THAT(folder_.names(), Not(Contains(HasSubstr(".md"))));
}

struct BadLab {
  std::vector<std::string> arguments;
  int code;
  std::string says;
};

TEST_F(Lab, SaysWhatIsWrong) {
  folder_.write("bad.ppm", "P6\n16 8\n255\nshort");
  folder_.write("file", "");
  for (const BadLab& bad : {
           BadLab{{}, 2, "EXPERIMENT is missing"},
           BadLab{{"sweeep"}, 2, "must be sweep"},
           BadLab{{"plot"}, 2, "FILE.csv is missing"},
           BadLab{{"hashes", "missing.ppm"}, 66, "missing.ppm"},
           BadLab{{"hashes", "bad.ppm"}, 65, "bad.ppm"},
           BadLab{{"hashes", "test:0x0"}, 2, "test:0x0"},
           BadLab{{"hashes", "test:8x8", "one-more"}, 2, "one-more"},
           BadLab{{"hashes", "test:8x8", "--bins", "1"}, 2, "bins is 1"},
           BadLab{{"hashes", "test:8x8", "--out", "file", "--backend", "cpu"}, 73, "--out"},
           BadLab{{"sweep", "test:8x8", "--backend", "cpu"}, 2, "--backend must be auto or cuda"},
           BadLab{{"sweep", "test:8x8", "--grid", "8,1,1"}, 2, "--grid is what lab sweep varies"},
           BadLab{{"scans", "test:8x8", "--scan", "cub"}, 2, "--scan is what lab scans varies"},
           BadLab{{"hashes", "test:8x8", "--scaler", "max-abs"},
                  2,
                  "--scaler is what lab hashes varies"},
           BadLab{{"stages", "test:8x8", "--backend", "cpu", "--scan", "cub"},
                  2,
                  "scan cub exists on the CUDA"},
           BadLab{{"scalers", "--shift-value", "300"}, 2, "--shift-value"},
           BadLab{{"load", "--call-ms", "0"}, 2, "--call-ms"},
       }) {
    const ProgramResult result = lab(bad.arguments);
    EXPECT_EQ(result.exit_code, bad.code) << result.err;
    EXPECT_THAT(lines_of(result.err), ElementsAre(HasSubstr(bad.says)));
  }
  EXPECT_THAT(folder_.names(), ElementsAre("bad.ppm", "file"));
}

TEST_F(Lab, OptionsOfOtherExperimentsAreNamed) {
  struct Case {
    std::vector<std::string> arguments;
    std::string unread;
  };
  folder_.write("lab.toml", "[lab]\nframes = 3\nclip-limit = 2.0\nscan = \"baseline\"\n");
  for (const Case& given : {
           Case{{"hashes", "--frames", "3"}, "lab hashes: --frames changes nothing"},
           Case{{"hashes", "--repeat", "2", "--space", "luma", "--scan", "baseline"},
                "lab hashes: --repeat, --space, --scan change nothing"},
           Case{{"hashes", "--bins", "16"}, ""},
           Case{{"scalers", "--scan", "baseline"}, "lab scalers: --scan changes nothing"},
           Case{{"scalers", "--bins", "16", "--shift-value", "-3"}, ""},
           Case{{"hashes", "--config", "lab.toml"}, ""},
       }) {
    std::vector<std::string> arguments = given.arguments;
    arguments.insert(arguments.begin() + 1, "test:8x8");
    arguments.insert(arguments.end(), {"--backend", "cpu", "--out", "out"});
    const ProgramResult result = lab(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<std::string> unread = lines_of(result.err);
    std::erase_if(unread, [](const std::string& line) {
      return line.ends_with(".md") || line.ends_with(".svg");
    });
    if (given.unread.empty()) {
      EXPECT_THAT(unread, ElementsAre());
    } else {
      EXPECT_THAT(unread, ElementsAre("equalux: " + given.unread));
    }
  }
  const ProgramResult plot = lab({"plot", "out/hashes.csv", "--out", "other", "--repeat", "2"});
  EXPECT_EQ(plot.exit_code, 0) << plot.err;
  EXPECT_THAT(lines_of(plot.err), ElementsAre("equalux: lab plot: --out, --repeat change nothing"));
}

TEST_F(Lab, WithoutAGpuItIsSaid) {
  if (cuda_status().available) GTEST_SKIP() << "a CUDA device answers";
  for (const char* experiment : {"sweep", "threads", "access", "histograms", "timeline"}) {
    const ProgramResult result = lab({experiment, kImage, "--out", "out"});
    EXPECT_EQ(result.exit_code, 69) << experiment;
    EXPECT_THAT(lines_of(result.err), ElementsAre(HasSubstr("cuda: ")));
  }
  EXPECT_EQ(lab({"hashes", kImage, "--backend", "cuda"}).exit_code, 69);
  EXPECT_THAT(folder_.names(), ElementsAre());
  const ProgramResult hashes = lab({"hashes", kImage, "--out", "out"});
  EXPECT_EQ(hashes.exit_code, 0) << hashes.err;
  EXPECT_THAT(hashes.err, HasSubstr("cuda is not measured"));
  EXPECT_NE(table("hashes").fact("absent_cuda"), "");
}

TEST_F(Lab, HelpNamesEveryExperiment) {
  const ProgramResult help = lab({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  std::vector<std::string_view> lines;
  for (const cli::lab::ExperimentLine& line : cli::lab::experiment_lines()) {
    lines.push_back(line.name);
    EXPECT_THAT(help.out, HasSubstr("\n  " + std::string(line.name) + " "));
  }
  std::vector<std::string_view> names;
  for (const cli::lab::Experiment& experiment : cli::lab::experiments())
    names.push_back(experiment.name);
  EXPECT_EQ(names, lines);
  EXPECT_THAT(help.out, HasSubstr("lab EXPERIMENT [IMAGE]"));
  EXPECT_EQ(run_program({"help", "lab"}).out, help.out);
}

/// A copy of equalux without equalux-lab beside it, and a PATH of one folder.
class LabProgram : public LabTest {
 protected:
  LabProgram() {
    std::filesystem::create_directories(folder_.path() / "bin");
    std::filesystem::create_directories(folder_.path() / "path");
    options_.program = folder_ / "bin/equalux";
    std::filesystem::copy_file(EQUALUX_PROGRAM_FOLDER "/equalux", options_.program);
    options_.environment = {{"PATH", folder_ / "path"}};
  }
  /// One that says its name and its arguments.
  void write_program(const std::string& name) const {
    folder_.write(name, "#!/bin/sh\necho " + name + " \"$@\"\nexit 5\n");
    std::filesystem::permissions(folder_.path() / name, std::filesystem::perms::owner_all);
  }
};

TEST_F(LabProgram, IsFoundBesideEqualuxThenInThePath) {
  write_program("path/equalux-lab");
  ProgramResult result = lab({"sweep", "--out", "a b"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.out, "path/equalux-lab sweep --out a b\n");
  write_program("bin/equalux-lab");
  result = lab({"--help"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.out, "bin/equalux-lab --help\n");
  EXPECT_EQ(run_program({"help", "lab"}, options_).out, result.out);
}

TEST_F(LabProgram, WhereItIsMissingOneLineSaysWhatToInstall) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"lab", "sweep"}, {"lab", "--help"}, {"help", "lab"}}) {
    const ProgramResult result = run_program(words, options_);
    EXPECT_EQ(result.exit_code, 69);
    EXPECT_THAT(lines_of(result.err),
                ElementsAre(AllOf(HasSubstr("equalux-lab"), HasSubstr("must lie beside equalux"))));
    EXPECT_EQ(result.out, "");
  }
  EXPECT_THAT(run_program({"--help"}, options_).out, HasSubstr("  lab  "));
}

TEST_F(LabProgram, ThatIsNoProgramIsSaid) {
  folder_.write("bin/equalux-lab", "text");
  write_program("path/equalux-lab");
  const ProgramResult result = lab({"sweep"});
  EXPECT_EQ(result.exit_code, 69);
  EXPECT_THAT(lines_of(result.err), ElementsAre(HasSubstr("Permission denied")));
}

TEST_F(LabProgram, OptionsAreKnownWithoutIt) {
  folder_.write("a.toml", "threads = 1\n[lab]\nmost-bins = 64\n");
  folder_.write("b.toml", "[lab]\nmost-bin = 64\n");
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "test:16x16", "-o", "null", "--frames", "1"});
    return run_program(more, options_);
  };
  const ProgramResult known = run({"--preset", "plain", "--config", "a.toml"});
  EXPECT_EQ(known.exit_code, 0) << known.err;
  const ProgramResult unknown = run({"--config", "b.toml"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err,
              HasSubstr("b.toml:2: key most-bin is unknown to equalux lab, must be most-bins"));
  EXPECT_THAT(run({"--most-bins", "64"}).err, HasSubstr("it belongs to equalux lab"));
}

TEST_F(Lab, TakesTheSignalsOfEqualuxWhichItReplaces) {
  std::string running;
  options_.meanwhile = [&](int process) {
    const std::filesystem::path link = "/proc/" + std::to_string(process) + "/exe";
    for (int i = 0; i < 1000 && !running.ends_with("/equalux-lab"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      std::error_code ignored;
      running = std::filesystem::read_symlink(link, ignored).string();
    }
    ::kill(process, SIGTERM);
  };
  const ProgramResult result = measure("load", {"--call-ms", "30000"});
  EXPECT_THAT(running, HasSubstr("/equalux-lab"));
  EXPECT_EQ(result.exit_code, 143);
  EXPECT_LT(result.seconds, 20);
}

}  // namespace
}  // namespace equalux::test

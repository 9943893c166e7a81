#include <cstdlib>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batch/plan.h"
#include "support/program.h"

namespace equalux::cli {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> outputs_of(const BatchPlan& plan, const std::string& out) {
  std::vector<std::string> outputs;
  for (const BatchJob& job : plan.jobs) {
    outputs.push_back(std::filesystem::path(job.output).lexically_relative(out).string());
  }
  return outputs;
}

TEST(BatchPlan, MirrorsFoldersInNaturalOrder) {
  const test::TemporaryFolder folder;
  for (const char* name : {"in/a10.mp4", "in/a2.avi", "in/sub/b.MKV", "in/notes.txt",
                           "in/a2.partial.mp4", "in/sub/c.webm"}) {
    folder.write(name, "x");
  }
  const BatchPlan plan = plan_batch({folder / "in"}, {}, folder / "out", "");
  EXPECT_THAT(outputs_of(plan, folder / "out"),
              ElementsAre("a2.mkv", "a10.mp4", "sub/b.mkv", "sub/c.mkv"));
  EXPECT_EQ(plan.skipped, 2U);
  EXPECT_THAT(
      outputs_of(plan_batch({folder / "in/a2.avi"}, {}, folder / "out", "mp4"), folder / "out"),
      ElementsAre("a2.mp4"));
}

TEST(BatchPlan, LeavesItsOwnResultsOut) {
  const test::TemporaryFolder folder;
  folder.write("a.mp4", "x");
  folder.write("out/a.mp4", "x");
  const BatchPlan plan = plan_batch({folder.path().string()}, {}, folder / "out", "");
  EXPECT_THAT(outputs_of(plan, folder / "out"), ElementsAre("a.mp4"));
}

TEST(BatchPlan, RefusesTwoInputsOfOneName) {
  EXPECT_THROW((void)plan_batch({"x/a.mp4", "y/a.mp4"}, {}, "out", ""), Error);
  EXPECT_THROW((void)plan_batch({"a.mp4", "a.avi"}, {}, "out", "mkv"), Error);
  EXPECT_NO_THROW((void)plan_batch({"a.mp4", "a.avi"}, {}, "out", ""));
}

TEST(BatchPlan, RefusesToOverwriteInputs) {
  const test::TemporaryFolder folder;
  folder.write("a.mp4", "x");
  EXPECT_THROW((void)plan_batch({folder / "a.mp4"}, {}, folder.path().string(), ""), Error);
}

TEST(BatchPlan, RefusesToOverwriteTheInputOfAnotherJob) {
  const test::TemporaryFolder folder;
  folder.write("a.mp4", "x");
  folder.write("out/b.mp4", "y");
  const std::string chain = "a.mp4\tb.mp4\nout/b.mp4\tc.mp4";
  EXPECT_THROW((void)plan_batch({}, parse_manifest(chain, folder.path().string(), "list"),
                                folder / "out", ""),
               Error);
  const std::string apart = "a.mp4\td.mp4\nout/b.mp4\tc.mp4";
  EXPECT_NO_THROW((void)plan_batch({}, parse_manifest(apart, folder.path().string(), "list"),
                                   folder / "out", ""));
}

TEST(Manifest, NamesInputsAndResults) {
  const auto entries = parse_manifest("a.mp4\r\n\n# a comment\nsub/b c.mkv\tother/name.mkv\n/c.avi",
                                      "/lists", "list");
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].input, "/lists/a.mp4");
  EXPECT_EQ(entries[0].output, "");
  EXPECT_EQ(entries[1].input, "/lists/sub/b c.mkv");
  EXPECT_EQ(entries[1].output, "other/name.mkv");
  EXPECT_EQ(entries[2].input, "/c.avi");
  EXPECT_THAT(outputs_of(plan_batch({}, entries, "out", ""), "out"),
              ElementsAre("a.mp4", "other/name.mkv", "c.mkv"));
}

TEST(Manifest, RefusesWhatLeadsOutsideAndWhatIsNoLine) {
  for (const char* text : {"a.mp4\t../b.mp4", "a.mp4\t/b.mp4", "a.mp4\t", "a.mp4\t.", "a\tb\tc",
                           "\tb.mp4", "x/../a.mp4\tb/../../c.mp4"}) {
    EXPECT_THROW((void)parse_manifest(text, "", "list"), Error) << text;
  }
  EXPECT_THROW((void)parse_manifest(std::string_view("a\0b", 3), "", "list"), Error);
  EXPECT_THROW((void)read_manifest("no/such/list"), Error);
  EXPECT_THROW((void)plan_batch({}, parse_manifest("a/x.mp4\nb/x.mp4", "", "list"), "out", ""),
               Error);
}

struct ShardTest : ::testing::Test {
  ~ShardTest() override {
    for (const char* name :
         {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
          "SLURM_ARRAY_TASK_STEP", "JOB_COMPLETION_INDEX"}) {
      ::unsetenv(name);
    }
  }
  static void slurm(const char* id, const char* count, const char* first, const char* step) {
    ::setenv("SLURM_ARRAY_TASK_ID", id, 1);
    ::setenv("SLURM_ARRAY_TASK_COUNT", count, 1);
    ::setenv("SLURM_ARRAY_TASK_MIN", first, 1);
    ::setenv("SLURM_ARRAY_TASK_STEP", step, 1);
  }
  static std::pair<std::size_t, std::size_t> read(const std::string& text) {
    const Shard shard = parse_shard(text);
    return {shard.index, shard.count};
  }
  using Pair = std::pair<std::size_t, std::size_t>;
};

TEST_F(ShardTest, TogetherTheyAreThePlan) {
  BatchPlan plan;
  plan.jobs.resize(11);
  std::vector<std::size_t> all;
  for (const char* text : {"0/4", "1/4", "2/4", "3/4"}) {
    for (const std::size_t job : jobs_of(plan, parse_shard(text)))
      all.push_back(job);
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(jobs_of(plan, parse_shard("")).size(), 11U);
  EXPECT_TRUE(jobs_of(plan, parse_shard("12/13")).empty());
}

TEST_F(ShardTest, ReadsSlurmsArrays) {
  slurm("7", "4", "1", "2");
  EXPECT_EQ(read("auto"), Pair(3, 4));
  EXPECT_EQ(read("/16"), Pair(7, 16));
  slurm("0", "8", "0", "1");
  EXPECT_EQ(read("auto"), Pair(0, 8));
  // An array with holes: two of its tasks would take one share.
  slurm("7", "3", "1", "1");
  EXPECT_THROW((void)parse_shard("auto"), Error);
  slurm("4", "2", "1", "2");
  EXPECT_THROW((void)parse_shard("auto"), Error);
}

TEST_F(ShardTest, ReadsIndexedJobs) {
  ::setenv("JOB_COMPLETION_INDEX", "5", 1);
  EXPECT_EQ(read("/8"), Pair(5, 8));
  EXPECT_THROW((void)parse_shard("/5"), Error);
  EXPECT_THROW((void)parse_shard("auto"), Error);
}

TEST_F(ShardTest, RefusesTheRest) {
  for (const char* text :
       {"/4", "auto", "4/4", "-1/4", "1/0", "1", "a/b", "1/4/2", "1/1000001", "1 /4"}) {
    EXPECT_THROW((void)parse_shard(text), Error) << text;
  }
}

}  // namespace
}  // namespace equalux::cli

#include <cerrno>
#include <cstdlib>
#include <set>

#include <dirent.h>
#include <dlfcn.h>
#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "src/cli/batch/plan.h"
#include "tests/support/as_nobody.h"
#include "tests/support/program.h"

namespace equalux::cli {
namespace {

using ::testing::ElementsAre;

int entries_until_failure = -1;  ///< what readdir() gives before it fails; -1 = all

}  // namespace
}  // namespace equalux::cli

/// In place of the C library's, for the whole program.
extern "C" [[gnu::visibility("default")]] struct dirent* readdir(DIR* folder) {
  using Read = struct dirent* (*)(DIR*);
  static const auto real = reinterpret_cast<Read>(::dlsym(RTLD_NEXT, "readdir"));
  int& left = equalux::cli::entries_until_failure;
  if (left == 0) {
    errno = EIO;
    return nullptr;
  }
  if (left > 0) --left;
  return real(folder);
}

namespace equalux::cli {
namespace {

std::vector<std::string> outputs_of(const BatchPlan& plan, const std::string& out) {
  std::vector<std::string> outputs;
  for (const BatchJob& job : plan.jobs) {
    outputs.push_back(std::filesystem::path(job.output).lexically_relative(out).string());
  }
  return outputs;
}

TEST(BatchPlan, MirrorsFoldersInNaturalOrder) {
  const test::TempFolder folder;
  for (const char* name : {"in/a10.mp4", "in/a2.avi", "in/sub/b.MKV", "in/notes.txt",
                           "in/a2.partial.mp4", "in/sub/c.webm"}) {
    folder.write(name, "x");
  }
  const BatchPlan plan = plan_batch({folder / "in"}, {}, folder / "out", "");
  EXPECT_THAT(outputs_of(plan, folder / "out"),
              ElementsAre("a2.mkv", "a10.mp4", "sub/b.mkv", "sub/c.mkv"));
  EXPECT_EQ(plan.skipped, 1U);
  EXPECT_THAT(plan.left_out.partial, ElementsAre(folder / "in/a2.partial.mp4"));
  EXPECT_THAT(
      outputs_of(plan_batch({folder / "in/a2.avi"}, {}, folder / "out", "mp4"), folder / "out"),
      ElementsAre("a2.mp4"));
}

TEST(BatchPlan, TitlesTellFilesOfOneNameApart) {
  const test::TempFolder folder;
  for (const char* name : {"in/a/clip.mp4", "in/b/clip.avi", "x/clip.mkv", "y/odd.mp4"})
    folder.write(name, "x");
  const BatchPlan plan = plan_batch({folder / "in", folder / "x/clip.mkv"},
                                    {{folder / "y/odd.mp4", "even/clip.mp4"}}, folder / "out", "");
  std::vector<std::string> titles;
  for (const BatchJob& job : plan.jobs)
    titles.push_back(title_of(job));
  EXPECT_THAT(titles, ElementsAre("a/clip.mp4", "b/clip.avi", "clip.mkv", "odd.mp4"));
}

/// What `run` reads as a video by its name, a batch finds in folders.
TEST(BatchPlan, FindsAnimationsAndStreamsWithoutContainers) {
  const test::TempFolder folder;
  for (const char* name : {"in/1.GIF", "in/2.265", "in/3.mjpeg", "in/4.ivf", "in/5.m2t", "in/6.f4v",
                           "in/7.png", "in/8.apng", "in/9.ogg"}) {
    folder.write(name, "x");
  }
  const BatchPlan plan = plan_batch({folder / "in"}, {}, folder / "out", "");
  EXPECT_THAT(outputs_of(plan, folder / "out"),
              ElementsAre("1.mkv", "2.mkv", "3.mkv", "4.mkv", "5.mkv", "6.mkv"));
  EXPECT_EQ(plan.skipped, 3U);
}

TEST(BatchPlan, SaysWhatItLeavesOut) {
  const test::TempFolder folder;
  folder.write("in/a.mp4", "x");
  folder.write("elsewhere/b.mp4", "x");
  std::filesystem::create_symlink("a.mp4", folder / "in/link.mp4");
  std::filesystem::create_symlink("gone.mp4", folder / "in/broken.mp4");
  std::filesystem::create_symlink("gone.txt", folder / "in/broken.txt");
  std::filesystem::create_directory_symlink("../elsewhere", folder / "in/more");
  ASSERT_EQ(::mkfifo((folder / "in/pipe.mp4").c_str(), 0600), 0);
  const BatchPlan plan = plan_batch({folder / "in"}, {}, folder / "out", "");
  EXPECT_THAT(outputs_of(plan, folder / "out"), ElementsAre("a.mp4", "link.mp4"));
  EXPECT_EQ(plan.skipped, 1U);
  EXPECT_THAT(plan.left_out.broken_links, ElementsAre(folder / "in/broken.mp4"));
  EXPECT_THAT(plan.left_out.folder_links, ElementsAre(folder / "in/more"));
  EXPECT_THAT(plan.left_out.special, ElementsAre(folder / "in/pipe.mp4"));
  EXPECT_TRUE(plan.unreadable.empty());
}

TEST(BatchPlan, NamesFoldersThatCannotBeRead) {
  const test::TempFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  folder.write("in/a.mp4", "x");
  folder.write("in/closed/b.mp4", "x");
  folder.write("in/open/c.mp4", "x");
  std::filesystem::permissions(folder / "in/closed", std::filesystem::perms(0));
  {
    const test::AsNobody nobody;
    const BatchPlan plan = plan_batch({folder / "in"}, {}, folder / "out", "");
    EXPECT_THAT(outputs_of(plan, folder / "out"), ElementsAre("a.mp4", "open/c.mp4"));
    ASSERT_EQ(plan.unreadable.size(), 1U);
    EXPECT_EQ(plan.unreadable[0].folder, folder / "in/closed");
    EXPECT_EQ(plan.unreadable[0].reason, "Permission denied");
  }
  std::filesystem::permissions(folder / "in/closed", std::filesystem::perms(0755));
}

TEST(BatchPlan, NamesFoldersWhoseListingEndsEarly) {
  const test::TempFolder folder;
  for (int i = 0; i < 6; ++i)
    folder.write("in/" + std::to_string(i) + ".mp4", "x");
  entries_until_failure = 4;  // Some of them may be . and .. themselves.
  const BatchPlan plan = plan_batch({folder / "in"}, {}, folder / "out", "");
  entries_until_failure = -1;
  ASSERT_EQ(plan.unreadable.size(), 1U);
  EXPECT_EQ(plan.unreadable[0].folder, folder / "in");
  EXPECT_EQ(plan.unreadable[0].reason,
            "Input/output error after " + std::to_string(plan.jobs.size()) + " of its entries");
  EXPECT_GE(plan.jobs.size(), 2U);
  EXPECT_LE(plan.jobs.size(), 4U);
}

TEST(BatchPlan, LeavesItsOwnResultsOut) {
  const test::TempFolder folder;
  folder.write("a.mp4", "x");
  folder.write("out/a.mp4", "x");
  const BatchPlan plan = plan_batch({folder.path().string()}, {}, folder / "out", "");
  EXPECT_THAT(outputs_of(plan, folder / "out"), ElementsAre("a.mp4"));
}

TEST(BatchPlan, RefusesTwoInputsOfOneName) {
  EXPECT_THROW((void)plan_batch({"x/a.mp4", "y/a.mp4"}, {}, "out", ""), Error);
  EXPECT_NO_THROW((void)plan_batch({"a.mp4", "a.avi"}, {}, "out", ""));
  // Nor does the longer name help where it is another's.
  EXPECT_THROW((void)plan_batch({"a.avi", "a.gif", "a.avi.gif"}, {}, "out", ""), Error);
}

TEST(BatchPlan, ResultsOfOneNameKeepTheExtensionsOfTheirInputs) {
  const test::TempFolder folder;
  for (const char* name : {"in/a.gif", "in/a.avi", "in/b.avi", "in/b.mkv", "in/sub/a.avi",
                           "in/sub/c.MKV", "in/sub/c.mkv", "in/d.avi"}) {
    folder.write(name, "x");
  }
  const BatchPlan plan =
      plan_batch({folder / "in/a.gif", folder / "in", folder / "in/a.avi"}, {}, folder / "out", "");
  EXPECT_THAT(outputs_of(plan, folder / "out"),
              ::testing::UnorderedElementsAre("a.gif.mkv", "a.avi.mkv", "b.avi.mkv", "b.mkv",
                                              "d.mkv", "sub/a.mkv", "sub/c.MKV.mkv", "sub/c.mkv"));
  EXPECT_THAT(plan.renamed, ::testing::SizeIs(4));
  // The same names in another order, and in another container.
  EXPECT_THAT(outputs_of(plan_batch({"a.mp4", "a.avi"}, {}, "out", "mkv"), "out"),
              ElementsAre("a.mp4.mkv", "a.avi.mkv"));
  EXPECT_THAT(outputs_of(plan_batch({"a.avi", "a.mp4"}, {}, "out", "mp4"), "out"),
              ElementsAre("a.avi.mp4", "a.mp4"));
  // Names of a manifest count as names of inputs.
  EXPECT_THAT(
      outputs_of(plan_batch({"a.avi"}, parse_manifest("x.mpg\ta.mkv", "", "list"), "out", ""),
                 "out"),
      ElementsAre("a.avi.mkv", "a.mkv"));
}

TEST(BatchPlan, RefusesToOverwriteInputs) {
  const test::TempFolder folder;
  folder.write("a.mp4", "x");
  EXPECT_THROW((void)plan_batch({folder / "a.mp4"}, {}, folder.path().string(), ""), Error);
}

TEST(BatchPlan, RefusesToOverwriteTheInputOfAnotherJob) {
  const test::TempFolder folder;
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
  // As editors of Windows write it.
  const auto marked = parse_manifest("\xEF\xBB\xBF# list\r\na.mp4\r\n", "/lists", "list");
  ASSERT_EQ(marked.size(), 1U);
  EXPECT_EQ(marked[0].input, "/lists/a.mp4");
}

TEST(BatchPlan, RefusesResultsAmongWhatABatchRemembers) {
  const test::TempFolder folder;
  folder.write("in/.equalux/x.mp4", "x");
  EXPECT_THROW((void)plan_batch({folder / "in"}, {}, "out", ""), Error);
  for (const char* result : {".equalux/x.mp4", "./.equalux/sub/x.mp4", "sub/../.equalux/x.mp4"}) {
    EXPECT_THROW((void)parse_manifest("a.mp4\t" + std::string(result), "", "list"), Error)
        << result;
  }
  EXPECT_NO_THROW((void)parse_manifest("a.mp4\tsub/.equalux/x.mp4", "", "list"));
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
  for (int i = 0; i < 11; ++i)
    plan.jobs.push_back({"in", "out", "clips/" + std::to_string(i) + ".mp4"});
  std::vector<std::size_t> all;
  for (const char* text : {"0/4", "1/4", "2/4", "3/4"}) {
    for (const std::size_t job : jobs_of(plan, parse_shard(text)))
      all.push_back(job);
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(jobs_of(plan, parse_shard("")).size(), 11U);
}

TEST_F(ShardTest, AFileMoreMovesNoOtherOne) {
  const auto names_of = [](const BatchPlan& plan, const char* shard) {
    std::set<std::string> names;
    for (const std::size_t job : jobs_of(plan, parse_shard(shard)))
      names.insert(plan.jobs[job].name);
    return names;
  };
  BatchPlan before;
  for (int i = 0; i < 60; ++i)
    before.jobs.push_back({"in", "out", std::to_string(i) + ".mp4"});
  BatchPlan after = before;
  after.jobs.insert(after.jobs.begin(), {"in", "out", "0 new.mp4"});
  std::size_t all = 0;
  for (const char* shard : {"0/3", "1/3", "2/3"}) {
    const std::set<std::string> old_share = names_of(before, shard);
    std::set<std::string> new_share = names_of(after, shard);
    new_share.erase("0 new.mp4");
    EXPECT_EQ(old_share, new_share) << shard;
    EXPECT_GE(old_share.size(), 10U) << shard;
    all += old_share.size();
  }
  EXPECT_EQ(all, 60U);
}

TEST_F(ShardTest, SharesAreTheSameForEver) {
  EXPECT_EQ(shard_of("a.mp4", 1'000'000), 960932U);
  EXPECT_EQ(shard_of("sub/b c.mkv", 16), 12U);
  EXPECT_EQ(shard_of("clips/\xc3\xa9.mp4", 1000), 192U);
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

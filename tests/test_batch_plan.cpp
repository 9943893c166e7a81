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
  EXPECT_THAT(outputs_of(plan_batch({folder / "in/a2.avi"}, {}, folder / "out", "mp4"), folder / "out"),
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

}  // namespace
}  // namespace equalux::cli

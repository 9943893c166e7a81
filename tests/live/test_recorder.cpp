// Recording beside an output: files, their bounds, and what happens to them when something fails.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipelines/files/partial_file.h"
#include "pipelines/live/record_names.h"
#include "pipelines/live/recorder.h"
#include "tests/core/engine_fixture.h"
#include "tests/support/as_nobody.h"
#include "tests/support/process_holding.h"
#include "tests/support/temp_folder.h"

namespace equalux::test {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kFrameNs = 10'000'000;

/// What went into one file.
struct Recorded {
  std::string path;
  std::vector<std::uint64_t> indexes;
  std::vector<std::int64_t> pts_ns;
  std::vector<std::uint8_t> bytes;
  std::vector<Ending> endings;
};

/// Sinks that note what they get; each frame adds bytes to the partial file, as encoders do.
class Shelf {
 public:
  std::unique_ptr<Sink> make(const std::string& path) {
    const std::lock_guard lock(mutex_);
    files_.push_back({path, {}, {}, {}, {}});
    return std::make_unique<NotingSink>(*this, files_.size() - 1);
  }
  std::vector<Recorded> files() const {
    const std::lock_guard lock(mutex_);
    return files_;
  }
  std::function<void(std::size_t file, std::size_t frame)> on_write;
  std::function<void(std::size_t file)> on_open, on_finish;
  std::size_t bytes_a_frame = 0;
  std::atomic<int> cancels{0};

 private:
  class NotingSink final : public Sink {
   public:
    NotingSink(Shelf& shelf, std::size_t file) : shelf_(shelf), file_(file) {}
    void open(const StreamInfo&) override {
      if (shelf_.on_open) shelf_.on_open(file_);
    }
    void write(Frame& frame) override {
      std::string path;
      {
        const std::lock_guard lock(shelf_.mutex_);
        Recorded& file = shelf_.files_[file_];
        path = file.path;
        frames_ = file.indexes.size();
      }
      if (shelf_.on_write) shelf_.on_write(file_, frames_);
      if (shelf_.bytes_a_frame > 0) {
        std::ofstream(partial_path(path), std::ios::app) << std::string(shelf_.bytes_a_frame, 'x');
      }
      const std::lock_guard lock(shelf_.mutex_);
      Recorded& file = shelf_.files_[file_];
      file.indexes.push_back(frame.index);
      file.pts_ns.push_back(frame.pts_ns);
      file.bytes.push_back(frame.image.row(0, 0)[0]);
    }
    void cancel() noexcept override { shelf_.cancels.fetch_add(1); }
    void finish(Ending ending) override {
      {
        const std::lock_guard lock(shelf_.mutex_);
        shelf_.files_[file_].endings.push_back(ending);
      }
      if (shelf_.on_finish) shelf_.on_finish(file_);
    }

   private:
    Shelf& shelf_;
    std::size_t file_;
    std::size_t frames_ = 0;
  };
  mutable std::mutex mutex_;
  std::vector<Recorded> files_;
};

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() {
    wanted_.on = true;
    options_.path = folder_ / "rec.mkv";
    options_.make_sink = [this](const std::string& path) { return shelf_.make(path); };
    info_.desc = small_desc();
    info_.frame_rate = {100, 1};
    info_.live = true;
    frame_.pixels = Image(info_.desc);
    frame_.image = std::as_const(frame_.pixels).view();
  }

  /// Frame `index`, whose bytes are its number.
  void add(Recorder& recorder, std::uint64_t index) {
    fill_bytes(frame_.pixels.view(), static_cast<std::uint8_t>(index));
    frame_.index = index;
    frame_.pts_ns = static_cast<std::int64_t>(index) * kFrameNs + 7;
    frame_.duration_ns = kFrameNs;
    recorder.add(frame_);
  }
  static void wait_for(const std::function<bool()>& what) {
    while (!what())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  Watchdog watchdog_;
  TempFolder folder_;
  Shelf shelf_;
  RecordSwitch wanted_;
  RecordOptions options_;
  StreamInfo info_;
  Frame frame_;
};

TEST_F(RecorderTest, SplitsByTimeAndLosesNoFrame) {
  options_.split_ns = 10 * kFrameNs;
  info_.live = false;
  Recorder recorder(options_, wanted_);
  recorder.open(info_);
  for (std::uint64_t i = 0; i < 25; ++i)
    add(recorder, i);
  recorder.finish();

  const std::vector<Recorded> files = shelf_.files();
  ASSERT_EQ(files.size(), 3U);
  std::vector<std::uint64_t> all;
  for (std::size_t f = 0; f < files.size(); ++f) {
    EXPECT_EQ(files[f].path, folder_ / ("rec-0000" + std::to_string(f + 1) + ".mkv"));
    EXPECT_THAT(files[f].endings, ElementsAre(Ending::complete));
    EXPECT_EQ(files[f].indexes.size(), f < 2 ? 10U : 5U);
    for (std::size_t i = 0; i < files[f].indexes.size(); ++i) {
      EXPECT_EQ(files[f].pts_ns[i], static_cast<std::int64_t>(i) * kFrameNs);  // From 0 in each.
      EXPECT_EQ(files[f].bytes[i], files[f].indexes[i]);
      all.push_back(files[f].indexes[i]);
    }
  }
  EXPECT_EQ(all, first_numbers(25));
  EXPECT_EQ(recorder.counts().frames, 25U);
  EXPECT_EQ(recorder.counts().files, 3U);
  EXPECT_EQ(recorder.counts().dropped, 0U);
  EXPECT_EQ(recorder.code(), ExitCode::done);
}

TEST_F(RecorderTest, SplitsBySize) {
  options_.split_bytes = 1000;
  shelf_.bytes_a_frame = 300;
  info_.live = false;
  Recorder recorder(options_, wanted_);
  recorder.open(info_);
  for (std::uint64_t i = 0; i < 10; ++i)
    add(recorder, i);
  recorder.finish();
  std::vector<std::vector<std::uint64_t>> indexes;
  for (const Recorded& file : shelf_.files())
    indexes.push_back(file.indexes);
  EXPECT_THAT(indexes,
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7), ElementsAre(8, 9)));
}

TEST_F(RecorderTest, ALiveSourceNeverWaits) {
  std::atomic<bool> go{false};
  shelf_.on_write = [&](std::size_t, std::size_t) { wait_for([&] { return go.load(); }); };
  Recorder recorder(options_, wanted_);
  recorder.open(info_);
  // A second's worth is 100 frames: the rest has no room, and add() returns all the same.
  for (std::uint64_t i = 0; i < 150; ++i)
    add(recorder, i);
  go = true;
  recorder.finish();
  const std::vector<Recorded> files = shelf_.files();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].indexes, first_numbers(100));
  EXPECT_EQ(recorder.counts().frames, 100U);
  EXPECT_EQ(recorder.counts().dropped, 50U);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // have memory of their own
TEST_F(RecorderTest, TheEndOfAFileGivesBackWhatABurstTook) {
  constexpr int kBurst = 40;
  constexpr std::int64_t kLeastGivenBackKb = 30 * 1024;  // of 40 frames of a MiB
  info_.desc = ImageDesc{PixelFormat::gray8, 1024, 1024};
  frame_.pixels = Image(info_.desc);
  frame_.image = std::as_const(frame_.pixels).view();
  options_.split_ns = kBurst * kFrameNs;
  std::atomic<bool> go{false};
  shelf_.on_write = [&](std::size_t, std::size_t) { wait_for([&] { return go.load(); }); };
  Recorder recorder(options_, wanted_);
  recorder.open(info_);
  for (std::uint64_t i = 0; i < kBurst; ++i)
    add(recorder, i);
  const std::int64_t held_kb = holding_of(::getpid()).memory_kb;
  go = true;
  add(recorder, kBurst);  // begins the next file
  wait_for([&] { return holding_of(::getpid()).memory_kb < held_kb - kLeastGivenBackKb; });
  recorder.finish();
  const std::vector<Recorded> files = shelf_.files();
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].indexes, first_numbers(kBurst));
  EXPECT_EQ(recorder.counts().dropped, 0U);
}
#endif

TEST_F(RecorderTest, TheNextFileDoesNotWaitForTheEndOfTheOneBefore) {
  std::atomic<bool> go{false};
  std::atomic<std::size_t> written{0};
  options_.split_ns = 5 * kFrameNs;
  shelf_.on_finish = [&](std::size_t file) {
    if (file == 0) wait_for([&] { return go.load(); });
  };
  shelf_.on_write = [&](std::size_t file, std::size_t) { written += file == 1 ? 1 : 0; };
  Recorder recorder(options_, wanted_);
  recorder.open(info_);
  for (std::uint64_t i = 0; i < 9; ++i)
    add(recorder, i);
  wait_for([&] { return written == 4; });  // While the first is still being closed.
  go = true;
  recorder.finish();
  EXPECT_THAT(shelf_.files()[0].endings, ElementsAre(Ending::complete));
  EXPECT_THAT(shelf_.files()[1].indexes, ElementsAre(5, 6, 7, 8));
}

TEST_F(RecorderTest, TheSwitchBeginsAndEndsFiles) {
  wanted_.on = false;
  Recorder recorder(options_, wanted_);
  recorder.open(info_);
  for (std::uint64_t i = 0; i < 12; ++i) {
    wanted_.on = (i >= 2 && i < 5) || (i >= 7 && i < 9);
    add(recorder, i);
  }
  recorder.finish();
  const std::vector<Recorded> files = shelf_.files();
  ASSERT_EQ(files.size(), 3U);  // The first was opened to see whether it can be.
  EXPECT_THAT(files[0].endings, ElementsAre(Ending::failed));
  EXPECT_THAT(files[0].indexes, ElementsAre());
  EXPECT_EQ(files[1].path, folder_ / "rec-00001.mkv");
  EXPECT_THAT(files[1].indexes, ElementsAre(2, 3, 4));
  EXPECT_THAT(files[2].indexes, ElementsAre(7, 8));
  EXPECT_EQ(files[2].path, folder_ / "rec-00002.mkv");
  EXPECT_EQ(recorder.counts().files, 2U);
}

TEST_F(RecorderTest, AFailureStopsTheRecordingAndNothingElse) {
  shelf_.bytes_a_frame = 10;
  shelf_.on_write = [](std::size_t file, std::size_t frame) {
    if (file == 0 && frame == 3) throw Error(ExitCode::write_failed, "disk full");
  };
  Recorder recorder(options_, wanted_);
  recorder.open(info_);
  for (std::uint64_t i = 0; i < 4; ++i)
    add(recorder, i);
  wait_for([&] { return recorder.counts().dropped > 0; });
  EXPECT_FALSE(wanted_.on);
  EXPECT_EQ(recorder.counts().failure, "disk full");
  add(recorder, 4);
  add(recorder, 5);
  EXPECT_EQ(recorder.counts().frames, 3U);
  EXPECT_EQ(recorder.counts().dropped, 1U);  // From where it is off, frames are not to be recorded.

  wanted_.on = true;  // Somebody has made room.
  add(recorder, 6);
  EXPECT_EQ(recorder.counts().failure, "");  // That was the one before.
  add(recorder, 7);
  recorder.finish();
  const std::vector<Recorded> files = shelf_.files();
  ASSERT_EQ(files.size(), 2U);
  EXPECT_THAT(files[0].endings, ElementsAre(Ending::failed));
  EXPECT_THAT(files[1].indexes, ElementsAre(6, 7));
  EXPECT_EQ(files[1].path, folder_ / "rec-00002.mkv");  // What is left of the first stays.
  EXPECT_EQ(recorder.code(), ExitCode::write_failed);
}

TEST_F(RecorderTest, SwitchedOnAgainAtOnceItBeginsAnew) {
  shelf_.on_write = [&](std::size_t file, std::size_t) {
    if (file == 0) throw Error(ExitCode::write_failed, "disk full");
  };
  Recorder recorder(options_, wanted_);
  recorder.open(info_);
  add(recorder, 0);
  wait_for([&] { return recorder.counts().dropped > 0; });
  wanted_.on = true;  // Before add() has seen it off.
  for (std::uint64_t i = 1; i < 4; ++i)
    add(recorder, i);
  recorder.finish();
  EXPECT_EQ(recorder.counts().failure, "");
  ASSERT_EQ(shelf_.files().size(), 2U);
  EXPECT_THAT(shelf_.files()[1].indexes, ElementsAre(1, 2, 3));
}

TEST_F(RecorderTest, WhatCannotBeBegunIsSaidAtOnce) {
  shelf_.on_open = [](std::size_t) { throw Error(ExitCode::cannot_create, "no folder"); };
  for (const bool standby : {false, true}) {
    wanted_.on = !standby;
    Recorder recorder(options_, wanted_);
    EXPECT_EQ(error_of([&] { recorder.open(info_); }).first, ExitCode::cannot_create);
  }
}

TEST_F(RecorderTest, AnEndThatFailsIsTold) {
  shelf_.on_finish = [](std::size_t) { throw Error(ExitCode::write_failed, "no end"); };
  for (const std::size_t bytes : {0, 10}) {
    SCOPED_TRACE(bytes);
    shelf_.bytes_a_frame = bytes;
    wanted_.on = true;
    Recorder recorder(options_, wanted_);
    recorder.open(info_);
    add(recorder, 0);
    recorder.finish();
    EXPECT_EQ(recorder.counts().failure, "no end");
    EXPECT_EQ(recorder.code(), ExitCode::write_failed);
    // Of a file that is gone no frame is recorded.
    EXPECT_EQ(recorder.counts().frames, bytes > 0 ? 1U : 0U);
    EXPECT_EQ(recorder.counts().files, bytes > 0 ? 1U : 0U);
    EXPECT_EQ(recorder.counts().dropped, bytes > 0 ? 0U : 1U);
  }
}

TEST_F(RecorderTest, AnEndThatFailsInTheMiddleStopsTheRecording) {
  options_.split_ns = 3 * kFrameNs;
  std::atomic<bool> full = true;
  shelf_.on_finish = [&](std::size_t) {
    if (full) throw Error(ExitCode::write_failed, "disk full");
  };
  Recorder recorder(options_, wanted_);
  recorder.open(info_);
  for (std::uint64_t i = 0; i < 4; ++i)
    add(recorder, i);
  wait_for([&] { return !wanted_.on; });
  for (std::uint64_t i = 4; i < 20; ++i)
    add(recorder, i);
  wait_for([&] { return recorder.counts().dropped == 4; });
  EXPECT_EQ(recorder.counts().frames, 0U);
  EXPECT_EQ(recorder.counts().failure, "disk full");

  full = false;
  wanted_.on = true;
  add(recorder, 20);
  recorder.finish();
  const std::vector<Recorded> files = shelf_.files();
  ASSERT_EQ(files.size(), 3U);
  EXPECT_THAT(files[0].indexes, ElementsAre(0, 1, 2));
  EXPECT_THAT(files[1].indexes, ElementsAre(3));
  EXPECT_THAT(files[2].indexes, ElementsAre(20));
  EXPECT_EQ(recorder.counts().frames, 1U);
  EXPECT_EQ(recorder.counts().dropped, 4U);
  EXPECT_EQ(recorder.counts().failure, "");
  EXPECT_EQ(recorder.code(), ExitCode::write_failed);
}

TEST_F(RecorderTest, ALateFailureLeavesARecordingThatBeganSince) {
  std::atomic<bool> may_fail = false;
  shelf_.on_finish = [&](std::size_t file) {
    if (file > 0) return;
    wait_for([&] { return may_fail.load(); });
    throw Error(ExitCode::write_failed, "disk full");
  };
  Recorder recorder(options_, wanted_);
  recorder.open(info_);
  add(recorder, 0);
  wanted_.on = false;
  add(recorder, 1);
  wanted_.on = true;
  add(recorder, 2);
  wait_for([&] { return shelf_.files().size() == 2 && !shelf_.files()[1].indexes.empty(); });
  may_fail = true;
  wait_for([&] { return recorder.code() == ExitCode::write_failed; });
  EXPECT_TRUE(wanted_.on);
  add(recorder, 3);
  recorder.finish();
  EXPECT_THAT(shelf_.files()[1].indexes, ElementsAre(2, 3));
}

TEST_F(RecorderTest, TakesTheNextNameWhereAnotherRecordingWasQuicker) {
  shelf_.on_open = [&](std::size_t file) {
    if (file == 0) throw OutputBusy("rec-00001.mkv");
  };
  Recorder recorder(options_, wanted_);
  recorder.open(info_);
  add(recorder, 0);
  recorder.finish();
  ASSERT_EQ(shelf_.files().size(), 2U);
  EXPECT_EQ(shelf_.files()[1].path, folder_ / "rec-00002.mkv");
  EXPECT_EQ(recorder.code(), ExitCode::done);
}

/// Threads that are started while it lives find no room for their stack.
class NoThreads {
 public:
  NoThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t none = before_;
    ::pthread_attr_setstacksize(&none, std::size_t{1} << 46U);
    ::pthread_setattr_default_np(&none);
  }
  ~NoThreads() { ::pthread_setattr_default_np(&before_); }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

TEST_F(RecorderTest, WithoutAThreadItIsAnErrorAndNotAnEnd) {
  Recorder recorder(options_, wanted_);
  const NoThreads none;
  const auto error = error_of([&] { recorder.open(info_); });
  EXPECT_EQ(error.first, ExitCode::unavailable);
  EXPECT_THAT(error.second, ::testing::HasSubstr("no thread can be started"));
  ASSERT_EQ(shelf_.files().size(), 1U);
  EXPECT_THAT(shelf_.files()[0].endings, ElementsAre(Ending::failed));
}

TEST_F(RecorderTest, WithoutAnotherThreadAFileIsClosedByTheRecordersOwn) {
  options_.split_ns = 2 * kFrameNs;
  Recorder recorder(options_, wanted_);
  recorder.open(info_);
  const NoThreads none;
  for (std::uint64_t i = 0; i < 4; ++i)
    add(recorder, i);
  recorder.finish();
  ASSERT_EQ(shelf_.files().size(), 2U);
  for (const Recorded& file : shelf_.files())
    EXPECT_THAT(file.endings, ElementsAre(Ending::complete));
  EXPECT_EQ(recorder.counts().frames, 4U);
}

TEST_F(RecorderTest, AStopReachesEveryFileThatIsOpen) {
  std::atomic<bool> stalls{true};
  shelf_.on_finish = [&](std::size_t file) { wait_for([&] { return file > 0 || !stalls; }); };
  options_.split_ns = 2 * kFrameNs;
  Recorder recorder(options_, wanted_);
  recorder.open(info_);
  for (std::uint64_t i = 0; i < 3; ++i)
    add(recorder, i);
  wait_for([&] { return recorder.counts().files == 2; });
  recorder.cancel();
  EXPECT_EQ(shelf_.cancels, 2) << "the file that is written, and the one that is being closed";
  stalls = false;
  wanted_.on = false;
  add(recorder, 3);
  wanted_.on = true;
  add(recorder, 4);
  recorder.finish();
  EXPECT_EQ(shelf_.cancels, 3) << "one that is begun later, too";
}

TEST_F(RecorderTest, RidesAlongARun) {
  options_.split_ns = 7 * kFrameNs;
  RecordSwitch wanted{true};
  Recorder recorder(options_, wanted);
  FakeSource source(20);
  FakeSink sink;
  RunOptions options;
  options.on_open = [&](const StreamInfo& info) { recorder.open(info); };
  options.on_result = [&](const Frame& frame) { recorder.add(frame); };
  std::vector<std::unique_ptr<Filter>> filters;
  filters.push_back(std::make_unique<InvertFilter>());
  const auto processor = make_cpu_processor(std::move(filters), 1);
  const StopToken stop;
  EXPECT_EQ(run(source, *processor, sink, options, stop).code, ExitCode::done);
  recorder.finish();
  std::vector<std::uint8_t> bytes;
  for (const Recorded& file : shelf_.files())
    bytes.insert(bytes.end(), file.bytes.begin(), file.bytes.end());
  EXPECT_EQ(bytes, sink.bytes);  // The filtered frames, all of them, in order.
  EXPECT_EQ(shelf_.files().size(), 3U);
}

TEST(RecordNames, GoOnBehindWhatIsThere) {
  const TempFolder folder;
  EXPECT_EQ(RecordNames(folder / "rec.mkv").next(), folder / "rec-00001.mkv");
  write_file(folder / "rec-00002.mkv", "x");
  write_file(folder / "rec-00004.partial.mkv", "x");
  write_file(folder / "rec-00009.mp4", "x");
  write_file(folder / "other-00012.mkv", "x");
  write_file(folder / "rec-7.mkv", "x");
  RecordNames names(folder / "rec.mkv");
  EXPECT_EQ(names.next(), folder / "rec-00005.mkv");
  names.advance();
  EXPECT_EQ(names.next(), folder / "rec-00006.mkv");
}

TEST(RecordNames, PassOverWhatSomebodyElseHasTakenMeanwhile) {
  const TempFolder folder;
  RecordNames names(folder / "rec.mkv");
  EXPECT_EQ(names.next(), folder / "rec-00001.mkv");
  names.advance();
  write_file(folder / "rec-00002.mkv", "x");
  write_file(folder / "rec-00003.partial.mkv", "x");
  EXPECT_EQ(names.next(), folder / "rec-00004.mkv");
}

TEST(RecordNames, AFolderThatCannotBeListedIsNotWrittenOver) {
  const TempFolder folder;
  write_file(folder / "rec-00001.mkv", "x");
  ::chmod(folder.text().c_str(), 0333);
  const AsNobody nobody;
  const auto error = error_of([&] { RecordNames(folder / "rec.mkv"); });
  EXPECT_EQ(error.first, ExitCode::cannot_create);
  EXPECT_THAT(error.second, ::testing::HasSubstr("rec.mkv: the recordings that are there cannot"));
}

TEST(RecordNames, TakePatterns) {
  const TempFolder folder;
  write_file(folder / "cam_08.mp4", "x");
  EXPECT_EQ(RecordNames(folder / "cam_%02d.mp4").next(), folder / "cam_09.mp4");
  EXPECT_EQ(RecordNames(folder / "100%.mkv").next(), folder / "100%-00001.mkv");
  EXPECT_EQ(RecordNames(folder / "a%db%d.mkv").next(), folder / "a%db%d-00001.mkv");
}

}  // namespace
}  // namespace equalux::test

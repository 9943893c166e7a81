#include <filesystem>
#include <memory>
#include <new>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "pipelines/core/frame_hash.h"
#include "pipelines/core/frame_pool.h"
#include "pipelines/core/run.h"
#include "pipelines/files/y4m.h"
#include "pipelines/picture/upright_sink.h"
#include "tests/core/short_memory.h"
#include "tests/support/media/moving_frames.h"
#include "tests/support/media/y4m_streams.h"
#include "tests/support/pipeline_fakes.h"
#include "tests/support/temp_folder.h"

/// Memory that is short, once or from then on, at every allocation in turn: a clean error or the
/// right result, and nothing leaks.
namespace equalux::test {
namespace {

using short_memory::Lasting;

/// How a piece of work ended.
enum class End { right, error, short_of_memory };

/// Does it again and again, with one allocation more each time before one fails, until none is left
/// to fail. `work` says whether its result is right.
template <typename Work>
int for_every_allocation(const Work& work, Lasting lasting) {
  int failures = 0;
  for (std::int64_t at = 0;; ++at) {
    SCOPED_TRACE("allocation " + std::to_string(at));
    const std::int64_t before = short_memory::held();
    End end = End::right;
    bool right = true;
    ExitCode code = ExitCode::done;
    short_memory::fail_at(at, lasting);
    try {
      right = work();
    } catch (const Error& error) {
      end = End::error;
      code = error.code();
    } catch (const std::bad_alloc&) {
      end = End::short_of_memory;
    }
    const bool failed = short_memory::stop();
    EXPECT_EQ(short_memory::held(), before) << "leaks";
    EXPECT_TRUE(right) << "a wrong result";
    if (!failed) {
      EXPECT_EQ(end, End::right) << static_cast<int>(code);
      return failures;
    }
    // Memory is nobody's usage.
    EXPECT_NE(code, ExitCode::usage);
    if (::testing::Test::HasFailure()) return failures;
    ++failures;
  }
}

/// Filters in a row on the CPU, over a few frames.
class FilteredFrames {
 public:
  explicit FilteredFrames(std::vector<const char*> filters) : filters_(std::move(filters)) {
    for (int i = 0; i < kFrames; ++i) {
      frames_.emplace_back(kDesc);
      fill_moving(frames_.back().view(), i);
    }
    expected_ = hashes();
  }
  /// True for the same results as without failures.
  [[nodiscard]] bool are_right() const { return hashes() == expected_; }

 private:
  static constexpr int kFrames = 3;
  static constexpr ImageDesc kDesc{PixelFormat::bgr, 64, 48};

  [[nodiscard]] std::vector<std::string> hashes() const {
    std::vector<std::unique_ptr<Filter>> filters;
    for (const char* spec : filters_)
      filters.push_back(make_cpu_filter(parse_filter_spec(spec), {}, {1}));
    const auto processor = make_cpu_processor(std::move(filters), 1);
    const ImageDesc desc = processor->configure(kDesc);
    FramePool inputs(kDesc, 1, true);
    FramePool outputs(desc, 1);
    std::vector<std::string> all;
    for (int i = 0; i < kFrames; ++i) {
      FramePtr in = inputs.acquire();
      in->image = frames_[static_cast<std::size_t>(i)].view();
      in->pts_ns = i * 40'000'000;
      processor->submit(std::move(in), outputs.acquire(), true, false);
      all.push_back(frame_md5(processor->collect(true)->image));
    }
    // Not the state: nlohmann-json's destructor allocates, and ends the process where it can't.
    return all;
  }

  std::vector<const char*> filters_;
  std::vector<Image> frames_;
  std::vector<std::string> expected_;
};

struct Chain {
  const char* name;
  std::vector<const char*> filters;
};
void PrintTo(const Chain& chain, std::ostream* out) {
  *out << chain.name;
}

class AllocationFailures : public ::testing::TestWithParam<Chain> {
 protected:
  Watchdog watchdog_;
};

TEST_P(AllocationFailures, EndInAnErrorOrTheRightFrames) {
  const FilteredFrames frames(GetParam().filters);
  for (const Lasting lasting : {Lasting::once, Lasting::from_then}) {
    const int failures = for_every_allocation([&] { return frames.are_right(); }, lasting);
    EXPECT_GT(failures, 20);
    RecordProperty(lasting == Lasting::once ? "once" : "from_then", failures);
  }
}

const std::vector<Chain> kChains{
    {"plain", {"equalize"}},
    {"over_time", {"equalize:temporal-ms=500,clip-limit=3,floor=0.5,surround=ignore"}},
    {"lightness", {"equalize:space=lightness,temporal-ms=500"}},
    {"staged", {"equalize:chain=staged"}},
    {"tiles", {"clahe:temporal-ms=500"}},
    {"kernels", {"gaussian:sigma=1.2", "box:size=31"}},
    {"eigenvalues", {"eigenvalues"}},
    {"vessels", {"vessel:output=overlay,low=0.02", "equalize"}},
    {"shapes", {"shapes"}}};
std::string name_of_chain(const ::testing::TestParamInfo<Chain>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Chains, AllocationFailures, ::testing::ValuesIn(kChains), name_of_chain);

/// Once a frame has been filtered, memory that is short does not matter to those that follow.
TEST_P(AllocationFailures, FramesAfterTheFirstAllocateNothing) {
  int taken = 0;
  for (const PixelFormat format :
       {PixelFormat::bgr, PixelFormat::bgra, PixelFormat::gray8, PixelFormat::nv12,
        PixelFormat::i420, PixelFormat::i420_10le, PixelFormat::gray16_le}) {
    std::vector<std::unique_ptr<Filter>> filters;
    std::vector<Image> frames;
    frames.emplace_back(ImageDesc{format, 67, 49});
    try {
      for (const char* spec : GetParam().filters) {
        filters.push_back(make_cpu_filter(parse_filter_spec(spec), {}, {1}));
        frames.emplace_back(filters.back()->configure(frames.back().desc()));
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
      continue;  // not one of its formats
    }
    ++taken;
    const auto filter_frame = [&](int index) {
      FrameContext context;
      context.index = static_cast<std::uint64_t>(index);
      context.pts_ns = index * 40'000'000;
      for (std::size_t i = 0; i < filters.size(); ++i)
        filters[i]->submit(frames[i].view(), frames[i + 1].view(), context);
    };
    fill_moving(frames.front().view(), 0);
    filter_frame(0);
    for (int index = 1; index < 4; ++index) {
      fill_moving(frames.front().view(), index);
      bool threw = false;
      short_memory::fail_at(0, Lasting::from_then);
      try {
        filter_frame(index);
      } catch (const std::bad_alloc&) {
        threw = true;
      }
      const bool asked = short_memory::stop();
      EXPECT_FALSE(asked || threw) << traits(format).name << ", frame " << index;
    }
  }
  EXPECT_GE(taken, 2);
}

/// A run of all threads, from a YUV4MPEG2 file to another.
TEST(AllocationFailuresOfARun, LeaveAWholeOutputOrAPartialOneOrNone) {
  Watchdog watchdog;
  const TempFolder folder;
  const std::string in = folder / "in.y4m";
  const std::string out = folder / "out.y4m";
  write_file(in, make_stream("W64 H48 F25:1 C420jpeg", desc_of(PixelFormat::i420, 64, 48), 6));
  std::string whole;
  const auto run_once = [&] {
    watchdog.restart();
    ::unlink(out.c_str());
    const auto source = make_y4m_source(in);
    const auto sink = make_y4m_sink(out);
    std::vector<std::unique_ptr<Filter>> filters;
    EqualizeParams params;
    params.temporal_ms = 500;
    filters.push_back(make_cpu_filter(params, {1}));
    const auto processor = make_cpu_processor(std::move(filters), 1);
    const StopToken stop;
    RunOptions options;
    options.on_frame = [](const Frame&) {};
    return run(*source, *processor, *sink, options, stop).code;
  };
  ASSERT_EQ(run_once(), ExitCode::done);
  whole = read_file(out);
  const auto work = [&] {
    ExitCode code = ExitCode::done;
    try {
      code = run_once();
    } catch (...) {
      short_memory::stop();
      EXPECT_FALSE(std::filesystem::exists(out));
      throw;
    }
    // Looking at the file is not part of it.
    short_memory::stop();
    const std::string got = read_file(out);
    return code == ExitCode::done ? got == whole
                                  : code == ExitCode::partial && whole.starts_with(got);
  };
  for (const Lasting lasting : {Lasting::once, Lasting::from_then}) {
    const int failures = for_every_allocation(work, lasting);
    EXPECT_GT(failures, 50);
    RecordProperty(lasting == Lasting::once ? "once" : "from_then", failures);
    EXPECT_EQ(folder.entries(), 2) << "partial files are left";
  }
}

/// What it needs is there once it is open: nothing is allocated while frames move.
TEST(UprightSinkMemory, TurnsFramesWithoutAllocating) {
  class Window final : public Sink {
   public:
    void open(const StreamInfo&) override {}
    void write(Frame& frame) override { width = frame.image.desc.width; }
    void finish(Ending) override {}
    bool wants_original() const override { return true; }
    int width = 0;
  };
  auto window = std::make_unique<Window>();
  const Window& seen = *window;
  const auto sink = make_upright_sink(std::move(window));
  StreamInfo info;
  info.desc = {PixelFormat::i420, 6, 4};
  info.orientation = Orientation::clockwise;
  sink->open(info);
  const Image image(info.desc);
  Frame frame;
  frame.image = image.view();
  Frame original;
  original.image = image.view();
  frame.original = FramePtr(&original);
  short_memory::fail_at(0, Lasting::from_then);
  EXPECT_NO_THROW(sink->write(frame));
  EXPECT_EQ(seen.width, 4);
  EXPECT_FALSE(short_memory::stop()) << "something was allocated";
  frame.original.release();  // It is in no pool.
}

}  // namespace
}  // namespace equalux::test

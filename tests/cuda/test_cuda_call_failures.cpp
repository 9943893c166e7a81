#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/run.h"
#include "pipelines/cuda/cuda_processor.h"
#include "tests/cuda/fake_cuda.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/moving_frames.h"
#include "tests/support/pipeline_fakes.h"

/// Every call of the CUDA runtime fails once, on an invented device.
namespace equalux::test {
namespace {

using fake_cuda::Call;
using fake_cuda::Fault;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint64_t kFrames = 7;

/// A chain of filters, and how its frames move.
struct Route {
  const char* name;
  std::vector<const char*> filters;
  PixelFormat format = PixelFormat::bgr;
  std::size_t depth = 3;
  bool measured = false;
  std::uint64_t checkpoint_every = 0;
};
void PrintTo(const Route& route, std::ostream* out) {
  *out << route.name;
}

const std::vector<Route> kRoutes{
    {"plain", {"equalize"}},
    {"one_at_a_time", {"equalize"}, PixelFormat::i420, 1},
    {"over_time",
     {"equalize:temporal-ms=500,strength=0.8,clip-limit=3,floor=0.5,surround=ignore"},
     PixelFormat::nv12,
     3,
     true,
     3},
    {"deep", {"equalize:temporal-ms=500,clip-limit=3"}, PixelFormat::p010_10le, 3, true, 3},
    {"lightness", {"equalize:space=lightness,temporal-ms=500"}},
    {"staged", {"equalize:chain=staged,scan=cub,histogram=shared"}},
    {"tiles", {"clahe:temporal-ms=500"}, PixelFormat::bgr, 3, false, 3},
    {"deep_tiles", {"clahe:temporal-ms=500,saturation=auto"}, PixelFormat::p010_10le, 3, true, 3},
    {"noise", {"denoise", "equalize"}, PixelFormat::nv12, 3, true, 3},
    {"kernels", {"gaussian:sigma=1.2", "box:size=31", "sharpen:mode=shared"}, PixelFormat::bgr, 1},
    {"eigenvalues", {"eigenvalues"}, PixelFormat::gray8},
    {"vessels", {"vessel:output=overlay,low=0.02", "equalize"}, PixelFormat::bgr, 3, true},
    {"shapes", {"shapes", "sharpen"}},
    {"none", {}, PixelFormat::yuy2},
};

class MovingSource final : public Source {
 public:
  explicit MovingSource(PixelFormat format) { desc_ = {format, 64, 48}; }
  StreamInfo open(const FormatPredicate& accepts) override {
    EXPECT_TRUE(accepts(desc_.format));
    StreamInfo info;
    info.desc = desc_;
    info.frame_rate = {25, 1};
    info.name = "moving";
    return info;
  }
  bool read(Frame& frame) override {
    if (next_ == kFrames) return false;
    fill_moving(frame.pixels.view(), static_cast<int>(next_));
    frame.pts_ns = static_cast<std::int64_t>(next_++) * 40'000'000;
    return true;
  }

 private:
  ImageDesc desc_;
  std::uint64_t next_ = 0;
};

class CheckpointSink final : public Sink {
 public:
  void open(const StreamInfo& /*info*/) override {}
  void write(Frame& frame) override { indexes.push_back(frame.index); }
  std::string checkpoint() override { return "here"; }
  void finish(Ending ending) override { endings.push_back(ending); }
  std::string name() const override { return "sink"; }
  std::vector<std::uint64_t> indexes;
  std::vector<Ending> endings;
};

/// How a run ended: with a result, or with an error's code and text.
struct Outcome {
  ExitCode code = ExitCode::done;
  std::string text;
  std::vector<std::uint64_t> indexes;
  std::vector<Ending> endings;
};

Outcome run_route(const Route& route, const CudaDevice& device) {
  Outcome outcome;
  CheckpointSink sink;
  RunOptions options;
  options.checkpoint_every = route.checkpoint_every;
  if (route.measured) options.on_frame = [](const Frame&) {};
  const StopToken stop;
  MovingSource source(route.format);
  try {
    std::vector<std::unique_ptr<Filter>> filters;
    for (const char* spec : route.filters) {
      filters.push_back(make_cuda_filter(parse_filter_spec(spec), {}, {device.number}));
    }
    const auto processor = make_cuda_processor(std::move(filters), device, route.depth);
    const RunResult result = run(source, *processor, sink, options, stop);
    outcome.code = result.code;
    outcome.text = result.partial_reason;
  } catch (const Error& error) {
    outcome.code = error.code();
    outcome.text = error.what();
  }
  outcome.indexes = sink.indexes;
  outcome.endings = sink.endings;
  return outcome;
}

/// A device's loss, and what may go wrong without one.
cudaError_t error_for(Call call, bool sticky) {
  if (call == Call::allocation) return cudaErrorMemoryAllocation;
  if (sticky) return cudaErrorIllegalAddress;
  return call == Call::launch ? cudaErrorLaunchOutOfResources : cudaErrorDevicesUnavailable;
}

class CudaCallFailures : public ::testing::TestWithParam<Route> {
 protected:
  ~CudaCallFailures() override { fake_cuda::reset(); }

  /// False where no call was left to fail.
  bool fails_well(const Fault& fault);

  CudaDevice device_ = (fake_cuda::reset(), choose_cuda_device(-1));
  Watchdog watchdog_;
};

void expect_a_named_error(const Outcome& outcome, const Fault& fault, const std::string& where) {
  // CUB takes a device that does not answer for one that does not exist.
  const cudaError_t cubs = where == "cudaGetDevice" ? cudaErrorInvalidDevice : fault.error;
  EXPECT_THAT(outcome.text,
              AnyOf(HasSubstr(cudaGetErrorName(fault.error)), HasSubstr(cudaGetErrorName(cubs))));
  // Before the devices are counted there is none to name.
  if (where != "cudaGetDeviceCount") {
    EXPECT_THAT(outcome.text, AnyOf(HasSubstr(fake_cuda::kDeviceName), HasSubstr("device 0")));
  }
  // An error that nobody reported must not come up as a launch's.
  if (fault.call != Call::launch && !fault.sticky) {
    EXPECT_THAT(outcome.text, Not(HasSubstr("launching")));
  }
}

bool CudaCallFailures::fails_well(const Fault& fault) {
  SCOPED_TRACE(std::string(name_of(fault.call)) + " " + std::to_string(fault.at) +
               (fault.sticky ? ", sticky" : ""));
  watchdog_.restart();
  fake_cuda::reset(fault);
  const Outcome outcome = run_route(GetParam(), device_);
  const std::string where = fake_cuda::struck();
  SCOPED_TRACE("in " + where + ": '" + outcome.text + "'");
  for (std::size_t i = 0; i < outcome.indexes.size(); ++i)
    EXPECT_EQ(outcome.indexes[i], i);
  switch (outcome.code) {
    case ExitCode::done:
      // Made up for, or at the very end, where nothing depends on it.
      EXPECT_EQ(outcome.indexes.size(), kFrames);
      break;
    case ExitCode::partial:
      expect_a_named_error(outcome, fault, where);
      EXPECT_GE(outcome.indexes.size(), 1U);
      EXPECT_THAT(outcome.endings, Contains(AnyOf(Ending::partial, Ending::suspended)));
      break;
    default:
      EXPECT_EQ(outcome.code, ExitCode::unavailable);
      expect_a_named_error(outcome, fault, where);
      EXPECT_THAT(outcome.indexes, IsEmpty());
      EXPECT_THAT(outcome.endings, Not(Contains(Ending::complete)));
  }
  EXPECT_THAT(fake_cuda::misuses(), IsEmpty());
  if (!fault.sticky) {
    EXPECT_EQ(fake_cuda::held().memory, 0U);
    EXPECT_EQ(fake_cuda::held().streams, 0U);
    EXPECT_EQ(fake_cuda::held().events, 0U);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "left for the next call to find";
  }
  return !where.empty();
}

TEST_P(CudaCallFailures, EveryCallsFailureIsOneErrorAndNothingLeaks) {
  // Without a failure every frame arrives. CUB fills a cache in its first call, and hangs later
  // where that fails.
  const Outcome whole = run_route(GetParam(), device_);
  ASSERT_EQ(whole.code, ExitCode::done) << whole.text;
  ASSERT_EQ(whole.indexes.size(), kFrames);
  ASSERT_EQ(fake_cuda::held(), fake_cuda::Held{});
  ASSERT_THAT(fake_cuda::misuses(), IsEmpty());
  std::uint64_t failures = 0;
  for (const Call call : fake_cuda::kCalls) {
    for (const bool sticky : {false, true}) {
      std::uint64_t at = 1;
      // A run has hundreds of some calls, most of them for frames: of those one of seven, where few
      // are wanted: with seven frames, about each place once.
      while (fails_well({call, at, error_for(call, sticky), sticky})) {
        at += wants_few_counts() && at > 20 ? 7 : 1;
        ++failures;
        if (HasFailure()) return;
      }
      const bool used = call != Call::launch || !GetParam().filters.empty();
      EXPECT_EQ(at > 3, used) << "calls of kind " << name_of(call);
    }
  }
  RecordProperty("failures", static_cast<int>(failures));
}

std::string name_of_route(const ::testing::TestParamInfo<Route>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Routes, CudaCallFailures, ::testing::ValuesIn(kRoutes), name_of_route);

}  // namespace
}  // namespace equalux::test

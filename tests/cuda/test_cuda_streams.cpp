// Streams of 500 frames through the GPU's processor, with every option that a stream has: the CPU's
// bytes at every depth, also where a second processor takes the first one's state over half way.
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <equalux/clahe.h>
#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "pipelines/core/run.h"
#include "pipelines/cuda/cuda_processor.h"
#include "tests/support/calm_params.h"
#include "tests/support/device/device_image.h"
#include "tests/support/filter_changes.h"
#include "tests/support/media/moving_frames.h"
#include "tests/support/media/surround_frames.h"
#include "tests/support/media/test_images.h"
#include "tests/support/pipeline_fakes.h"
#include "tests/support/temp_folder.h"

namespace equalux {
namespace {

using test::Opening;

constexpr int kFrames = 500;
constexpr int kTakeOver = kFrames / 2;
constexpr int kWidth = 161;
constexpr int kHeight = 90;

using Params = std::variant<EqualizeParams, ClaheParams>;

/// What a stream is filtered with, and what replaces that for a while in each of its halves.
struct Case {
  std::string name;
  PixelFormat format = PixelFormat::bgr;
  Params params;
  std::optional<EqualizeParams> meanwhile = std::nullopt;
};

void PrintTo(const Case& of, std::ostream* out) {
  *out << of.name;
}

EqualizeParams calm() {
  EqualizeParams params = test::calm_params();
  params.darken_ms = 700;
  return params;
}

template <typename Change>
EqualizeParams calm_but(const Change& change) {
  EqualizeParams params = calm();
  change(params);
  return params;
}

ClaheParams calm_tiles() {
  ClaheParams params;
  params.tiles_x = 5;
  params.tiles_y = 3;
  params.curve = calm();
  return params;
}

ToneCurve some_curve() {
  ToneCurve curve;
  curve.frames = 1;
  for (std::uint32_t i = 0; i < 256; ++i)
    curve.levels.push_back((i + i * (255 - i) / 300) * ToneCurve::kUnit);
  return curve;
}

std::vector<Case> cases() {
  using P = EqualizeParams;
  const auto luma = [](P& p) { p.space = Space::luma; };
  const auto lightness = [](P& p) { p.space = Space::lightness; };
  const auto region = [](P& p) { p.region = "10%,9,70.5%,60"; };
  const auto surround = [](P& p) { p.surround = Surround::ignore; };
  const auto both = [&](P& p) {
    region(p);
    surround(p);
  };
  const auto other_limits = [](P& p) {
    p.strength = 0.4;
    p.clip_limit = 0;
    p.bins = 64;
    p.temporal_ms = 300;
  };
  P plain_surround;
  plain_surround.surround = Surround::ignore;
  P fixed;
  fixed.curve = some_curve();
  return {{"Plain", PixelFormat::bgr, P{}},
          {"LimitsAndTime", PixelFormat::bgr, calm()},
          {"LimitsAndTimeNv12", PixelFormat::nv12, calm()},
          {"LimitsAndTimeGray", PixelFormat::gray8, calm()},
          {"MinMaxNonzero100Bins", PixelFormat::rgba, calm_but([](P& p) {
             p.scaler = Scaler::min_max_nonzero;
             p.bins = 100;
           })},
          {"LimitsThatChange", PixelFormat::i420, calm(), calm_but(other_limits)},
          {"ToOneCurveAndBack", PixelFormat::bgr, calm(), fixed},
          {"Luma", PixelFormat::bgr, calm_but(luma)},
          {"Lightness", PixelFormat::bgr, calm_but(lightness)},
          {"Region", PixelFormat::nv12, calm_but(region)},
          {"Mask", PixelFormat::bgr, calm_but([](P& p) { p.region = "mask.pgm"; })},
          {"PlainWithoutSurround", PixelFormat::bgr, plain_surround},
          {"WithoutSurround", PixelFormat::nv12, calm_but(surround)},
          {"RegionWithoutSurround", PixelFormat::bgr, calm_but(both)},
          {"SurroundThatComesToCount", PixelFormat::gray8, calm_but(surround), calm()},
          {"P010", PixelFormat::p010_10le, calm()},
          {"I42010", PixelFormat::i420_10le, calm()},
          {"Rgb48", PixelFormat::rgb48_le, calm()},
          {"Tiles", PixelFormat::bgr, calm_tiles()},
          {"TilesNv12", PixelFormat::nv12, calm_tiles()}};
}

/// Frames `first` to before `end` of what the test made.
class FramesSource final : public Source {
 public:
  FramesSource(const std::vector<Image>& frames, int first, int end)
      : frames_(frames), next_(first), end_(end) {}

  StreamInfo open(const FormatPredicate& accepts) override {
    StreamInfo info;
    info.desc = frames_.front().desc();
    EXPECT_TRUE(accepts(info.desc.format));
    info.frame_rate = {25, 1};
    info.name = "frames";
    return info;
  }
  bool read(Frame& frame) override {
    if (next_ == end_) return false;
    copy_image(frames_[static_cast<std::size_t>(next_)].view(), frame.pixels.view());
    frame.pts_ns = std::int64_t{40'000'000} * next_++;
    frame.duration_ns = 40'000'000;
    return true;
  }

 private:
  const std::vector<Image>& frames_;
  int next_;
  int end_;
};

/// Pictures with black around them for a while, and all that moving frames have; those of 16 bits
/// without the black.
std::vector<Image> stream_of(PixelFormat format) {
  std::vector<Image> frames;
  for (int i = 0; i < kFrames; ++i) {
    Image frame({format, kWidth, kHeight});
    test::fill_moving(frame.view(), i, 5);
    const int scene = i / 20 % 9;
    if (scene < 7 && has_byte_samples(format))
      test::close(frame.view(), static_cast<Opening>(scene), i % 2 == 0, 5);
    frames.push_back(std::move(frame));
  }
  return frames;
}

struct Outcome {
  std::vector<std::vector<std::uint8_t>> frames;
  std::string half_way;  ///< states
  std::string end;
};

/// Half of a stream, with other parameters from its 100th to its 130th frame.
void filter_half(Processor& processor, const std::vector<Image>& stream, int first,
                 const Case& each, const std::string& state, Outcome& outcome) {
  FramesSource source(stream, first, first + kTakeOver);
  test::FakeSink sink;
  StopToken stop;
  RunOptions options;
  options.on_submit = [&](Processor& submitting, Frame& frame) {
    if (frame.index == 0 && !state.empty()) submitting.load(state);
    if (!each.meanwhile) return;
    if (frame.index == 100) {
      EXPECT_TRUE(submitting.update(0, test::values_of(*each.meanwhile)));
    }
    if (frame.index == 130) {
      EXPECT_TRUE(submitting.update(0, test::values_of(std::get<EqualizeParams>(each.params))));
    }
  };
  options.on_result = [&](const Frame& frame) {
    outcome.frames.push_back(test::tight_copy(frame.image));
  };
  EXPECT_EQ(run(source, processor, sink, options, stop).code, ExitCode::done);
}

Outcome filter_all(const std::function<std::unique_ptr<Processor>()>& make,
                   const std::vector<Image>& stream, const Case& each) {
  Outcome outcome;
  const auto before = make();
  filter_half(*before, stream, 0, each, {}, outcome);
  outcome.half_way = before->save();
  const auto after = make();
  filter_half(*after, stream, kTakeOver, each, outcome.half_way, outcome);
  outcome.end = after->save();
  return outcome;
}

class CudaStreams : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!test::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
    device_ = choose_cuda_device(-1);
  }

  /// The case, with its mask where the test keeps it.
  Case with_mask() const {
    Case each = GetParam();
    if (auto* params = std::get_if<EqualizeParams>(&each.params);
        params != nullptr && params->region.ends_with(".pgm")) {
      params->region = folder_ / params->region;
      std::ofstream mask(params->region, std::ios::binary);
      mask << "P5\n" << kWidth << " " << kHeight << "\n255\n";
      for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kWidth; ++x)
          mask.put((x - 80) * (x - 80) + (y - 45) * (y - 45) < 1500 ? '\xff' : '\0');
      }
    }
    return each;
  }

  test::TempFolder folder_;
  CudaDevice device_;
};

TEST_P(CudaStreams, HaveTheCpusBytesAtEveryDepthAndBehindATakeOver) {
  const Case each = with_mask();
  const std::vector<Image> stream = stream_of(each.format);
  const auto processor_on = [&](Backend backend, std::size_t depth) {
    std::vector<std::unique_ptr<Filter>> filters;
    filters.push_back(std::visit(
        [&](const auto& params) {
          return backend == Backend::cpu ? make_cpu_filter(params, {1})
                                         : make_cuda_filter(params, {device_.number});
        },
        each.params));
    return backend == Backend::cpu ? make_cpu_processor(std::move(filters), 1)
                                   : make_cuda_processor(std::move(filters), device_, depth);
  };
  const Outcome expected = filter_all([&] { return processor_on(Backend::cpu, 1); }, stream, each);
  ASSERT_EQ(expected.frames.size(), static_cast<std::size_t>(kFrames));
  EXPECT_EQ(expected.half_way == "[{}]", each.name == "Plain") << "what is taken over";
  for (std::size_t depth = 1; depth <= 8; ++depth) {
    SCOPED_TRACE("depth " + std::to_string(depth));
    const Outcome got =
        filter_all([&] { return processor_on(Backend::cuda, depth); }, stream, each);
    ASSERT_EQ(got.frames.size(), expected.frames.size());
    for (std::size_t i = 0; i < got.frames.size(); ++i)
      ASSERT_TRUE(got.frames[i] == expected.frames[i]) << "frame " << i;
    EXPECT_EQ(got.half_way, expected.half_way);
    EXPECT_EQ(got.end, expected.end);
  }
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Options, CudaStreams, testing::ValuesIn(cases()), name_of);

}  // namespace
}  // namespace equalux

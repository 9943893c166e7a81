// Noise reduction on a GPU: the same bytes as on the CPU, frame after frame.
#include <random>
#include <string>

#include <equalux/denoise.h>
#include <equalux/error.h>
#include <gtest/gtest.h>

#include "src/denoise/components.h"
#include "src/format/rounding.h"
#include "tests/denoise/denoise_pictures.h"
#include "tests/support/backend_pair.h"
#include "tests/support/device/device_test.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::DeviceImage;
using test::DeviceLayout;
using test::PairOptions;
using test::Scene;

using CudaDenoise = test::DeviceTest;
using Pair = test::BackendPair<DenoiseParams>;

auto filled_by(const Scene& scene) {
  return [scene](const ImageView& out, int number, std::uint32_t seed) {
    test::fill(out, test::Content::noise, seed);  // the fourth sample of RGB, too
    std::mt19937 random(seed * 1000 + static_cast<std::uint32_t>(number));
    std::normal_distribution<double> normal;
    test::draw_scene(out, scene, number, random, normal);
  };
}

PairOptions showing(const Scene& scene, std::uint32_t seed = 1) {
  PairOptions options;
  options.seed = seed;
  options.fill = filled_by(scene);
  return options;
}

std::string name_of(const ImageDesc& desc) {
  return std::string(to_string(desc.format)) + " " + std::to_string(desc.width) + "x" +
         std::to_string(desc.height);
}

TEST_F(CudaDenoise, EveryFormat) {
  for (const PixelFormat format : test::denoised_formats()) {
    const ImageDesc desc{format, 75, 43};
    SCOPED_TRACE(name_of(desc));
    Pair({}, desc, showing({1.3, 0.4})).expect_same(4);
  }
}

TEST_F(CudaDenoise, EverySizeOffsetStrideAndFieldOrder) {
  const std::vector<std::pair<int, int>> sizes{{1, 1},    {1, 40},  {40, 1},  {2, 2},    {3, 5},
                                               {7, 2},    {16, 16}, {17, 33}, {64, 8},   {65, 90},
                                               {130, 31}, {64, 32}, {63, 66}, {129, 130}};
  const std::vector<DeviceLayout> layouts{
      {0, 0, true}, {0, 48, true}, {1, 3}, {16, 0, true, true}, {2, 2, false, true}};
  std::size_t number = 0;
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::yuy2, PixelFormat::bgr,
                                   PixelFormat::y42b, PixelFormat::p010_10le}) {
    for (const auto& [width, height] : sizes) {
      const ImageDesc desc{format, width, height};
      PairOptions options = showing({-2.2, 1.1, 4});
      options.layout = layouts[number % layouts.size()];
      options.order = number % 3 == 0   ? FieldOrder::progressive
                      : number % 3 == 1 ? FieldOrder::top_first
                                        : FieldOrder::bottom_first;
      SCOPED_TRACE(name_of(desc) + " layout " + std::to_string(number % layouts.size()) +
                   " order " + std::to_string(number % 3));
      Pair({}, desc, options).expect_same(3);
      ++number;
    }
  }
}

/// Rows of whole words, which kernels load as such, in one strip of lanes and in several.
TEST_F(CudaDenoise, WholeWordsOfEverySampling) {
  const std::vector<std::pair<int, int>> sizes{{4, 1},    {8, 3},    {120, 33}, {124, 41},
                                               {244, 29}, {240, 64}, {484, 90}};
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::i420, PixelFormat::nv12,
                                   PixelFormat::y42b, PixelFormat::y444}) {
    for (const auto& [width, height] : sizes) {
      const ImageDesc desc{format, width, height};
      SCOPED_TRACE(name_of(desc));
      Pair({}, desc, showing({0, 0, 3})).expect_same(3);
      Pair({}, desc, showing({2.6, -1.3, 2, 2})).expect_same(4);
    }
  }
}

TEST_F(CudaDenoise, EveryOption) {
  const ImageDesc desc{PixelFormat::nv12, 98, 66};
  for (const DenoiseParams& params : test::denoise_option_cases()) {
    SCOPED_TRACE(option_text(params, "strength") + " " + option_text(params, "temporal") + " " +
                 option_text(params, "spatial") + " " + option_text(params, "noise"));
    Pair(params, desc, showing({0.5, -0.7})).expect_same(5);
  }
}

TEST_F(CudaDenoise, StillPannedFastHardAndCutScenes) {
  const ImageDesc desc{PixelFormat::i420, 240, 144};
  for (const Scene& scene :
       {Scene{0, 0, 3}, Scene{9.6, -5.2, 2}, Scene{-26, 13, 1}, Scene{0, 0, 0}, Scene{3, 3, 60},
        Scene{1.5, 0.6, 2, 5}, Scene{0, 2, 0.5}, Scene{-0.25, 0, 6}, Scene{40, 0, 1},
        Scene{0, 0, 3, 1000, 3}, Scene{2.3, -1.1, 3, 5, 3}}) {
    SCOPED_TRACE(std::to_string(scene.dx) + " " + std::to_string(scene.dy) + " " +
                 std::to_string(scene.sigma));
    Pair({}, desc, showing(scene)).expect_same(9);
  }
  for (const PixelFormat format : {PixelFormat::bgrx, PixelFormat::nv12, PixelFormat::gray8})
    Pair({}, {format, 131, 97}).expect_same(40);
}

TEST_F(CudaDenoise, LargeFrames) {
  Pair({}, {PixelFormat::nv12, 1920, 1080}, showing({1.5, 0.6, 2, 3})).expect_same(5);
  Pair({}, {PixelFormat::gray8, 65535, 19}, showing({2, 0})).expect_same(3);
  Pair({}, {PixelFormat::bgr, 19, 65535}, showing({0, 1})).expect_same(3);
}

TEST_F(CudaDenoise, WorksInPlace) {
  for (const PixelFormat format : test::denoised_formats()) {
    for (const FieldOrder order : {FieldOrder::progressive, FieldOrder::bottom_first}) {
      const ImageDesc desc{format, 99, 70};
      SCOPED_TRACE(name_of(desc));
      const auto cpu = make_cpu_filter(DenoiseParams{}, {1});
      const auto cuda = make_cuda_filter(DenoiseParams{});
      cpu->configure(desc);
      cuda->configure(desc);
      Image image(desc);
      DeviceImage device(desc);
      const auto fill = filled_by({0.7, 0.2});
      for (int i = 0; i < 3; ++i) {
        fill(image.view(), i, 5);
        device.upload(image.view());
        FrameContext context;
        context.field_order = order;
        cpu->submit(image.view(), image.view(), context);
        cuda->submit(device.view(), device.view(), context);
        ASSERT_EQ(test::count_differences(image.view(), device.download().view()), 0U) << i;
      }
    }
  }
}

TEST_F(CudaDenoise, StreamsSavedRestoredUpdatedAndReset) {
  for (const PixelFormat format : {PixelFormat::bgrx, PixelFormat::nv12, PixelFormat::p010_10le}) {
    for (const FieldOrder order : {FieldOrder::progressive, FieldOrder::top_first}) {
      const ImageDesc desc{format, 93, 61};
      SCOPED_TRACE(name_of(desc));
      PairOptions options = showing({0.8, 0.3});
      options.order = order;
      Pair pair({}, desc, options);
      pair.expect_same(6);
      pair.restore({});
      pair.expect_same(3);
      pair.update({0.5, 4, 0.9, 0});
      pair.expect_same(3);
      pair.update({1, 24, 0.6, 3});  // what was counted stays
      pair.expect_same(2);
      pair.update({});
      pair.expect_same(2);
      pair.reset();
      pair.expect_same(3);
    }
  }
}

/// Results that keep fractions of levels, and rounding by thresholds.
TEST_F(CudaDenoise, FractionsAndDither) {
  for (const PixelFormat format : test::denoised_formats()) {
    for (const Dither dither : {Dither::none, Dither::ordered}) {
      for (const double strength : {1.0, 0.4, 0.0}) {
        const ImageDesc desc{format, 75, 43};
        SCOPED_TRACE(name_of(desc) + " " + std::to_string(strength));
        DenoiseParams params;
        params.dither = dither;
        params.strength = strength;
        PairOptions options = showing({0.5, 0.2});
        options.order = strength == 1 ? FieldOrder::top_first : FieldOrder::progressive;
        Pair(params, desc, options).expect_same(3);
        if (!format_with_fractions(format)) continue;
        const auto cpu = make_cpu_filter(params, {1});
        const auto cuda = make_cuda_filter(params);
        ASSERT_TRUE(cuda->takes_fractions(desc, {false, true}));
        const ImageDesc fine = cpu->configure_with(desc, {false, true});
        ASSERT_EQ(cuda->configure_with(desc, {false, true}), fine);
        Image in(desc);
        Image expected(fine);
        DeviceImage device_in(desc, {3, 1});
        DeviceImage device_out(fine, {2, 2});
        for (int i = 0; i < 3; ++i) {
          options.fill(in.view(), i, 9);
          device_in.upload(in.view());
          device_out.poison();
          FrameContext context;
          context.field_order = options.order;
          cpu->submit(in.view(), expected.view(), context);
          context.dither = Dither::none;
          cuda->submit(device_in.view(), device_out.view(), context);
          ASSERT_EQ(context.dither, dither);
          ASSERT_EQ(test::count_differences(expected.view(), device_out.download().view()), 0U)
              << i;
        }
      }
    }
  }
}

/// As hosts run the two: between them frames keep fractions.
TEST_F(CudaDenoise, InFrontOfEqualize) {
  std::vector<ImageDesc> descs;
  for (const PixelFormat format : test::byte_formats()) {
    descs.push_back({format, 130, 70});
    descs.push_back({format, 132, 70});  // rows of whole words
  }
  for (const ImageDesc& desc : descs) {
    SCOPED_TRACE(name_of(desc));
    const auto both = [&](auto options) {
      std::vector<std::unique_ptr<Filter>> filters;
      DenoiseParams denoise;
      denoise.dither = desc.width == 130 ? Dither::ordered : Dither::none;
      if constexpr (std::is_same_v<decltype(options), CpuOptions>) {
        filters.push_back(make_cpu_filter(denoise, options));
        filters.push_back(make_cpu_filter(EqualizeParams{}, options));
      } else {
        filters.push_back(make_cuda_filter(denoise, options));
        filters.push_back(make_cuda_filter(EqualizeParams{}, options));
      }
      return filters;
    };
    const auto cpu = both(CpuOptions{1});
    const auto cuda = both(CudaOptions{});
    const std::vector<ImageDesc> behind = configure_chain(cpu, desc);
    ASSERT_EQ(configure_chain(cuda, desc), behind);
    Image in(desc);
    Image between(behind[0]);
    Image expected(behind[1]);
    DeviceImage device_in(desc);
    DeviceImage device_between(behind[0]);
    DeviceImage device_out(behind[1]);
    for (int i = 0; i < 4; ++i) {
      filled_by({0.5, 0.2})(in.view(), i, 9);
      device_in.upload(in.view());
      device_out.poison();
      FrameContext context;
      cpu[0]->submit(in.view(), between.view(), context);
      cpu[1]->submit(between.view(), expected.view(), context);
      cuda[0]->submit(device_in.view(), device_between.view(), context);
      cuda[1]->submit(device_between.view(), device_out.view(), context);
      ASSERT_EQ(test::count_differences(expected.view(), device_out.download().view()), 0U) << i;
    }
  }
}

/// Blocks that a codec has left without noise, and others; results in place and elsewhere.
TEST_F(CudaDenoise, NoiseThatACodecHasLeft) {
  using enum PixelFormat;
  for (const PixelFormat format : {gray8, nv12, i420, y444, yuy2, bgra}) {
    const ImageDesc desc{format, 372, 247};
    SCOPED_TRACE(name_of(desc));
    for (const test::Coding coding : {test::Coding::inter, test::Coding::intra}) {
      for (const double speed : {0.0, 2.3}) {
        const auto cpu = make_cpu_filter(DenoiseParams{}, {1});
        const auto cuda = make_cuda_filter(DenoiseParams{});
        cpu->configure(desc);
        cuda->configure(desc);
        test::BlockCodec codec(desc, coding, 5);
        Image image(desc);
        DeviceImage device(desc);
        DeviceImage elsewhere(desc);
        const auto fill = filled_by({speed, -speed / 2, 4});
        for (int i = 0; i < 12; ++i) {
          fill(image.view(), i, 5);
          codec.code(image.view());
          device.upload(image.view());
          FrameContext context;
          DeviceImage& result = i % 3 == 0 ? device : elsewhere;
          cpu->submit(image.view(), image.view(), context);
          cuda->submit(device.view(), result.view(), context);
          ASSERT_EQ(test::count_differences(image.view(), result.download().view()), 0U) << i;
          if (i % 5 == 4) {
            ASSERT_EQ(cpu->save(), cuda->save()) << i;
          }
        }
      }
    }
  }
}

/// Blotches are found in pairs of blocks; the last one of an odd number has no pair.
TEST_F(CudaDenoise, BlotchesOfColour) {
  using enum PixelFormat;
  for (const PixelFormat format : {nv12, i420, y42b, y444, yuy2, p010_10le}) {
    for (const int width : {372, 340}) {
      const ImageDesc desc{format, width, 247};
      SCOPED_TRACE(name_of(desc));
      Pair({}, desc, showing({0, 0, 3, 1000, 1, 9})).expect_same(12);
      Pair({}, desc, showing({1.6, 0.4, 3, 5, 1, 7})).expect_same(10);
    }
  }
}

/// Trends are those of blocks that the picture before has counted, in one luma or in three colours.
TEST_F(CudaDenoise, BlotchesOfLuma) {
  using enum PixelFormat;
  for (const PixelFormat format : {gray8, nv12, y444, yuy2, bgr, p010_10le}) {
    for (const int width : {372, 340}) {
      const ImageDesc desc{format, width, 247};
      SCOPED_TRACE(name_of(desc));
      Pair({}, desc, showing({0, 0, 3, 1000, 7})).expect_same(14);
      Pair({}, desc, showing({1.6, 0.4, 3, 5, 7})).expect_same(12);
    }
  }
}

/// Kernels of a frame run beside those of the next one.
TEST_F(CudaDenoise, FramesThatFollowWithoutAWait) {
  constexpr int kFrames = 8;
  for (const bool in_place : {false, true}) {
    for (const int width : {1280, 330}) {
      const ImageDesc desc{PixelFormat::nv12, width, 270};
      SCOPED_TRACE(name_of(desc) + (in_place ? " in place" : ""));
      const auto cpu = make_cpu_filter(DenoiseParams{}, {1});
      const auto cuda = make_cuda_filter(DenoiseParams{});
      cpu->configure(desc);
      cuda->configure(desc);
      const auto fill = filled_by({1.4, 0.6, 3});
      std::vector<Image> expected;
      std::vector<DeviceImage> frames;
      std::vector<DeviceImage> results;
      FrameContext context;
      for (int i = 0; i < kFrames; ++i) {
        expected.emplace_back(desc);
        frames.emplace_back(desc);
        results.emplace_back(desc);
        fill(expected.back().view(), i, 5);
        frames.back().upload(expected.back().view());
        cpu->submit(expected.back().view(), expected.back().view(), context);
      }
      for (std::size_t i = 0; i < kFrames; ++i)
        cuda->submit(frames[i].view(), in_place ? frames[i].view() : results[i].view(), context);
      for (std::size_t i = 0; i < kFrames; ++i) {
        DeviceImage& result = in_place ? frames[i] : results[i];
        ASSERT_EQ(test::count_differences(expected[i].view(), result.download().view()), 0U) << i;
      }
      ASSERT_EQ(cpu->save(), cuda->save());
    }
  }
}

/// Counts that the next picture has not used yet are saved, kept while the noise is given, and
/// dropped by a reset, by a loaded state and by a change between frames and fields.
TEST_F(CudaDenoise, CountsThatWaitForTheNextPicture) {
  const ImageDesc desc{PixelFormat::nv12, 260, 140};
  const auto cpu = make_cpu_filter(DenoiseParams{}, {1});
  const auto cuda = make_cuda_filter(DenoiseParams{});
  Image image(desc);
  DeviceImage device(desc);
  const auto fill = filled_by({0.4, 0.1, 3});
  FrameContext context;
  std::string early;
  for (auto* filter : {cpu.get(), cuda.get()})
    filter->configure(desc);
  for (int i = 0; i < 30; ++i) {
    SCOPED_TRACE("frame " + std::to_string(i));
    for (auto* filter : {cpu.get(), cuda.get()}) {
      if (i == 4 || i == 19) {
        EXPECT_TRUE(filter->update({{"noise", "2"}}));
      }
      if (i == 7 || i == 22) {
        EXPECT_TRUE(filter->update({{"noise", "0"}}));
      }
      if (i == 10 || i == 19) filter->reset();
      if (i == 14) filter->load(early);
    }
    context.field_order = i < 26 ? FieldOrder::progressive : FieldOrder::top_first;
    fill(image.view(), i, 5);
    device.upload(image.view());
    cpu->submit(image.view(), image.view(), context);
    cuda->submit(device.view(), device.view(), context);
    ASSERT_EQ(test::count_differences(image.view(), device.download().view()), 0U);
    ASSERT_EQ(cpu->save(), cuda->save());
    if (i == 3) early = cuda->save();
  }
}

/// The noise is given in the first frames, and found later.
TEST_F(CudaDenoise, NoiseThatIsFoundLater) {
  Pair pair({1, 24, 0.6, 2}, {PixelFormat::i420, 260, 140}, showing({0, 0}));
  pair.expect_same(3);
  pair.update({});
  pair.expect_same(12);
}

TEST_F(CudaDenoise, StreamsThatChangeBetweenFramesAndFields) {
  const ImageDesc desc{PixelFormat::i420, 80, 51};
  const auto cpu = make_cpu_filter(DenoiseParams{}, {1});
  const auto cuda = make_cuda_filter(DenoiseParams{});
  cpu->configure(desc);
  cuda->configure(desc);
  EXPECT_EQ(cuda->save(), "{}");
  Image image(desc);
  DeviceImage device(desc);
  const auto fill = filled_by({0.4, 0.1});
  for (int i = 0; i < 12; ++i) {
    fill(image.view(), i, 5);
    device.upload(image.view());
    FrameContext context;
    context.field_order = i / 3 % 2 == 0 ? FieldOrder::progressive : FieldOrder::top_first;
    cpu->submit(image.view(), image.view(), context);
    cuda->submit(device.view(), device.view(), context);
    ASSERT_EQ(test::count_differences(image.view(), device.download().view()), 0U) << i;
    ASSERT_EQ(cpu->save(), cuda->save()) << i;
  }
  const std::string state = cpu->save();
  EXPECT_THROW(cuda->load("[]"), Error);
  std::string damaged = state;
  damaged.replace(damaged.find("\"weight\":\"") + 10, 4, "////");
  EXPECT_THROW(cuda->load(damaged), Error);
  EXPECT_EQ(cuda->save(), state) << "what was refused changes nothing";
  cuda->load("{}");
  EXPECT_EQ(cuda->save(), "{}");
}

TEST_F(CudaDenoise, RandomOptionsOnRandomStreams) {
  std::mt19937 random(23);
  const auto uniform = [&](double least, double most) {
    return std::uniform_real_distribution<>(least, most)(random);
  };
  const std::vector<PixelFormat> all = test::denoised_formats();
  for (int i = 0; i < 40; ++i) {
    const ImageDesc desc{all[random() % all.size()], 1 + static_cast<int>(random() % 300),
                         1 + static_cast<int>(random() % 150)};
    SCOPED_TRACE(std::to_string(i) + " " + name_of(desc));
    DenoiseParams params;
    params.strength = random() % 2 == 0 ? 1 : uniform(0, 1);
    params.temporal = 1 + static_cast<int>(random() % kMostFrames);
    params.spatial = uniform(0, 1);
    params.noise = random() % 2 == 0 ? 0 : uniform(0.1, 20);
    const Scene scene{uniform(-9, 9), uniform(-5, 5), uniform(0, 6),
                      static_cast<int>(random() % 9)};
    PairOptions options = showing(scene, static_cast<std::uint32_t>(i + 1));
    options.order = random() % 3 == 0 ? FieldOrder::top_first : FieldOrder::progressive;
    options.layout = {static_cast<int>(random() % 5), static_cast<int>(random() % 9)};
    Pair(params, desc, options).expect_same(8);
  }
}

}  // namespace
}  // namespace equalux

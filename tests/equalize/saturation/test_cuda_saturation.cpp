// Saturation on a GPU: the same bytes as on the CPU, in every format of colour.
#include <random>
#include <string>
#include <vector>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "cuda/equalize/deep/deep_chain.h"
#include "cuda/equalize/fused/fused_chain.h"
#include "cuda/equalize/space/space_chain.h"
#include "src/equalize/space.h"
#include "tests/equalize/saturation/saturated_params.h"
#include "tests/support/backend_pair.h"
#include "tests/support/calm_params.h"
#include "tests/support/device/device_filter.h"
#include "tests/support/device/device_test.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using CudaSaturation = test::DeviceTest;

using test::colour_forms;
using test::DeviceLayout;
using Pair = test::BackendPair<EqualizeParams>;

/// Noise, which has every S, and natural pictures, in turns.
void paint(const ImageView& view, int number, std::uint32_t seed) {
  test::fill(view, number % 2 == 0 ? test::Content::noise : test::Content::natural,
             seed + static_cast<std::uint32_t>(number));
}

/// With room for auto to go up to the largest factor.
EqualizeParams shaped(double saturation, bool steep) {
  EqualizeParams params = test::shaped(saturation, steep);
  if (saturation == kAutoSaturation) params.saturation_max = 4;
  return params;
}

// Short enough for the sanitizers: every kernel, with edges.
TEST_F(CudaSaturation, AFewFramesOfEachKernel) {
  for (const auto& [width, height] : {std::pair{128, 38}, {131, 37}}) {
    for (const ImageDesc& desc : colour_forms(width, height)) {
      SCOPED_TRACE(std::string(to_string(desc.format)) + " " + std::to_string(width));
      Pair(shaped(kAutoSaturation, true), desc, {1, paint}).expect_same(2);
    }
  }
}

TEST_F(CudaSaturation, EveryFactorInEveryFormat) {
  for (const auto& [width, height] : {std::pair{160, 92}, {517, 61}, {1, 1}, {3, 2}}) {
    for (const ImageDesc& desc : colour_forms(width, height)) {
      for (const double k : {0.0, 0.37109375, 1.5, 2.5, 4.0, kAutoSaturation}) {
        for (const bool steep : {false, true}) {
          SCOPED_TRACE(std::string(to_string(desc.format)) + " " + std::to_string(width) +
                       " times " + std::to_string(k) + (steep ? ", steep" : ""));
          Pair(shaped(k, steep), desc, {7, paint}).expect_same(2);
        }
      }
    }
  }
}

TEST_F(CudaSaturation, InPlace) {
  for (const auto& [width, height] : {std::pair{128, 38}, {131, 37}}) {
    for (const ImageDesc& desc : colour_forms(width, height)) {
      const EqualizeParams params = shaped(2.5, true);
      if (has_deep_samples(desc.format)) {
        test::expect_same_as_cpu<cuda::DeepChain>(params, desc, test::Content::natural);
      } else {
        test::expect_same_as_cpu<cuda::FusedChain>(params, desc, test::Content::natural);
      }
    }
  }
}

// Where frames lie, and whose lines they have, decides which kernel runs and which samples a cell
// has.
TEST_F(CudaSaturation, FieldsAndMemoryOfAnyAlignment) {
  for (const ImageDesc& desc : colour_forms(131, 45)) {
    SCOPED_TRACE(to_string(desc.format));
    for (const DeviceLayout& layout :
         {DeviceLayout{0, 13, false, false}, {0, 7, true, false}, {6, 22, false, true}}) {
      for (const FieldOrder order : {FieldOrder::progressive, FieldOrder::top_first})
        Pair(shaped(kAutoSaturation, true), desc, {3, paint, layout, order}).expect_same(2);
    }
  }
}

/// Formats of colour that curves of a space are for.
std::vector<ImageDesc> forms_of(Space space, int width, int height) {
  std::vector<ImageDesc> descs;
  for (const ImageDesc& desc : colour_forms(width, height))
    if (space_takes(space, desc.format)) descs.push_back(desc);
  return descs;
}

TEST_F(CudaSaturation, BehindCurvesOfLumaAndLightness) {
  for (const Space space : {Space::luma, Space::lightness}) {
    for (const auto& [width, height] : {std::pair{160, 92}, {517, 61}, {1, 1}, {3, 2}}) {
      for (const ImageDesc& desc : forms_of(space, width, height)) {
        for (const double k : {0.37109375, 2.5, kAutoSaturation}) {
          for (const FieldOrder order : {FieldOrder::progressive, FieldOrder::top_first}) {
            SCOPED_TRACE(std::string(enum_name(space)) + " " + std::string(to_string(desc.format)) +
                         " " + std::to_string(width) + " times " + std::to_string(k));
            EqualizeParams params = shaped(k, true);
            params.space = space;
            Pair(params, desc, {7, paint, {}, order}).expect_same(2);
            Pair(params, desc, {7, paint, DeviceLayout{6, 22, false, true}, order}).expect_same(2);
          }
        }
      }
    }
  }
}

TEST_F(CudaSaturation, InPlaceBehindCurvesOfLumaAndLightness) {
  for (const Space space : {Space::luma, Space::lightness}) {
    for (const ImageDesc& desc : forms_of(space, 131, 37)) {
      SCOPED_TRACE(std::string(enum_name(space)) + " " + std::string(to_string(desc.format)));
      EqualizeParams params = shaped(2.5, true);
      params.space = space;
      if (has_deep_samples(desc.format)) {
        test::expect_same_as_cpu<cuda::DeepChain>(params, desc, test::Content::natural);
      } else if (space_needs_tables(space, desc.format)) {
        test::expect_same_as_cpu<cuda::SpaceChain>(params, desc, test::Content::natural);
      } else {
        test::expect_same_as_cpu<cuda::FusedChain>(params, desc, test::Content::natural);
      }
    }
  }
}

TEST_F(CudaSaturation, SpacesRestoredUpdatedAndReset) {
  for (const Space space : {Space::luma, Space::lightness}) {
    for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12, PixelFormat::p010_10le}) {
      if (!space_takes(space, format)) continue;
      SCOPED_TRACE(std::string(enum_name(space)) + " " + std::string(to_string(format)));
      EqualizeParams params = test::calm_params();
      params.space = space;
      Pair pair(params, {format, 161, 91});
      pair.expect_same(5);
      EqualizeParams other = params;
      other.saturation = kAutoSaturation;
      other.saturation_max = 3;
      pair.update(other);
      pair.expect_same(20);
      pair.restore(params);
      pair.expect_same(20);
      other.saturation = 0.5;
      other.saturation_max = EqualizeParams{}.saturation_max;
      pair.update(other);
      pair.expect_same(20);
      pair.reset();
      pair.expect_same(5);
    }
  }
}

TEST_F(CudaSaturation, RandomOptionsOnRandomStreams) {
  std::mt19937 random(5);
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    const EqualizeParams params = test::drawn_params(random);
    Pair(params, test::drawn_form(random), {static_cast<std::uint32_t>(i + 1), test::fill_bands})
        .expect_same(12);
  }
}

TEST_F(CudaSaturation, RestoredUpdatedAndReset) {
  for (const PixelFormat format :
       {PixelFormat::bgr, PixelFormat::nv12, PixelFormat::p010_10le, PixelFormat::rgb48_le}) {
    SCOPED_TRACE(to_string(format));
    EqualizeParams params = test::calm_params();
    params.saturation = 2;
    Pair pair(params, {format, 161, 91});
    pair.expect_same(20);
    pair.restore(params);
    pair.expect_same(10);
    EqualizeParams other = params;
    other.saturation = kAutoSaturation;
    other.saturation_max = 3;
    pair.update(other);
    pair.expect_same(20);
    other = params;
    other.saturation = 1;
    pair.update(other);
    pair.expect_same(40);
    pair.update(params);
    pair.reset();
    pair.expect_same(10);
  }
}

}  // namespace
}  // namespace equalux

// Pixels that do not count, on a GPU: the same bytes as on the CPU, frame after frame.
#include <fstream>
#include <random>

#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "cuda/runtime/check.h"
#include "cuda/runtime/handles.h"
#include "tests/support/backend_pair.h"
#include "tests/support/device/device_image.h"
#include "tests/support/device/device_test.h"
#include "tests/support/media/moving_frames.h"
#include "tests/support/media/surround_frames.h"
#include "tests/support/media/test_images.h"
#include "tests/support/temp_folder.h"

namespace equalux {
namespace {

using test::DeviceImage;
using test::DeviceLayout;
using test::Opening;

using CudaExcluded = test::DeviceTest;

/// A stream in which pictures of several openings follow each other, some of them for a moment, and
/// frames without any.
void fill_stream(const ImageView& view, int number, std::uint32_t seed) {
  test::fill_moving(view, number, seed);
  const int scene = (number + static_cast<int>(seed)) / 9 % 11;
  if (scene < 7) test::close(view, static_cast<Opening>(scene), number % 2 == 0, seed);
}

using Pair = test::BackendPair<EqualizeParams>;

/// The stream above, with the frames of both backends as they are asked for.
test::PairOptions stream_of(std::uint32_t seed = 1, const DeviceLayout& layout = {},
                            FieldOrder order = FieldOrder::progressive) {
  return {seed, fill_stream, layout, order, 2};
}

EqualizeParams leaving_out(const std::string& region, Surround surround, double temporal_ms = 0) {
  EqualizeParams params;
  params.region = region;
  params.surround = surround;
  params.temporal_ms = temporal_ms;
  if (temporal_ms != 0) params.clip_limit = 3;
  return params;
}

TEST_F(CudaExcluded, EveryFormatRangeAndFieldOrder) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    if (traits(format).model == ColorModel::real) continue;
    for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
      for (const FieldOrder order : {FieldOrder::progressive, FieldOrder::top_first}) {
        SCOPED_TRACE(to_string(format));
        const ImageDesc desc{format, 333, 219, ColorMatrix::bt601, range};
        Pair(leaving_out("31,7,181,90", Surround::keep), desc, stream_of(1, {}, order))
            .expect_same(4);
        Pair(leaving_out("", Surround::ignore), desc, stream_of(1, {}, order)).expect_same(40);
        if (traits(format).model != ColorModel::rgb) {
          EqualizeParams luma = leaving_out("31,7,181,90", Surround::ignore);
          luma.space = Space::luma;
          luma.saturation = 1.5;
          Pair(luma, desc, stream_of(1, {}, order)).expect_same(12);
        }
        Pair(leaving_out("5%,11,70.5%,150", Surround::ignore, 700), desc, stream_of(1, {}, order))
            .expect_same(24);
      }
    }
  }
}

TEST_F(CudaExcluded, LongStreamsRestoredUpdatedAndReset) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::p010_10le}) {
    for (const double temporal_ms : {0.0, 1000.0}) {
      SCOPED_TRACE(to_string(format));
      Pair pair(leaving_out("", Surround::ignore, temporal_ms), {format, 641, 361}, stream_of());
      pair.expect_same(230);
      pair.restore(leaving_out("", Surround::ignore, temporal_ms));
      pair.expect_same(70);
      pair.update(leaving_out("100,100,300,200", Surround::ignore, temporal_ms));
      pair.expect_same(20);
      pair.update(leaving_out("", Surround::keep, temporal_ms));
      pair.expect_same(5);
      pair.update(leaving_out("20%,0,50%,100%", Surround::keep, temporal_ms));
      pair.expect_same(5);
      pair.update(leaving_out("", Surround::ignore, temporal_ms));
      pair.expect_same(60);
      pair.reset();
      pair.expect_same(40);
    }
  }
}

TEST_F(CudaExcluded, MasksAndRegionsWithoutAPixel) {
  const test::TempFolder folder;
  for (const int every : {3, 1000000}) {
    const std::string path = folder / "mask.pgm";
    std::ofstream file(path, std::ios::binary);
    file << "P5 333 219 255\n";
    for (int i = 0; i < 333 * 219; ++i)
      file.put(static_cast<char>(i % every == every - 1 ? 255 : 0));
    file.close();
    for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::nv12, PixelFormat::xrgb,
                                     PixelFormat::gray16_le, PixelFormat::i420_10le}) {
      Pair(leaving_out(path, Surround::keep), {format, 333, 219}, stream_of()).expect_same(12);
      Pair(leaving_out(path, Surround::ignore, 500), {format, 333, 219}, stream_of())
          .expect_same(12);
    }
  }
}

/// Formats of whole numbers come before those of floats.
constexpr unsigned kIntegerFormats = static_cast<unsigned>(PixelFormat::grayf32);

/// Frames of one size after another, whatever they lie on; large ones have larger blocks.
TEST_F(CudaExcluded, RandomSizesLayoutsScalersAndBins) {
  std::mt19937 random(5);
  for (int i = 0; i < 120; ++i) {
    SCOPED_TRACE(i);
    const auto format = static_cast<PixelFormat>(random() % kIntegerFormats);
    const int width = 1 + static_cast<int>(random() % 500);
    const int height = 1 + static_cast<int>(random() % 300);
    EqualizeParams params = leaving_out("", random() % 3 == 0 ? Surround::keep : Surround::ignore,
                                        random() % 2 == 0 ? 0 : 300);
    if (random() % 2 == 0 || params.surround == Surround::keep) {
      const int left = static_cast<int>(random() % static_cast<unsigned>(width));
      const int top = static_cast<int>(random() % static_cast<unsigned>(height));
      params.region = std::to_string(left) + "," + std::to_string(top) + "," +
                      std::to_string(1 + random() % 400) + "," + std::to_string(1 + random() % 400);
    }
    params.scaler = static_cast<Scaler>(random() % 3);
    if (random() % 2 == 0) params.bins = 2 + static_cast<int>(random() % 600);
    DeviceLayout layout;
    layout.aligned_rows = random() % 2 == 0;
    layout.offset = layout.aligned_rows ? 0 : static_cast<int>(random() % 64);
    layout.padding = static_cast<int>(random() % 40);
    layout.negative = random() % 4 == 0;
    const auto order = random() % 4 == 0 ? FieldOrder::bottom_first : FieldOrder::progressive;
    Pair(params, {format, width, height},
         stream_of(static_cast<std::uint32_t>(i + 1), layout, order))
        .expect_same(20);
    if (HasFatalFailure()) return;
  }
  Pair(leaving_out("", Surround::ignore), {PixelFormat::gray8, 4200, 1100}, stream_of())
      .expect_same(12);
  Pair(leaving_out("9,0,80%,80%", Surround::ignore), {PixelFormat::i420, 700, 8300}, stream_of())
      .expect_same(10);
}

/// Nobody waits between the frames, so that a kernel that counts and the one that reads are on each
/// other's heels.
TEST_F(CudaExcluded, FramesOnEachOthersHeels) {
  const ImageDesc desc{PixelFormat::bgr, 961, 540};
  const EqualizeParams params = leaving_out("40,0,900,500", Surround::ignore, 400);
  const auto cpu = make_cpu_filter(params, {2});
  const auto cuda = make_cuda_filter(params);
  cpu->configure(desc);
  cuda->configure(desc);
  const cuda::Stream stream = cuda::make_stream();
  Image frame(desc);
  std::vector<Image> expected;
  std::vector<std::unique_ptr<DeviceImage>> in;
  std::vector<std::unique_ptr<DeviceImage>> out;
  FrameContext context;
  for (int i = 0; i < 30; ++i) {
    fill_stream(frame.view(), i, 1);
    context.pts_ns = i * 33'366'667LL;
    expected.emplace_back(desc);
    cpu->submit(frame.view(), expected.back().view(), context);
    in.push_back(std::make_unique<DeviceImage>(desc));
    in.back()->upload(frame.view());
    out.push_back(std::make_unique<DeviceImage>(desc));
    out.back()->poison();
  }
  cuda::check(cudaDeviceSynchronize(), "waiting for the uploads");
  context.stream = stream.get();
  for (std::size_t i = 0; i < in.size(); ++i) {
    context.pts_ns = static_cast<std::int64_t>(i) * 33'366'667LL;
    cuda->submit(in[i]->view(), out[i]->view(), context);
  }
  for (std::size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(test::count_differences(expected[i].view(), out[i]->download().view()), 0U)
        << "frame " << i;
  }
}

}  // namespace
}  // namespace equalux

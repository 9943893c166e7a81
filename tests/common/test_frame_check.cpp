#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/media/test_images.h"

/// Frames that are not what a filter was configured for.
namespace equalux {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A filter configured for `desc`, and what it makes of it.
struct Configured {
  Configured(const std::string& spec, const ImageDesc& desc)
      : filter(make_cpu_filter(parse_filter_spec(spec))), out(filter->configure(desc)) {}

  /// What submit() throws for a frame and a result of these descriptions; empty if nothing.
  std::string error_of(const ImageDesc& in_desc, const ImageDesc& out_desc) const {
    Image in(in_desc);
    Image result(out_desc);
    test::fill(in.view(), test::Content::natural, 1);
    FrameContext context;
    try {
      filter->submit(std::as_const(in).view(), result.view(), context);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return {};
  }

  std::unique_ptr<Filter> filter;
  ImageDesc out;
};

TEST(FrameCheck, EveryFilterNamesTheFrameAndWhatItMustBe) {
  const ImageDesc desc{PixelFormat::bgr, 96, 80};
  ImageDesc wide = desc;
  wide.width = 98;
  for (const FilterInfo& info : filter_list()) {
    SCOPED_TRACE(info.name);
    const Configured configured(std::string(info.name), desc);
    EXPECT_EQ(configured.error_of(desc, configured.out), "");
    EXPECT_THAT(configured.error_of(wide, configured.out),
                HasSubstr("the frame is 98x80 bgr, must be 96x80 bgr, for which the filter was "
                          "configured"));
    ImageDesc flat = configured.out;
    flat.height = 79;
    EXPECT_THAT(configured.error_of(desc, flat), HasSubstr("the result is 96x79 "));
  }
}

/// Memory of one frame and of another desc's in its place: the same rows and strides.
struct Shared {
  Shared(const ImageDesc& a, const ImageDesc& b) {
    for (int p = 0; p < kMaxPlanes; ++p) {
      std::size_t bytes = 0;
      int rows = 0;
      for (const ImageDesc& each : {a, b}) {
        if (p >= traits(each.format).planes) continue;
        bytes = std::max(bytes, row_bytes(each, p));
        rows = std::max(rows, plane_rows(each, p));
      }
      planes.emplace_back(bytes * static_cast<std::size_t>(rows));
      stride.push_back(static_cast<std::ptrdiff_t>(bytes));
    }
  }
  ImageView view(const ImageDesc& desc) {
    return {desc,
            {planes[0].data(), planes[1].data(), planes[2].data()},
            {stride[0], stride[1], stride[2]}};
  }

  std::vector<std::vector<std::uint8_t>> planes;
  std::vector<std::ptrdiff_t> stride;
};

/// What submit() throws where `spoil` has changed the view of the frame or of its result.
std::string error_of_view(const Configured& configured, const ImageDesc& desc, bool of_result,
                          const std::function<void(ImageView&)>& spoil) {
  Image in(desc);
  Image out(configured.out);
  test::fill(in.view(), test::Content::natural, 1);
  ImageView from = in.view();
  ImageView to = out.view();
  spoil(of_result ? to : from);
  FrameContext context;
  try {
    configured.filter->submit(from, to, context);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return {};
}

TEST(FrameCheck, EveryFilterRefusesPlanesWithoutMemoryAndResultsWhoseRowsOverlap) {
  const ImageDesc desc{PixelFormat::bgr, 96, 80};
  for (const FilterInfo& info : filter_list()) {
    SCOPED_TRACE(info.name);
    const Configured configured(std::string(info.name), desc);
    const auto without_memory = [](ImageView& view) { view.data[0] = nullptr; };
    EXPECT_THAT(error_of_view(configured, desc, false, without_memory),
                EndsWith(": plane 0 of the frame has no memory"));
    EXPECT_THAT(error_of_view(configured, desc, true, without_memory),
                EndsWith(": plane 0 of the result has no memory"));
    const auto bytes = static_cast<std::ptrdiff_t>(row_bytes(configured.out, 0));
    const auto rows_apart = [](std::ptrdiff_t stride) {
      return [stride](ImageView& view) { view.stride[0] = stride; };
    };
    EXPECT_THAT(error_of_view(configured, desc, true, rows_apart(1 - bytes)),
                EndsWith(": plane 0 of the result has rows " + std::to_string(bytes - 1) +
                         " bytes apart, must be at least " + std::to_string(bytes)));
    EXPECT_EQ(error_of_view(configured, desc, true, rows_apart(bytes)), "");
    EXPECT_EQ(error_of_view(configured, desc, false, rows_apart(0)), "") << "one row for all";
  }
}

TEST(FrameCheck, EveryPlaneNeedsMemoryAndTheOnlyRowNoStride) {
  const ImageDesc desc{PixelFormat::i420, 8, 2};
  const Configured configured("equalize", desc);
  EXPECT_EQ(error_of_view(configured, desc, true, [](ImageView& view) { view.data[2] = nullptr; }),
            "equalize: plane 2 of the result has no memory");
  // Chroma has one row, which no other can overlap.
  EXPECT_EQ(error_of_view(configured, desc, true, [](ImageView& view) { view.stride[1] = 0; }), "");
}

TEST(FrameCheck, FiltersThatWorkInPlaceGiveTheSameThere) {
  // Some filters' results have another format than their frames.
  const ImageDesc desc{PixelFormat::bgr, 150, 70};
  for (const FilterInfo& info : filter_list()) {
    SCOPED_TRACE(info.name);
    const Configured elsewhere(std::string(info.name), desc);
    const Configured in_place(std::string(info.name), desc);
    if (!in_place.filter->works_in_place()) continue;
    Image in(desc);
    test::fill(in.view(), test::Content::natural, 1);
    Image expected(elsewhere.out);
    Shared memory(desc, in_place.out);
    copy_image(in.view(), memory.view(desc));
    FrameContext context;
    elsewhere.filter->submit(in.view(), expected.view(), context);
    in_place.filter->submit(memory.view(desc), memory.view(in_place.out), context);
    EXPECT_EQ(test::count_differences(expected.view(), memory.view(in_place.out)), 0U);
  }
}

TEST(FrameCheck, AFilterWithoutConfigureSaysSo) {
  // An Image without a desc is 0x0, as are the frames of a filter that knows none yet.
  const ImageDesc descs[] = {{}, {PixelFormat::bgr, 96, 80}};
  for (const FilterInfo& info : filter_list()) {
    for (const ImageDesc& desc : descs) {
      SCOPED_TRACE(std::string(info.name) + " " + std::to_string(desc.width));
      const auto filter = make_cpu_filter(parse_filter_spec(info.name));
      Image in = desc.width == 0 ? Image() : Image(desc);
      Image out = desc.width == 0 ? Image() : Image(desc);
      FrameContext context;
      try {
        filter->submit(std::as_const(in).view(), out.view(), context);
        ADD_FAILURE() << "took the frame";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_THAT(error.what(), EndsWith(": there is no size and format of frames yet, "
                                           "configure() must come before submit()"));
      }
    }
  }
}

TEST(FrameCheck, MatrixAndRangeMatterForYcbcrOnly) {
  const ImageDesc yuv{PixelFormat::i420, 96, 80, ColorMatrix::bt601, ColorRange::limited};
  ImageDesc full = yuv;
  full.range = ColorRange::full;
  const Configured equalize("equalize", yuv);
  EXPECT_THAT(equalize.error_of(full, yuv),
              StartsWith("equalize: the frame is 96x80 i420 of bt601, full range, must be 96x80 "
                         "i420 of bt601, limited range"));
  const ImageDesc bgr{PixelFormat::bgr, 96, 80, ColorMatrix::bt601, ColorRange::limited};
  ImageDesc other = bgr;
  other.matrix = ColorMatrix::bt2020;
  other.range = ColorRange::full;
  EXPECT_EQ(Configured("equalize", bgr).error_of(other, other), "");
}

}  // namespace
}  // namespace equalux

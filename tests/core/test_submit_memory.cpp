#include <memory>
#include <new>
#include <string>
#include <vector>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/short_memory.h"
#include "tests/support/media/test_images.h"

/// Frames of every filter on the CPU while there is no memory: submit() allocates none.
namespace equalux::test {
namespace {

using short_memory::Lasting;

/// Kinds of frames.
constexpr FieldOrder kFrames = FieldOrder::progressive;
constexpr FieldOrder kFields = FieldOrder::top_first;

/// A filter, and memory for its frames.
class Stream {
 public:
  Stream(const std::string& spec, const ImageDesc& desc)
      : filter_(make_cpu_filter(parse_filter_spec(spec), {}, {.threads = 2})), in_(desc) {
    if (!filter_->accepts(desc.format)) return;
    try {
      out_ = Image(filter_->configure(desc));
    } catch (const Error&) {
      return;  // options that the format does not have
    }
    if (traits(desc.format).model != ColorModel::real) fill(in_.view(), Content::noise, 1);
    takes_ = true;
  }

  [[nodiscard]] bool takes() const { return takes_; }
  [[nodiscard]] Filter& filter() const { return *filter_; }

  /// Filters a frame with memory, or without.
  void submit(FieldOrder order) {
    FrameContext context;
    context.index = number_;
    context.pts_ns = 40'000'000 * static_cast<std::int64_t>(number_++);
    context.field_order = order;
    filter_->submit(in_.view(), out_.view(), context);
  }
  [[nodiscard]] bool submits_without_memory(FieldOrder order) {
    short_memory::fail_at(0, Lasting::from_then);
    bool done = true;
    try {
      submit(order);
    } catch (const std::bad_alloc&) {
      done = false;
    }
    return !short_memory::stop() && done;
  }

 private:
  std::unique_ptr<Filter> filter_;
  Image in_;
  Image out_;
  std::uint64_t number_ = 0;
  bool takes_ = false;
};

/// Every filter by its name alone, and options that need memory of their own.
std::vector<std::string> specs() {
  std::vector<std::string> all{"equalize:saturation=auto",
                               "equalize:space=luma,saturation=1.5",
                               "equalize:space=luma,saturation=auto,temporal-ms=100",
                               "equalize:space=lightness",
                               "equalize:space=lightness,saturation=auto",
                               "equalize:region=0,0,9,9,surround=ignore",
                               "equalize:compatible=opencv",
                               "equalize:chain=staged",
                               "clahe:tiles=2,2,saturation=auto,temporal-ms=100",
                               "clahe:tiles=2,2,compatible=opencv",
                               "denoise:strength=0.5,dither=ordered",
                               "convolve:kernel=box,size=9",
                               "convolve:kernel=gaussian,sigma=2",
                               "convolve:weights=1.5,-2,3,4,5,6,7,8,900",
                               "vessel:output=overlay",
                               "vessel:output=heat,measure=frangi",
                               "shapes:output=classes"};
  for (const FilterInfo& filter : filter_list())
    all.emplace_back(filter.name);
  return all;
}

std::vector<PixelFormat> formats() {
  std::vector<PixelFormat> all;
  for (int i = 0; i < kPixelFormatCount; ++i)
    all.push_back(static_cast<PixelFormat>(i));
  return all;
}

class SubmitMemory : public testing::Test {
 protected:
  /// Has oneTBB start its threads, which takes memory once in a process.
  static void SetUpTestSuite() { Stream("equalize", {PixelFormat::gray8, 67, 35}).submit(kFrames); }
};

TEST_F(SubmitMemory, FramesNeedNoneFromTheFirstOneOn) {
  int streams = 0;
  for (const std::string& spec : specs()) {
    for (const PixelFormat format : formats()) {
      Stream stream(spec, {format, 67, 35});
      if (!stream.takes()) continue;
      ++streams;
      for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(stream.submits_without_memory(kFrames))
            << spec << ", " << to_string(format) << ", frame " << i;
      }
    }
  }
  EXPECT_GT(streams, 300);
}

TEST_F(SubmitMemory, OptionsThatChangeTakeItAtOnce) {
  for (const char* const spec :
       {"equalize", "equalize:space=luma", "equalize:space=lightness", "clahe:tiles=2,2"}) {
    for (const PixelFormat format : formats()) {
      Stream stream(spec, {format, 67, 35});
      if (!stream.takes()) continue;
      stream.submit(kFrames);
      ASSERT_TRUE(stream.filter().update({{"saturation", "1.5"}}));
      EXPECT_TRUE(stream.submits_without_memory(kFrames)) << spec << ", " << to_string(format);
    }
  }
}

// Streams with pulldown switch between frames and fields every few frames.
TEST_F(SubmitMemory, FieldsNeedNoneOrOnlyTheFirst) {
  for (const FilterInfo& filter : filter_list()) {
    for (const PixelFormat format : formats()) {
      Stream stream(std::string(filter.name), {format, 67, 35});
      if (!stream.takes()) continue;
      stream.submit(kFrames);
      if (filter.name == "denoise") stream.submit(kFields);
      for (const FieldOrder order : {kFields, kFrames, kFrames, kFields}) {
        EXPECT_TRUE(stream.submits_without_memory(order))
            << filter.name << ", " << to_string(format);
      }
    }
  }
}

}  // namespace
}  // namespace equalux::test

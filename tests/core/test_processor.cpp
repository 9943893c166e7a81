#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/core/processor.h"
#include "tests/support/pipeline_fakes.h"

namespace equalux::test {
namespace {

/// Gray to twice as wide BGR: a filter whose output is another desc.
class WidenFilter final : public Filter {
 public:
  bool accepts(PixelFormat format) const override { return format == PixelFormat::gray8; }
  ImageDesc configure(const ImageDesc& input) override {
    ImageDesc out = input;
    out.format = PixelFormat::bgr;
    out.width *= 2;
    return out;
  }
  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    for (int y = 0; y < out.desc.height; ++y) {
      for (int x = 0; x < out.desc.width * 3; ++x)
        out.row(0, y)[x] = in.row(0, y)[x / 6];
    }
    if (context.timings != nullptr) context.timings->push_back({"widen", 0.5});
  }
};

template <typename... Filters>
std::unique_ptr<Processor> chain_of(Filters... filters) {
  std::vector<std::unique_ptr<Filter>> all;
  (all.push_back(std::move(filters)), ...);
  return make_cpu_processor(std::move(all), 2);
}

FramePtr numbered(FramePool& pool, std::uint8_t value) {
  FramePtr frame = pool.acquire();
  fill_bytes(frame->pixels.view(), value);
  frame->index = value;
  frame->pts_ns = 1000 + value;
  frame->duration_ns = 10;
  frame->discontinuity = true;
  frame->field_order = FieldOrder::bottom_first;
  frame->captured = Clock::time_point(std::chrono::seconds(5));
  frame->timings.capture_ms = 1.5;
  frame->timings.dropped_before = 4;
  return frame;
}

TEST(CpuProcessor, UnfilteredFramesAndPlaceholdersPassUntouched) {
  for (const bool placeholder : {false, true}) {
    const auto same_format = chain_of(std::make_unique<InvertFilter>());
    FramePool inputs(small_desc(), 1);
    FramePool outputs(same_format->configure(small_desc()), 1);
    FramePtr frame = numbered(inputs, 3);
    (placeholder ? frame->placeholder : frame->unfiltered) = true;
    same_format->submit(std::move(frame), outputs.acquire(), false, false);
    FramePtr result = same_format->collect(true);
    EXPECT_EQ(result->image.row(0, 3)[5], 3);
    EXPECT_EQ(result->placeholder, placeholder);
    result.reset();
    same_format->submit(numbered(inputs, 3), outputs.acquire(), false, false);
    EXPECT_EQ(same_format->collect(true)->image.row(0, 3)[5], 252);
  }
}

/// What has another format behind the filters cannot pass them by.
TEST(CpuProcessor, UnfilteredFramesAreFilteredWhereTheFormatChanges) {
  const auto processor = chain_of(std::make_unique<WidenFilter>());
  FramePool outputs(processor->configure(small_desc()), 1);
  FramePool inputs(small_desc(), 1);
  FramePtr frame = numbered(inputs, 3);
  frame->unfiltered = true;
  processor->submit(std::move(frame), outputs.acquire(), false, false);
  EXPECT_EQ(processor->collect(true)->image.row(0, 3)[35], 3);
}

TEST(CpuProcessor, RunsTheChainInOrder) {
  const auto processor =
      chain_of(std::make_unique<InvertFilter>(), std::make_unique<WidenFilter>());
  EXPECT_TRUE(processor->accepts(PixelFormat::gray8));
  EXPECT_FALSE(processor->accepts(PixelFormat::bgr));
  const ImageDesc out_desc = processor->configure(small_desc());
  EXPECT_EQ(out_desc.format, PixelFormat::bgr);
  EXPECT_EQ(out_desc.width, 12);
  FramePool inputs(small_desc(), 1);
  FramePool outputs(out_desc, 1);
  processor->submit(numbered(inputs, 3), outputs.acquire(), true, false);
  const FramePtr result = processor->collect(true);
  ASSERT_TRUE(result);
  EXPECT_EQ(processor->collect(true), nullptr);
  EXPECT_EQ(result->image.row(0, 3)[35], 252);
  EXPECT_EQ(result->index, 3U);
  EXPECT_EQ(result->pts_ns, 1003);
  EXPECT_EQ(result->duration_ns, 10);
  EXPECT_TRUE(result->discontinuity);
  EXPECT_EQ(result->field_order, FieldOrder::bottom_first);
  EXPECT_EQ(result->captured, Clock::time_point(std::chrono::seconds(5)));
  EXPECT_EQ(result->timings.capture_ms, 1.5);
  EXPECT_EQ(result->timings.dropped_before, 4U);
  ASSERT_EQ(result->timings.stages.size(), 2U);
  EXPECT_EQ(result->timings.stages[1].stage, "widen");
  EXPECT_EQ(result->original, nullptr);
  EXPECT_NE(inputs.try_acquire(), nullptr) << "the input went back to its pool";
}

TEST(CpuProcessor, MeasuresNothingUnasked) {
  const auto processor = chain_of(std::make_unique<InvertFilter>());
  FramePool inputs(small_desc(), 1);
  FramePool outputs(processor->configure(small_desc()), 1);
  processor->submit(numbered(inputs, 3), outputs.acquire(), false, false);
  EXPECT_TRUE(processor->collect(false)->timings.stages.empty());
}

TEST(CpuProcessor, TellsTheFilterAboutTheFrame) {
  auto filter = std::make_unique<InvertFilter>();
  const InvertFilter& seen = *filter;
  const auto processor = chain_of(std::move(filter));
  FramePool inputs(small_desc(), 1);
  FramePool outputs(processor->configure(small_desc()), 1);
  processor->submit(numbered(inputs, 3), outputs.acquire(), false, false);
  ASSERT_EQ(seen.contexts.size(), 1U);
  EXPECT_EQ(seen.contexts[0].index, 3U);
  EXPECT_EQ(seen.contexts[0].pts_ns, 1003);
  EXPECT_TRUE(seen.contexts[0].discontinuity);
  EXPECT_EQ(seen.contexts[0].field_order, FieldOrder::bottom_first);
  EXPECT_EQ(seen.contexts[0].timings, nullptr);
}

TEST(CpuProcessor, KeepsTheOriginalWhereAsked) {
  const auto processor = chain_of(std::make_unique<InvertFilter>());
  FramePool inputs(small_desc(), 1);
  FramePool outputs(processor->configure(small_desc()), 1);
  processor->submit(numbered(inputs, 3), outputs.acquire(), false, true);
  const FramePtr result = processor->collect(false);
  ASSERT_TRUE(result->original);
  EXPECT_EQ(result->original->image.row(0, 0)[0], 3);
  EXPECT_EQ(result->image.row(0, 0)[0], 252);
}

TEST(CpuProcessor, StageTimesAllocateNothingOnceWarm) {
  const auto processor = chain_of(std::make_unique<InvertFilter>());
  FramePool inputs(small_desc(), 1);
  FramePool outputs(processor->configure(small_desc()), 1);
  const StageTime* memory = nullptr;
  for (std::uint8_t i = 0; i < 5; ++i) {
    processor->submit(numbered(inputs, i), outputs.acquire(), true, false);
    const FramePtr result = processor->collect(false);
    if (i > 0) {
      EXPECT_EQ(result->timings.stages.data(), memory);
    }
    memory = result->timings.stages.data();
  }
}

TEST(CpuProcessor, WithoutFiltersItCopies) {
  const auto processor = chain_of();
  FramePool inputs(small_desc(), 1);
  FramePool outputs(processor->configure(small_desc()), 1);
  processor->submit(numbered(inputs, 77), outputs.acquire(), false, false);
  EXPECT_EQ(processor->collect(false)->image.row(0, 3)[5], 77);
}

TEST(CpuProcessor, AFailingFilterGivesTheFramesBack) {
  auto filter = std::make_unique<InvertFilter>();
  filter->fail_at = 3;
  const auto processor = chain_of(std::move(filter));
  FramePool inputs(small_desc(), 1);
  FramePool outputs(processor->configure(small_desc()), 1);
  EXPECT_THROW(processor->submit(numbered(inputs, 3), outputs.acquire(), false, false),
               std::runtime_error);
  EXPECT_NE(inputs.try_acquire(), nullptr);
  EXPECT_NE(outputs.try_acquire(), nullptr);
  EXPECT_EQ(processor->collect(true), nullptr);
}

TEST(CpuProcessor, SaysWhatItRunsOn) {
  const auto processor = chain_of(std::make_unique<InvertFilter>());
  EXPECT_THAT(processor->description(), ::testing::MatchesRegex("CPU, .+, 2 threads"));
}

}  // namespace
}  // namespace equalux::test

#pragma once

#include <string>

#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "tests/support/media/moving_frames.h"
#include "tests/support/media/test_images.h"

/// What tests of saturation ask of every filter that has it.
namespace equalux::test {

/// The chains that `chain_of` makes of each target's loops write what the filter of these
/// parameters does.
template <typename Params, typename AllLoops, typename ChainOf>
void expect_targets_alike(const Params& params, const ImageDesc& desc, const AllLoops& all,
                          const ChainOf& chain_of) {
  Image in(desc);
  fill(in.view(), Content::natural, 5);
  const auto filter = make_cpu_filter(params, {2});
  filter->configure(desc);
  Image expected(desc);
  FrameContext context;
  filter->submit(in.view(), expected.view(), context);
  for (const auto& loops : all) {
    SCOPED_TRACE(std::string(loops.target) + " " + std::string(to_string(desc.format)));
    auto chain = chain_of(loops);
    chain.configure(desc);
    Image out(desc);
    chain.process(in.view(), out.view(), context);
    ASSERT_EQ(count_differences(expected.view(), out.view()), 0U);
  }
}

/// The step from `calm` to `strong`, both over time, by the option values of `change`: it is not
/// made at once, and a stream that is resumed in the midst of it goes on as it would have.
template <typename Params>
void expect_eased_in_and_resumed(const Params& calm, const Params& strong,
                                 const OptionValues& change, const ImageDesc& desc) {
  const auto first = make_cpu_filter(calm, {1});
  const auto second = make_cpu_filter(strong, {1});
  first->configure(desc);
  Image in(desc);
  Image out(desc);
  Image of_second(desc);
  FrameContext context;
  const auto step = [&](Filter& filter, int number, Image& to) {
    fill_moving(in.view(), number, 1);
    context.pts_ns = number * 33'000'000LL;
    filter.submit(in.view(), to.view(), context);
  };
  step(*first, 0, out);
  ASSERT_TRUE(first->update(change));
  step(*first, 1, out);
  const std::string state = first->save();
  second->configure(desc);
  step(*second, 1, of_second);
  EXPECT_NE(count_differences(out.view(), of_second.view()), 0U) << "not at once";
  second->load(state);
  for (int number = 2; number < 40; ++number) {
    step(*first, number, out);
    step(*second, number, of_second);
    ASSERT_EQ(count_differences(out.view(), of_second.view()), 0U) << number;
  }
}

}  // namespace equalux::test

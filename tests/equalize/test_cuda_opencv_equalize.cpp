// equalize:compatible=opencv on a GPU: the same bytes as on the CPU.
#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "tests/support/device/device_filter.h"

namespace equalux {
namespace {

using test::Content;
using CudaOpencvEqualize = test::DeviceTest;

TEST_F(CudaOpencvEqualize, EveryContentSizeAndLayout) {
  const std::vector<test::FilterLayout> layouts{
      {{0, 0, true}, {0, 0, true}}, {{1, 3}, {7, 5}}, {{16, 0, true, true}, {32, 0, true, true}}};
  EqualizeParams params;
  params.compatible = Compatible::opencv;
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {9, 1}, {203, 151}, {1920, 1080}}) {
    for (const Content content : test::all_contents()) {
      for (const test::FilterLayout& layout : layouts) {
        const auto cpu = make_cpu_filter(params, {1});
        const auto cuda = make_cuda_filter(params);
        test::expect_same_frames(*cpu, *cuda, {PixelFormat::gray8, width, height}, content, layout,
                                 4);
      }
    }
  }
}

}  // namespace
}  // namespace equalux

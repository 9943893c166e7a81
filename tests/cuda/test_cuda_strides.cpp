// Strides that kernels cannot take, on an invented device: refused, and not cut to 32 bits.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <equalux/convolve.h>
#include <equalux/denoise.h>
#include <equalux/error.h>
#include <equalux/filter.h>
#include <equalux/hessian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cuda/fake_cuda.h"

namespace equalux::test {
namespace {

using testing::HasSubstr;

/// Error of a filter for a frame of two rows that are `stride` bytes apart; empty where there is
/// none. No memory is accessed, as an invented device runs no kernels.
std::string error_of(Filter& filter, std::ptrdiff_t stride, FieldOrder order) {
  const ImageDesc desc{PixelFormat::gray8, 64, 2};
  const ImageDesc result = filter.configure(desc);
  const auto address = [](std::uintptr_t place) { return reinterpret_cast<std::uint8_t*>(place); };
  const ConstImageView in{desc, {address(1U << 20)}, {stride}};
  ImageView out{result, {}, {}};
  for (std::size_t i = 0; i < 3; ++i) {
    out.data[i] = address((2U + i) << 20);
    out.stride[i] = 1024;
  }
  FrameContext context;
  context.field_order = order;
  try {
    filter.submit(in, out, context);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return {};
}

TEST(CudaStrides, TooLargeOnesAreRefused) {
  fake_cuda::reset();
  ConvolveParams convolve;
  convolve.kernel = "gaussian";
  convolve.size = 5;
  std::vector<std::pair<std::string, std::unique_ptr<Filter>>> filters;
  filters.emplace_back("equalize", make_cuda_filter(EqualizeParams{}, CudaOptions{0}));
  filters.emplace_back("convolve", make_cuda_filter(convolve, CudaOptions{0}));
  filters.emplace_back("denoise", make_cuda_filter(DenoiseParams{}, CudaOptions{0}));
  filters.emplace_back("eigenvalues", make_cuda_filter(HessianParams{}, CudaOptions{0}));
  constexpr std::ptrdiff_t kLimit = std::ptrdiff_t{1} << 31;
  for (const auto& [name, filter] : filters) {
    SCOPED_TRACE(name);
    for (const std::ptrdiff_t stride : {kLimit, -kLimit}) {
      EXPECT_EQ(
          error_of(*filter, stride, FieldOrder::progressive),
          name + ": a stride is " + std::to_string(stride) + " bytes, must be below 2^31 on a GPU");
    }
    EXPECT_EQ(error_of(*filter, kLimit - 1, FieldOrder::progressive), "");
  }
  Filter& denoise = *filters[2].second;
  EXPECT_THAT(error_of(denoise, kLimit / 2, FieldOrder::top_first),
              HasSubstr("must be below 2^30 in interlaced frames on a GPU"));
  EXPECT_EQ(error_of(denoise, kLimit / 2 - 1, FieldOrder::top_first), "");
  fake_cuda::reset();
}

}  // namespace
}  // namespace equalux::test

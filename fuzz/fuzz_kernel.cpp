// Tests kernels of convolution, as `--filter convolve:...` spells them: what is accepted keeps the
// bounds that the filters' arithmetic relies on.
#include <cstdlib>
#include <numeric>

#include <equalux/convolve.h>
#include <equalux/filter.h>

#include "fuzz/invariant.h"
#include "src/convolve/exact_kernel.h"

namespace {

using namespace equalux;

constexpr std::int64_t kSumLimit = std::int64_t{1} << 31;

void check_sums(const ExactKernel& kernel, const std::string& spec) {
  std::int64_t least = kernel.bias;
  std::int64_t most = kernel.bias;
  for (const std::int32_t weight : kernel.weights)
    (weight > 0 ? most : least) += std::int64_t{255} * weight;
  fuzz::require(most < kSumLimit && least > -kSumLimit, "no sum leaves 32 bits", spec);
}

void check_directions(const ExactKernel& kernel, const std::string& spec) {
  constexpr std::int64_t kDirectionLimit = 1 << 13;
  std::int64_t product = 255;
  for (const auto* direction : {&kernel.row, &kernel.column}) {
    fuzz::require(direction->size() == static_cast<std::size_t>(kernel.size), "as many weights",
                  spec);
    std::int64_t sum = 0;
    for (const std::int32_t weight : *direction) {
      fuzz::require(weight >= 0, "weights of one direction are positive", spec);
      sum += weight;
    }
    fuzz::require(sum > 0 && sum < kDirectionLimit, "a direction's sum has 13 bits", spec);
    product *= sum;
  }
  fuzz::require(product + kernel.bias < 2 * kSumLimit, "no sum leaves 32 bits", spec);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FilterSpec spec;
  const auto read_spec = [&] { spec = parse_filter_spec(fuzz::text_of(data, size)); };
  if (!fuzz::accepted(ExitCode::usage, "filter '", read_spec)) return 0;
  const std::string text = spec.text();
  const FilterSpec again = parse_filter_spec(text);
  fuzz::require(again.name == spec.name && again.options == spec.options,
                "a spec that is written again reads as the same", text);

  ConvolveParams params;
  const auto read_params = [&] {
    for (const auto& [key, value] : spec.options)
      set_option(params, key, value);
  };
  if (!fuzz::accepted(ExitCode::usage, "", read_params)) return 0;
  ExactKernel kernel;
  const bool made = fuzz::accepted(ExitCode::usage, "", [&] { kernel = exact_kernel(params); });
  fuzz::require(made == kernel_violations(params).empty(), "no kernel where a rule is broken",
                text);
  if (!made) return 0;
  fuzz::require(kernel.size % 2 == 1 && kernel.size > 0 && kernel.size <= kMaxSeparableKernel,
                "a side is odd and has its limit", text);
  fuzz::require(kernel.divisor > 0 && kernel.divisor < kSumLimit, "a divisor has 31 bits", text);
  if (kernel.separable) {
    check_directions(kernel, text);
    return 0;
  }
  fuzz::require(kernel.weights.size() == static_cast<std::size_t>(kernel.size * kernel.size),
                "a weight for each place", text);
  check_sums(kernel, text);
  return 0;
}

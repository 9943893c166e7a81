#include "src/convolve/exact_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include <equalux/error.h>

#include "src/common/decimal.h"
#include "src/options/nearest_name.h"
#include "src/options/option_table.h"

namespace equalux {
namespace {

constexpr std::int64_t kSumLimit = std::int64_t{1} << 31;
constexpr int kGaussianOne = 4096;
const double kDefaultTruncate = ConvolveParams{}.truncate;

struct NamedKernel {
  std::string_view name;
  std::array<std::int32_t, 9> weights;
  std::int64_t divisor;
  std::string_view offset;
  std::string_view help;
};

// clang-format off
constexpr std::array<NamedKernel, 7> kNamedKernels{{
    {"box-blur",          { 1,  1,  1,   1, 1,  1,   1,  1,  1},  9, "0",
     "mean of 3 x 3 samples"},
    {"gaussian-blur",     { 1,  2,  1,   2, 4,  2,   1,  2,  1}, 16, "0",
     "3 x 3 samples weighted 1 2 1, 2 4 2, 1 2 1"},
    {"edge",              {-1, -1, -1,  -1, 8, -1,  -1, -1, -1},  1, "0",
     "8 times a sample less its neighbours"},
    {"emboss-horizontal", { 0,  0,  0,   1, 0, -1,   0,  0,  0},  1, "128",
     "left less right, on 128"},
    {"emboss-vertical",   { 0,  1,  0,   0, 0,  0,   0, -1,  0},  1, "128",
     "above less below, on 128"},
    {"sharpen",           { 0, -1,  0,  -1, 5, -1,   0, -1,  0},  1, "0",
     "5 times a sample less the four beside it"},
    {"identity",          { 0,  0,  0,   0, 1,  0,   0,  0,  0},  1, "0",
     "the frame as it is"},
}};
// clang-format on

/// Rule of a number that must be a decimal, or a decimal "over 0".
std::string must_be_decimal(std::string_view kind = "") {
  return ", must be a decimal " + std::string(kind) + "with at most " +
         std::to_string(kMaxDecimalPlaces) + " places, below 2^31";
}

std::string refused(const std::string& key, std::string_view text, std::string_view kind = "") {
  return key + " is '" + std::string(text) + "'" + must_be_decimal(kind);
}

/// Option of a key.
const Option& option_of(std::string_view key) {
  return *find_option(convolve_options(), key);
}

/// floor(offset · divisor + divisor / 2). Whole levels of the offset are split off, so that
/// products fit in 64 bits.
std::int64_t bias_of(const Decimal& offset, std::int64_t divisor) {
  const std::int64_t unit = power_of_ten(offset.places);
  std::int64_t levels = offset.digits / unit;
  std::int64_t fraction = offset.digits % unit;
  if (fraction < 0) {
    --levels;
    fraction += unit;
  }
  return levels * divisor + (2 * fraction * divisor + divisor * unit) / (2 * unit);
}

/// Returns true where |S + bias| stays below 2^31 and the divisor fits, for weights below 2^62.
bool fits(const std::vector<std::int64_t>& weights, std::int64_t divisor, const Decimal& offset) {
  if (divisor >= kSumLimit) return false;
  std::int64_t most = bias_of(offset, divisor);
  std::int64_t least = most;
  for (const std::int64_t weight : weights) {
    if (weight <= -kSumLimit || weight >= kSumLimit) return false;
    (weight > 0 ? most : least) += 255 * weight;
  }
  return most < kSumLimit && least > -kSumLimit;
}

/// Weights of a Gaussian in one direction, in units of 2^-12. The rounding error goes to the centre
/// and, where it is more than one unit, to the pairs that were rounded most in the opposite
/// direction.
std::vector<std::int32_t> gaussian_weights(int size, double sigma) {
  const int radius = size / 2;
  std::vector<double> exact(static_cast<std::size_t>(radius) + 1);
  double sum = 0;
  for (int i = 0; i <= radius; ++i) {
    const double weight = std::exp(-(double{1} * i * i) / (2 * sigma * sigma));
    exact[static_cast<std::size_t>(i)] = weight;
    sum += i == 0 ? weight : 2 * weight;
  }
  std::vector<std::int32_t> half(exact.size());
  std::int32_t centre = kGaussianOne;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    exact[i] = exact[i] / sum * kGaussianOne;
    half[i] = static_cast<std::int32_t>(std::lround(exact[i]));
    if (i > 0) centre -= 2 * half[i];
  }
  while (std::abs(centre - exact[0]) > 1) {
    const int step = centre > exact[0] ? 1 : -1;
    const auto lacking = [&](std::size_t i) { return step * (exact[i] - half[i]); };
    std::size_t furthest = 1;
    for (std::size_t i = 2; i < exact.size(); ++i) {
      if (lacking(i) > lacking(furthest)) furthest = i;
    }
    half[furthest] += step;
    centre -= 2 * step;
  }
  half[0] = centre;
  std::vector<std::int32_t> weights;
  for (int i = -radius; i <= radius; ++i)
    weights.push_back(half[static_cast<std::size_t>(std::abs(i))]);
  return weights;
}

/// Kernel being built, with the violations of its parameters.
struct Build {
  const ConvolveParams& params;
  ExactKernel kernel{};
  Clauses broken{};

  void refuse(std::string clause) { broken.push_back(std::move(clause)); }

  /// Refuses options that are set but belong to other kernels.
  void check_belongings() {
    const bool custom = params.kernel == "custom";
    const bool gaussian = params.kernel == "gaussian";
    const bool sized = gaussian || params.kernel == "box";
    const auto foreign = [this](bool set, const char* key, const char* owner) {
      if (!set) return;
      refuse(std::string(key) + " belongs to kernel " + owner + ", must be left out with kernel " +
             params.kernel);
    };
    const ConvolveParams defaults;
    foreign(!custom && !params.weights.empty(), "weights", "custom");
    foreign(!custom && params.divisor != defaults.divisor, "divisor", "custom");
    foreign(sized && !params.offset.empty(), "offset", "custom and the 3 x 3 kernels");
    foreign(!sized && params.size != 0, "size", "gaussian and box");
    foreign(!gaussian && params.sigma != 0, "sigma", "gaussian");
    const bool truncates = params.truncate != kDefaultTruncate;
    foreign(!gaussian && truncates, "truncate", "gaussian");
    if (gaussian && truncates && (params.size != 0 || params.sigma == 0) &&
        in_range(option_of("truncate"), params.truncate)) {
      refuse("truncate is " + number_text(params.truncate) +
             ", must stand with sigma and without size");
    }
  }

  Decimal offset(std::string_view own) {
    const std::string_view text = params.offset.empty() ? own : std::string_view(params.offset);
    const std::optional<Decimal> value = decimal_from(text);
    if (!value) refuse(refused("offset", text));
    return value.value_or(Decimal{});
  }

  /// Sets whole weights and the divisor, without common factors.
  void set(std::vector<std::int64_t> weights, std::int64_t divisor, const Decimal& offset) {
    std::int64_t factor = divisor;
    for (const std::int64_t weight : weights)
      factor = std::gcd(factor, weight);
    for (std::int64_t& weight : weights)
      weight /= factor;
    divisor /= factor;
    if (!fits(weights, divisor, offset)) {
      refuse("weights with divisor and offset leave the range of sums as whole numbers (" +
             std::to_string(divisor) +
             " for the divisor), must keep 255 * weights + offset * divisor below 2^31: fewer "
             "places or smaller numbers");
      return;
    }
    kernel.size = static_cast<int>(std::lround(std::sqrt(static_cast<double>(weights.size()))));
    kernel.weights.assign(weights.begin(), weights.end());
    kernel.divisor = divisor;
    kernel.bias = bias_of(offset, divisor);
  }

  void make_named(const NamedKernel& named) {
    const Decimal levels = offset(named.offset);
    if (!broken.empty()) return;
    // Not reduced by common factors: backends recognise the table's weights.
    const std::vector<std::int64_t> weights(named.weights.begin(), named.weights.end());
    if (!fits(weights, named.divisor, levels)) {
      refuse("offset is '" + params.offset + "', must be below 2^31 after times " +
             std::to_string(named.divisor));
      return;
    }
    kernel.size = 3;
    kernel.weights.assign(named.weights.begin(), named.weights.end());
    kernel.divisor = named.divisor;
    kernel.bias = bias_of(levels, named.divisor);
  }

  void make_custom() {
    const std::size_t count = params.weights.size();
    if (count == 0) refuse("kernel is custom without weights, must stand with them");
    int side = 1;
    while (side < kMaxCustomKernel && static_cast<std::size_t>(side) * side < count)
      side += 2;
    if (count != 0 && static_cast<std::size_t>(side) * side != count) {
      refuse("weights are " + std::to_string(count) + ", must be n * n numbers with n odd, 1 to " +
             std::to_string(kMaxCustomKernel));
    }
    std::vector<Decimal> weights;
    int places = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::optional<Decimal> weight = decimal_from(params.weights[i]);
      if (!weight) {
        refuse("weights has '" + params.weights[i] + "' as number " + std::to_string(i + 1) +
               must_be_decimal());
        break;
      }
      weights.push_back(*weight);
      places = std::max(places, weight->places);
    }
    const std::optional<Decimal> divisor = decimal_from(params.divisor);
    if (!divisor || divisor->digits <= 0) {
      refuse(refused("divisor", params.divisor, "over 0 "));
    }
    const Decimal levels = offset("0");
    if (!broken.empty()) return;
    places = std::max(places, divisor->places);
    std::vector<std::int64_t> whole;
    for (const Decimal& weight : weights)
      whole.push_back(scaled(weight, places));
    set(std::move(whole), scaled(*divisor, places), levels);
  }

  bool size_in_range() {
    const int size = params.size;
    if (in_range(option_of("size"), size) && (size == 0 || size % 2 == 1)) return true;
    refuse(out_of_range(option_of("size"), std::to_string(size)));
    return false;
  }

  void make_box() {
    if (!size_in_range() || !broken.empty()) return;
    kernel.size = params.size == 0 ? 3 : params.size;
    kernel.separable = true;
    kernel.row.assign(static_cast<std::size_t>(kernel.size), 1);
    kernel.column = kernel.row;
    kernel.divisor = std::int64_t{kernel.size} * kernel.size;
    kernel.bias = kernel.divisor / 2;
  }

  void make_gaussian() {
    const double sigma = params.sigma;
    for (const auto& [key, value] :
         {std::pair("sigma", sigma), std::pair("truncate", params.truncate)}) {
      if (!in_range(option_of(key), value))
        refuse(out_of_range(option_of(key), number_text(value)));
    }
    if (!size_in_range() || !broken.empty()) return;
    int size = params.size != 0 ? params.size : 3;
    if (params.size == 0 && sigma > 0) {
      size = 2 * static_cast<int>(params.truncate * sigma + 0.5) + 1;
      if (size > kMaxSeparableKernel) {
        refuse("sigma is " + number_text(sigma) + " with truncate " + number_text(params.truncate) +
               ", which takes a kernel of " + std::to_string(size) + ", must be at most " +
               std::to_string(kMaxSeparableKernel) + ": give a size or a smaller truncate");
        return;
      }
    }
    kernel.size = size;
    kernel.separable = true;
    kernel.row = gaussian_weights(size, sigma > 0 ? sigma : 0.3 * (size / 2 - 1) + 0.8);
    kernel.column = kernel.row;
    kernel.divisor = std::int64_t{kGaussianOne} * kGaussianOne;
    kernel.bias = kernel.divisor / 2;
  }

  void make() {
    check_belongings();
    const auto* const named =
        std::find_if(kNamedKernels.begin(), kNamedKernels.end(),
                     [this](const NamedKernel& each) { return each.name == params.kernel; });
    if (named != kNamedKernels.end()) {
      make_named(*named);
    } else if (params.kernel == "custom") {
      make_custom();
    } else if (params.kernel == "gaussian") {
      make_gaussian();
    } else if (params.kernel == "box") {
      make_box();
    } else {
      const std::vector<std::string_view> names = spellings(convolve_kernel_list());
      broken = {"kernel is '" + params.kernel + "', must be " +
                nearest_or_all(params.kernel, names)};
    }
  }
};

}  // namespace

std::span<const OptionName> convolve_kernel_list() {
  static const std::vector<OptionName> kernels = [] {
    std::vector<OptionName> all;
    for (const NamedKernel& named : kNamedKernels)
      all.push_back({named.name, named.help});
    all.push_back({"gaussian", "Gaussian of any sigma, up to 31 x 31"});
    all.push_back({"box", "mean of up to 31 x 31 samples"});
    all.push_back({"custom", "weights of your own"});
    return all;
  }();
  return kernels;
}

Clauses kernel_violations(const ConvolveParams& params) {
  Build build{params};
  build.make();
  return build.broken;
}

ExactKernel exact_kernel(const ConvolveParams& params) {
  Build build{params};
  build.make();
  if (!build.broken.empty()) throw Error(ExitCode::usage, build.broken.front());
  return build.kernel;
}

}  // namespace equalux

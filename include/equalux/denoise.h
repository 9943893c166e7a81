#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/export.h>
#include <equalux/filter.h>
#include <equalux/params.h>

/// Noise reduction over time: every sample is estimated from the frames so far, followed where the
/// picture moves, and from its neighbours where there is nothing else to go by. Looks at no frame
/// but those that have come. docs/algorithm.md, "Denoising", has the formulas.
namespace equalux {

/// Most frames that an estimate is the mean of.
inline constexpr int kMostFrames = 31;

/// Parameters of noise reduction.
struct DenoiseParams {
  double strength = 1;   ///< 0 to 1: how much of what is found to be noise is taken off
  int temporal = 24;     ///< 1 to kMostFrames: frames that an estimate is the mean of at most
  double spatial = 0.6;  ///< 0 to 1: how much neighbours help where few frames do; 0 = not at all
  double noise = 0;  ///< standard deviation in levels of 8 bits, 0.1 to 64; 0 = found in the frames
  Dither dither = Dither::none;  ///< how the fractions of levels that it finds are rounded at last

  friend bool operator==(const DenoiseParams&, const DenoiseParams&) = default;
};

EQUALUX_ENUM_NAMES(Dither)

/// Every rule that the parameters break, one clause each; empty if all hold. With a desc, the rules
/// that depend on the frame are included.
[[nodiscard]] EQUALUX_EXPORT std::vector<std::string> violations(const DenoiseParams& params,
                                                                 Backend backend,
                                                                 const ImageDesc* desc = nullptr);
/// True for the formats that filters of these parameters take: those of 8, 10 and 12 bits.
[[nodiscard]] EQUALUX_EXPORT bool takes(const DenoiseParams& params, PixelFormat format);

/// The options of noise reduction, in the order of the documentation.
[[nodiscard]] EQUALUX_EXPORT std::span<const Option> denoise_options();
/// Sets an option by its key. Throws Error(usage) for an unknown key or an unreadable value, naming
/// what would be right.
EQUALUX_EXPORT void set_option(DenoiseParams& params, std::string_view key, std::string_view value);
/// The value of an option as it is written; empty where it is not set.
[[nodiscard]] EQUALUX_EXPORT std::string option_text(const DenoiseParams& params,
                                                     std::string_view key);

/// Noise reduction on the CPU; works in place. Throws Error(usage) where params are invalid.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cpu_filter(
    const DenoiseParams& params, const CpuOptions& options = {});
/// Noise reduction on a GPU, with the same bytes; works in place. Throws Error(usage) where params
/// are invalid, Error(unavailable) without a device or in a build without CUDA.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cuda_filter(
    const DenoiseParams& params, const CudaOptions& options = {});

}  // namespace equalux

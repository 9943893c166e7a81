#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/export.h>
#include <equalux/filter.h>
#include <equalux/params.h>

/// Temporal noise reduction: every sample is estimated from the frames up to now, along motion
/// vectors where the picture moves, and from its neighbours where few frames agree. No later frame
/// is needed, so that the filter adds no latency. docs/algorithm.md, "Denoising", has the formulas.
namespace equalux {

/// Most frames that one estimate averages.
inline constexpr int kMostFrames = 31;

/// Parameters of noise reduction.
struct DenoiseParams {
  double strength = 1;   ///< 0 to 1: share of the noise that is removed
  int temporal = 24;     ///< 1 to kMostFrames: most frames that an estimate averages
  double spatial = 0.6;  ///< 0 to 1: weight of neighbours where few frames agree; 0 = none
  /// Standard deviation of the noise in 8-bit levels, 0.1 to 64; 0 = measured in the frames.
  double noise = 0;
  Dither dither = Dither::none;  ///< rounding of fractions of levels at the end

  friend bool operator==(const DenoiseParams&, const DenoiseParams&) = default;
};

EQUALUX_ENUM_NAMES(Dither)

/// Lists every rule that the parameters break, one clause each; empty if they are valid. With a
/// desc, rules that depend on the frame are included.
[[nodiscard]] EQUALUX_EXPORT std::vector<std::string> violations(const DenoiseParams& params,
                                                                 Backend backend,
                                                                 const ImageDesc* desc = nullptr);
/// Returns true for formats that a filter of these parameters takes: those of 8, 10 and 12 bits.
[[nodiscard]] EQUALUX_EXPORT bool takes(const DenoiseParams& params, PixelFormat format);

/// Options of noise reduction, in the order of the documentation.
[[nodiscard]] EQUALUX_EXPORT std::span<const Option> denoise_options();
/// Sets an option by its key. Throws Error(usage) for an unknown key or an unreadable value; the
/// message says what would be right.
EQUALUX_EXPORT void set_option(DenoiseParams& params, std::string_view key, std::string_view value);
/// Returns an option's value as text, empty where the option is not set.
[[nodiscard]] EQUALUX_EXPORT std::string option_text(const DenoiseParams& params,
                                                     std::string_view key);

/// Makes the filter on the CPU. It works in place. Throws Error(usage) where params or threads are
/// invalid.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cpu_filter(
    const DenoiseParams& params, const CpuOptions& options = {});
/// Makes the filter on a GPU; results are the same bytes as on the CPU. It works in place. Throws
/// Error(usage) where params are invalid, and Error(unavailable) where no device answers or this
/// build has no CUDA.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cuda_filter(
    const DenoiseParams& params, const CudaOptions& options = {});

}  // namespace equalux

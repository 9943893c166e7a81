#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/export.h>
#include <equalux/filter.h>
#include <equalux/params.h>

/// Convolution with a small kernel that is not flipped (a correlation): out(x, y) is the sum of
/// w(i, j) · in(x + i, y + j), plus an offset, rounded half up and saturated to 0..255.
/// docs/convolution.md has the details.
namespace equalux {

/// Values that stand in for samples outside the frame.
enum class Border : std::uint8_t {
  replicate,    ///< aaa|abcd|ddd
  reflect_101,  ///< dcb|abcd|cba
  constant,     ///< ConvolveParams::border_value everywhere
};

/// Implementation of a convolution. All give the same bytes.
enum class ConvolveMode : std::uint8_t {
  production,  ///< the fastest one of the backend
  sequential,  ///< one sample after another in one thread; CPU only
  global,      ///< one thread for each sample; kernel and samples in global memory; GPU only
  constant,    ///< as global, with the kernel in constant memory; GPU only
  shared,      ///< as constant, with the samples of a block in shared memory; GPU only
};

/// Largest side of a `custom` kernel, and of `gaussian` and `box`.
inline constexpr int kMaxCustomKernel = 15;
inline constexpr int kMaxSeparableKernel = 31;

/// Parameters of convolution.
struct ConvolveParams {
  /// "box-blur", "gaussian-blur", "edge", "emboss-horizontal", "emboss-vertical", "sharpen",
  /// "identity" (all 3 x 3), "gaussian" or "box" (of any odd size), or "custom".
  std::string kernel = "gaussian-blur";
  /// custom: n · n decimals, row by row, kept exactly; n is odd and at most kMaxCustomKernel.
  std::vector<std::string> weights;
  std::string divisor = "1";  ///< custom: a decimal above 0 that all weights are divided by
  std::string offset;         ///< in levels, a decimal; empty = the offset of the named kernel
  int size = 0;               ///< gaussian, box: odd, 3 to 31; 0 = chosen by sigma, else 3
  double sigma = 0;  ///< gaussian: 0.01 to 1000 pixels; 0 = 0.3 · ((size - 1) / 2 - 1) + 0.8
  /// gaussian: above 0 to 100; where size is 0, radius = int(truncate · sigma + 0.5).
  double truncate = 4;
  Border border = Border::replicate;
  int border_value = 0;  ///< level, 0 to 255, where border is constant
  ConvolveMode mode = ConvolveMode::production;
  int block = 16;  ///< GPU modes global, constant, shared: threads per side of a block, 8, 16 or 32

  friend bool operator==(const ConvolveParams&, const ConvolveParams&) = default;
};

EQUALUX_ENUM_NAMES(Border)
EQUALUX_ENUM_NAMES(ConvolveMode)

/// Names that `kernel` takes, in the order of the documentation.
[[nodiscard]] EQUALUX_EXPORT std::span<const OptionName> convolve_kernel_list();

/// Lists every rule that the parameters break, one clause each; empty if they are valid. With a
/// desc, rules that depend on the frame are included; with a backend, modes that only the other
/// backend has count as broken.
[[nodiscard]] EQUALUX_EXPORT std::vector<std::string> violations(const ConvolveParams& params,
                                                                 Backend backend,
                                                                 const ImageDesc* desc = nullptr);
/// Returns true for formats that a filter of these parameters takes.
[[nodiscard]] EQUALUX_EXPORT bool takes(const ConvolveParams& params, PixelFormat format);
/// Returns true where only the CUDA backend has the mode.
[[nodiscard]] EQUALUX_EXPORT bool needs_cuda(const ConvolveParams& params);

/// Options of convolution, in the order of the documentation.
[[nodiscard]] EQUALUX_EXPORT std::span<const Option> convolve_options();
/// Sets an option by its key. Weights are separated by commas and make the kernel "custom". Throws
/// Error(usage) for an unknown key or an unreadable value; the message says what would be right.
EQUALUX_EXPORT void set_option(ConvolveParams& params, std::string_view key,
                               std::string_view value);
/// Returns an option's value as text, empty where the option is not set.
[[nodiscard]] EQUALUX_EXPORT std::string option_text(const ConvolveParams& params,
                                                     std::string_view key);

/// Makes the filter on the CPU. It takes gray8, packed RGB of 8 bits (a fourth byte is copied) and
/// planar YCbCr of 8 bits (luma is convolved, chroma copied), and never works in place. Throws
/// Error(usage) where params or threads are invalid, or params need a GPU.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cpu_filter(
    const ConvolveParams& params, const CpuOptions& options = {});
/// Makes the filter on a GPU; results are the same bytes as on the CPU. Throws Error(usage) where
/// params are invalid or need the CPU, and Error(unavailable) where no device answers or this build
/// has no CUDA.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cuda_filter(
    const ConvolveParams& params, const CudaOptions& options = {});

}  // namespace equalux

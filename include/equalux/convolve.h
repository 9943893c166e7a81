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

/// Convolution with a small kernel, applied unflipped: out(x, y) = sum of w(i, j) · in(x + i, y +
/// j), then an offset, rounded to nearest with halves up, and clamped to 0..255.
namespace equalux {

/// What stands in for samples outside the frame.
enum class Border : std::uint8_t {
  replicate,    ///< aaa|abcd|ddd
  reflect_101,  ///< dcb|abcd|cba
  constant,     ///< the parameter border_value
};

/// How a convolution runs. All give the same bytes.
enum class ConvolveMode : std::uint8_t {
  production,  ///< the fastest of the backend
  sequential,  ///< one sample after another on one thread; CPU only
  global,      ///< a thread a sample, kernel and samples in global memory; GPU only
  constant,    ///< as global, with the kernel in constant memory; GPU only
  shared,      ///< as constant, with a block's samples in shared memory; GPU only
};

/// Largest side of a kernel with weights of its own, and of `gaussian` and `box`.
inline constexpr int kMaxCustomKernel = 15;
inline constexpr int kMaxSeparableKernel = 31;

/// Parameters of convolution.
struct ConvolveParams {
  /// "box-blur", "gaussian-blur", "edge", "emboss-horizontal", "emboss-vertical", "sharpen",
  /// "identity" (all 3 x 3), "gaussian" or "box" (of any odd size), or "custom".
  std::string kernel = "gaussian-blur";
  std::vector<std::string> weights;  ///< custom: size · size decimals, row after row, kept exact
  std::string divisor = "1";         ///< custom: a decimal over 0; weights are divided by it
  std::string offset;                ///< levels, a decimal; empty = the kernel's own
  int size = 0;                      ///< gaussian, box: odd, 3 to 31; 0 = from sigma, or 3
  double sigma = 0;     ///< gaussian: 0.01 to 1000 pixels; 0 = 0.3 · ((size - 1) / 2 - 1) + 0.8
  double truncate = 4;  ///< gaussian: where size is 0, radius = int(truncate · sigma + 0.5)
  Border border = Border::replicate;
  int border_value = 0;  ///< level, 0 to 255, where border is constant
  ConvolveMode mode = ConvolveMode::production;
  int block = 16;  ///< threads a side of a block of the published modes: 8, 16 or 32; GPU only

  friend bool operator==(const ConvolveParams&, const ConvolveParams&) = default;
};

EQUALUX_ENUM_NAMES(Border)
EQUALUX_ENUM_NAMES(ConvolveMode)

/// What `kernel` may be, in the order of the documentation.
[[nodiscard]] EQUALUX_EXPORT std::span<const OptionName> convolve_kernel_list();

/// Every rule that the parameters break, one clause each; empty if all hold. With a desc, the rules
/// that depend on the frame are included; with a backend, what only the other one has.
[[nodiscard]] EQUALUX_EXPORT std::vector<std::string> violations(const ConvolveParams& params,
                                                                 Backend backend,
                                                                 const ImageDesc* desc = nullptr);
/// True for the formats that filters of these parameters take.
[[nodiscard]] EQUALUX_EXPORT bool takes(const ConvolveParams& params, PixelFormat format);
/// True where the mode is one that only the CUDA backend has.
[[nodiscard]] EQUALUX_EXPORT bool needs_cuda(const ConvolveParams& params);

/// The options of convolution, in the order of the documentation.
[[nodiscard]] EQUALUX_EXPORT std::span<const Option> convolve_options();
/// Sets an option by its key. Weights are separated by commas and make the kernel "custom". Throws
/// Error(usage) for an unknown key or an unreadable value, naming what would be right.
EQUALUX_EXPORT void set_option(ConvolveParams& params, std::string_view key,
                               std::string_view value);
/// The value of an option as it is written; empty where it is not set.
[[nodiscard]] EQUALUX_EXPORT std::string option_text(const ConvolveParams& params,
                                                     std::string_view key);

/// Convolution on the CPU. Takes gray8, packed RGB forms (a fourth byte is copied) and YCbCr in
/// planes (luma alone; chroma is copied); never works in place. Throws Error(usage) where params
/// are invalid or need a GPU.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cpu_filter(
    const ConvolveParams& params, const CpuOptions& options = {});
/// Convolution on a GPU: the same bytes as on the CPU. Throws Error(usage) where params are invalid
/// or need the CPU, and Error(unavailable) where no device answers or this build has no CUDA.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cuda_filter(
    const ConvolveParams& params, const CudaOptions& options = {});

}  // namespace equalux

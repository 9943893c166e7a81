#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/export.h>
#include <equalux/filter.h>
#include <equalux/params.h>

/// Contrast limited adaptive histogram equalization of the value channel: every tile of the frame
/// has a curve of its own, and a pixel is scaled by the bilinear mean of the four tiles around it.
/// docs/algorithm.md, "Tiles", has the formulas.
namespace equalux {

/// Most tiles beside and above each other.
inline constexpr int kMostTiles = 16;
/// The same for OpenCV's bytes, and most of all tiles of a frame of 16 bits: a tile's table takes
/// 128 KiB there.
inline constexpr int kMostOpencvTiles = 256;
inline constexpr int kMostOpencvDeepTiles = 4096;

/// Parameters of adaptive equalization.
struct ClaheParams {
  int tiles_x = 8;  ///< 1 to kMostTiles, and at most the frame's columns, of chroma if it has any
  int tiles_y = 8;  ///< 1 to kMostTiles, and at most the frame's rows, of chroma if it has any
  /// What the curve of each tile obeys. Its bins must be 0, its chain fused and its knobs empty,
  /// its space value, its region empty, its surround keep, and it must hold no curve. Where its
  /// `compatible` is opencv, results are the bytes of cv::createCLAHE(clip_limit, {tiles_x,
  /// tiles_y}), on gray8 and gray16_le; tiles may then be to kMostOpencvTiles, whatever the frame
  /// has, the clip limit any number from 0 on, and the rest must be as by default.
  EqualizeParams curve = default_curve();

  friend bool operator==(const ClaheParams&, const ClaheParams&) = default;

  /// Equalization with a clip limit of 2.
  [[nodiscard]] static EqualizeParams default_curve() {
    EqualizeParams curve;
    curve.clip_limit = 2;
    return curve;
  }
};

/// Every rule that the parameters break, one clause each; empty if all hold. With a desc, the rules
/// that depend on the frame are included.
[[nodiscard]] EQUALUX_EXPORT std::vector<std::string> violations(const ClaheParams& params,
                                                                 Backend backend,
                                                                 const ImageDesc* desc = nullptr);
/// True for the formats that filters of these parameters take.
[[nodiscard]] EQUALUX_EXPORT bool takes(const ClaheParams& params, PixelFormat format);

/// The options of adaptive equalization, in the order of the documentation.
[[nodiscard]] EQUALUX_EXPORT std::span<const Option> clahe_options();
/// Sets an option by its key. Throws Error(usage) for an unknown key or an unreadable value, naming
/// what would be right.
EQUALUX_EXPORT void set_option(ClaheParams& params, std::string_view key, std::string_view value);
/// The value of an option as it is written; empty where it is not set.
[[nodiscard]] EQUALUX_EXPORT std::string option_text(const ClaheParams& params,
                                                     std::string_view key);

/// Adaptive equalization on the CPU. Takes every format of pictures; works in place. Throws
/// Error(usage) where params are invalid.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cpu_filter(
    const ClaheParams& params, const CpuOptions& options = {});
/// Adaptive equalization on a GPU, with the CPU's bytes. Throws Error(usage) where params are
/// invalid, and Error(unavailable) where no device answers or this build has no CUDA.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cuda_filter(
    const ClaheParams& params, const CudaOptions& options = {});

}  // namespace equalux

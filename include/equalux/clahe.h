#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/export.h>
#include <equalux/filter.h>
#include <equalux/params.h>

/// Contrast limited adaptive histogram equalization (CLAHE) of the value channel: every tile of the
/// frame gets a tone curve of its own, and a pixel's gain is interpolated bilinearly between the
/// curves of the four tiles around it. docs/algorithm.md, "Tiles", has the formulas.
namespace equalux {

/// Most tiles in each direction.
inline constexpr int kMostTiles = 16;
/// Limits with compatible = opencv: most tiles in each direction, and most tiles altogether of a
/// 16-bit frame, where the table of one tile takes 128 KiB.
inline constexpr int kMostOpencvTiles = 256;
inline constexpr int kMostOpencvDeepTiles = 4096;

/// Parameters of adaptive equalization.
struct ClaheParams {
  int tiles_x = 8;  ///< columns of tiles, 1 to kMostTiles, no more than columns of chroma samples
  int tiles_y = 8;  ///< rows of tiles, 1 to kMostTiles, no more than rows of chroma samples
  /// Parameters of every tile's curve. `bins`, `chain`, `staged`, `space`, `region`, `surround` and
  /// `curve` must keep their defaults.
  ///
  /// With `compatible` = opencv, results are the bytes of cv::createCLAHE(clip_limit, {tiles_x,
  /// tiles_y}), for gray8 and gray16_le. Tiles then go up to kMostOpencvTiles at any size of frame,
  /// the clip limit is any finite number from 0 on, and all other members must keep their defaults.
  EqualizeParams curve = default_curve();

  friend bool operator==(const ClaheParams&, const ClaheParams&) = default;

  /// Equalization with a clip limit of 2, the defaults of a tile's curve.
  [[nodiscard]] static EqualizeParams default_curve() {
    EqualizeParams curve;
    curve.clip_limit = 2;
    return curve;
  }
};

/// Lists every rule that the parameters break, one clause each; empty if they are valid. With a
/// desc, rules that depend on the frame are included.
[[nodiscard]] EQUALUX_EXPORT std::vector<std::string> violations(const ClaheParams& params,
                                                                 Backend backend,
                                                                 const ImageDesc* desc = nullptr);
/// Returns true for formats that a filter of these parameters takes.
[[nodiscard]] EQUALUX_EXPORT bool takes(const ClaheParams& params, PixelFormat format);

/// Options of adaptive equalization, in the order of the documentation.
[[nodiscard]] EQUALUX_EXPORT std::span<const Option> clahe_options();
/// Sets an option by its key. Throws Error(usage) for an unknown key or an unreadable value; the
/// message says what would be right.
EQUALUX_EXPORT void set_option(ClaheParams& params, std::string_view key, std::string_view value);
/// Returns an option's value as text, empty where the option is not set.
[[nodiscard]] EQUALUX_EXPORT std::string option_text(const ClaheParams& params,
                                                     std::string_view key);

/// Makes the filter on the CPU. It takes gray, packed RGB and YCbCr of any depth and works in
/// place. Throws Error(usage) where params or threads are invalid.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cpu_filter(
    const ClaheParams& params, const CpuOptions& options = {});
/// Makes the filter on a GPU; results are the same bytes as on the CPU. Throws Error(usage) where
/// params are invalid, and Error(unavailable) where no device answers or this build has no CUDA.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cuda_filter(
    const ClaheParams& params, const CudaOptions& options = {});

}  // namespace equalux

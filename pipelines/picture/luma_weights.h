#pragma once

#include <equalux/image.h>

/// Weights of R', G' and B' in Y'.
namespace equalux {

struct LumaWeights {
  double red;
  double green;
  double blue;
};

/// Returns the weights of ITU-R BT.601, BT.709 and BT.2020 (non-constant luminance).
[[nodiscard]] constexpr LumaWeights luma_weights(ColorMatrix matrix) {
  const double red = matrix == ColorMatrix::bt601   ? 0.299
                     : matrix == ColorMatrix::bt709 ? 0.2126
                                                    : 0.2627;
  const double blue = matrix == ColorMatrix::bt601   ? 0.114
                      : matrix == ColorMatrix::bt709 ? 0.0722
                                                     : 0.0593;
  return {red, 1 - red - blue, blue};
}

}  // namespace equalux

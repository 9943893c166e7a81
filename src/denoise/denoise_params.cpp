#include <equalux/denoise.h>

#include "src/denoise/denoise_math.h"
#include "src/options/option_table.h"

/// Options of noise reduction, and its rules about frames.
namespace equalux {

EQUALUX_DEFINE_NAMES(Dither, "Dither", {"none", "each becomes the nearest"},
                     {"ordered", "the one above or below by a pattern, so that slopes stay smooth"})

namespace {

const OptionTable<DenoiseParams>& denoise_table() {
  static const OptionTable<DenoiseParams> table(
      "denoise", {{{.key = "strength",
                    .title = "Strength",
                    .help = "how much of the noise that is found is taken off",
                    .least = 0,
                    .most = 1,
                    .zero_means = "off",
                    .step = 0.05,
                    .keys = "{}",
                    .live = true},
                   &DenoiseParams::strength},
                  {{.key = "temporal",
                    .title = "Frames",
                    .help = "frames that are averaged at most where nothing moves by itself",
                    .least = 1,
                    .most = kMostFrames,
                    .step = 1,
                    .live = true},
                   &DenoiseParams::temporal},
                  {{.key = "spatial",
                    .title = "Neighbours",
                    .help = "how much neighbours help where there are few frames to go by",
                    .least = 0,
                    .most = 1,
                    .step = 0.05,
                    .live = true},
                   &DenoiseParams::spatial},
                  {{.key = "noise",
                    .title = "Noise",
                    .help = "standard deviation of the noise, in levels of 8 bits",
                    .least = 0.1,
                    .most = static_cast<double>(denoise::kMostSigma) / denoise::kLevel,
                    .zero_means = "estimated",
                    .step = 0.25,
                    .slider_most = 16,
                    .live = true},
                   &DenoiseParams::noise},
                  {{.key = "dither",
                    .title = "Dither",
                    .help = "how the fractions of levels that are found become levels, here or in "
                            "the equalize behind",
                    .live = true},
                   &DenoiseParams::dither}});
  return table;
}

}  // namespace

Clauses violations(const DenoiseParams& params, Backend /*backend*/, const ImageDesc* desc) {
  Clauses broken;
  denoise_table().check(params, broken);
  if (desc != nullptr && !takes(params, desc->format)) {
    broken.push_back("the frame's format is " + std::string(to_string(desc->format)) +
                     ", must be one of 8, 10 or 12 bits for denoise");
  }
  return broken;
}

bool takes(const DenoiseParams&, PixelFormat format) {
  return traits(format).depth <= 12;
}

EQUALUX_DEFINE_OPTIONS(DenoiseParams, denoise)

}  // namespace equalux

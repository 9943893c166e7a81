
#include <equalux/convolve.h>

#include "src/convolve/exact_kernel.h"
#include "src/options/option_table.h"

/// Options of convolution, and its rules between options and about frames, except those of the
/// kernel.
namespace equalux {

EQUALUX_DEFINE_NAMES(Border, "Border", {"replicate", "the frame's edge, repeated"},
                     {"reflect-101", "the frame mirrored, its edge once"},
                     {"constant", "border-value"})
EQUALUX_DEFINE_NAMES(ConvolveMode, "ConvolveMode", {"production", "the fastest of the backend"},
                     {"sequential", "one sample after another", Backends::cpu},
                     {"global", "a thread a sample, all in global memory", Backends::cuda},
                     {"constant", "the kernel in constant memory", Backends::cuda},
                     {"shared", "the kernel in constant, samples in shared memory", Backends::cuda})

namespace {

/// Reads weights separated by commas, which make the kernel custom; an empty text restores the
/// default kernel.
void set_weights(const Option&, ConvolveParams& params, std::string_view value) {
  if (value.empty()) {
    params.weights.clear();
    if (params.kernel == "custom") params.kernel = ConvolveParams{}.kernel;
    return;
  }
  const std::vector<std::string_view> weights = split(value, ',');
  params.weights.assign(weights.begin(), weights.end());
  params.kernel = "custom";
}

std::string weights_text(const ConvolveParams& params) {
  std::string text;
  for (const std::string& weight : params.weights)
    text += (text.empty() ? "" : ",") + weight;
  return text;
}

bool has_block(const ConvolveParams& params) {
  return params.block == 8 || params.block == 16 || params.block == 32;
}

bool always(const ConvolveParams&) {
  return true;
}

/// Rules of these numbers depend on the kernel; kernel_violations() has them.
std::vector<OptionRow<ConvolveParams>> kernel_rows() {
  return {
      {{.key = "kernel",
        .title = "Kernel",
        .help = "which kernel; weights make it custom",
        .names = convolve_kernel_list(),
        .names_type = "Kernel"},
       &ConvolveParams::kernel},
      {{.key = "weights",
        .title = "Weights",
        .help =
            "decimals with commas between them, row after row: n * n of them, n odd and at most 15",
        .value = "W,W...",
        .unset = "the kernel's own",
        .replaces = "kernel"},
       OptionType::text,
       set_weights,
       weights_text},
      {{.key = "divisor", .title = "Divisor", .help = "a decimal that the weights are divided by"},
       &ConvolveParams::divisor},
      {{.key = "offset",
        .title = "Offset",
        .help = "a decimal that is added to sums",
        .unset = "the kernel's own"},
       &ConvolveParams::offset},
      OptionRow<ConvolveParams>{{.key = "size",
                                 .title = "Size",
                                 .help = "gaussian and box: samples a side",
                                 .least = 3,
                                 .most = kMaxSeparableKernel,
                                 .zero_means = "what fits sigma, else 3",
                                 .range = "odd, 3 to 31"},
                                &ConvolveParams::size}
          .where(always),
      OptionRow<ConvolveParams>{{.key = "sigma",
                                 .title = "Sigma",
                                 .help = "gaussian: its standard deviation",
                                 .least = 0.01,
                                 .most = 1000,
                                 .unit = "pixels",
                                 .zero_means = "one that fits the size",
                                 .step = 0.1,
                                 .slider_most = 10,
                                 .live = true},
                                &ConvolveParams::sigma}
          .where(always),
      OptionRow<ConvolveParams>{{.key = "truncate",
                                 .title = "Truncate",
                                 .help = "gaussian without size: radius in units of sigma",
                                 .least = 0,
                                 .most = 100,
                                 .above_least = true},
                                &ConvolveParams::truncate}
          .where(always),
  };
}

const OptionTable<ConvolveParams>& convolve_table() {
  static const OptionTable<ConvolveParams> table = [] {
    std::vector<OptionRow<ConvolveParams>> rows = kernel_rows();
    rows.insert(
        rows.end(),
        {{{.key = "border", .title = "Border", .help = "what stands for samples outside the frame"},
          &ConvolveParams::border},
         {{.key = "border-value",
           .title = "Border value",
           .help = "level outside, where border is constant",
           .least = 0,
           .most = 255},
          &ConvolveParams::border_value},
         {{.key = "mode", .title = "Mode", .help = "how it runs; all give the same bytes"},
          &ConvolveParams::mode},
         OptionRow<ConvolveParams>{
             {.key = "block",
              .title = "Block",
              .help = "threads a side of a block of the GPU's modes for study",
              .least = 8,
              .most = 32,
              .range = "8, 16 or 32"},
             &ConvolveParams::block}
             .where(has_block)});
    return OptionTable<ConvolveParams>("convolve", std::move(rows));
  }();
  return table;
}

void check_together(Clauses& broken, const ConvolveParams& params) {
  const bool is_level = params.border_value > 0 && params.border_value <= 255;
  if (is_level && params.border != Border::constant) {
    broken.push_back("border-value is " + std::to_string(params.border_value) +
                     ", must stand with border constant");
  }
  if (has_block(params) && params.block != ConvolveParams{}.block && !needs_cuda(params)) {
    broken.push_back("block is " + std::to_string(params.block) +
                     ", must stand with mode global, constant or shared");
  }
}

}  // namespace

Clauses violations(const ConvolveParams& params, Backend backend, const ImageDesc* desc) {
  Clauses broken = kernel_violations(params);
  convolve_table().check(params, broken);
  convolve_table().check_backend(params, backend, broken);
  check_together(broken, params);
  if (desc != nullptr && !takes(params, desc->format)) {
    broken.push_back("the frame's format is " + std::string(to_string(desc->format)) +
                     ", must be gray8, packed RGB, or YUV in planes, of 8 bits");
  }
  return broken;
}

bool takes(const ConvolveParams&, PixelFormat format) {
  const bool packed_yuv = traits(format).model == ColorModel::yuv && traits(format).planes == 1;
  return has_byte_samples(format) && !packed_yuv;
}

bool needs_cuda(const ConvolveParams& params) {
  Clauses missing;
  convolve_table().check_backend(params, Backend::cpu, missing);
  return !missing.empty();
}

EQUALUX_DEFINE_OPTIONS(ConvolveParams, convolve)

}  // namespace equalux

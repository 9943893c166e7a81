#include <algorithm>

#include <equalux/convolve.h>
#include <equalux/error.h>

#include "src/common/option_values.h"
#include "src/convolve/exact_kernel.h"

/// The rules of convolution's parameters beside those of the kernel, and the parameters from text.
namespace equalux {
namespace {

using Clauses = std::vector<std::string>;

void check_border(Clauses& broken, const ConvolveParams& params) {
  if (params.border > Border::constant) {
    broken.push_back("border is enumerator " + std::to_string(static_cast<int>(params.border)) +
                     ", which does not exist");
  }
  const std::string value = "border-value is " + std::to_string(params.border_value);
  if (params.border_value < 0 || params.border_value > 255) {
    broken.push_back(value + ", must be 0 to 255");
  } else if (params.border_value != 0 && params.border != Border::constant) {
    broken.push_back(value + ", must stand with border constant");
  }
}

void check_mode(Clauses& broken, const ConvolveParams& params, Backend backend) {
  if (params.mode > ConvolveMode::shared) {
    broken.push_back("mode is enumerator " + std::to_string(static_cast<int>(params.mode)) +
                     ", which does not exist");
    return;
  }
  const std::string mode = "mode " + std::string(enum_name(params.mode));
  if (backend == Backend::cpu && needs_cuda(params)) {
    broken.push_back(mode + " exists on the CUDA backend only, must be left out on the CPU");
  }
  if (backend == Backend::cuda && params.mode == ConvolveMode::sequential) {
    broken.push_back(mode + " exists on the CPU only, must be left out on the CUDA backend");
  }
  const std::string block = "block is " + std::to_string(params.block);
  if (params.block != 8 && params.block != 16 && params.block != 32) {
    broken.push_back(block + ", must be 8, 16 or 32");
  } else if (params.block != ConvolveParams{}.block && !needs_cuda(params)) {
    broken.push_back(block + ", must stand with mode global, constant or shared");
  }
}

void check_frame(Clauses& broken, const ImageDesc& desc) {
  const FormatTraits& t = traits(desc.format);
  const bool packed_yuv = t.model == ColorModel::yuv && t.planes == 1;
  if (has_byte_samples(desc.format) && !packed_yuv) return;
  broken.push_back("the frame's format is " + std::string(t.name) +
                   ", must be gray8, packed RGB, or YUV in planes, of 8 bits");
}

}  // namespace

Clauses violations(const ConvolveParams& params, Backend backend, const ImageDesc* desc) {
  Clauses broken = kernel_violations(params);
  check_border(broken, params);
  check_mode(broken, params, backend);
  if (desc != nullptr) check_frame(broken, *desc);
  return broken;
}

void validate(const ConvolveParams& params, Backend backend, const ImageDesc* desc) {
  throw_violations(violations(params, backend, desc));
}

bool needs_cuda(const ConvolveParams& params) {
  return params.mode == ConvolveMode::global || params.mode == ConvolveMode::constant ||
         params.mode == ConvolveMode::shared;
}

void set_option(ConvolveParams& params, std::string_view key, std::string_view value) {
  if (key == "kernel") {
    params.kernel = value;
  } else if (key == "weights") {
    const std::vector<std::string_view> weights = split(value, ',');
    params.weights.assign(weights.begin(), weights.end());
    params.kernel = "custom";
  } else if (key == "divisor") {
    params.divisor = value;
  } else if (key == "offset") {
    params.offset = value;
  } else if (key == "size") {
    params.size = read_int(key, value, "odd, 3 to 31, or 0 for one that fits sigma");
  } else if (key == "sigma") {
    params.sigma = read_double(key, value, "0.01 to 1000 pixels, or 0 for one that fits the size");
  } else if (key == "truncate") {
    params.truncate = read_double(key, value, "over 0 to 100");
  } else if (key == "border") {
    params.border = read_enum<Border>(key, value);
  } else if (key == "border-value") {
    params.border_value = read_int(key, value, "0 to 255");
  } else if (key == "mode") {
    params.mode = read_enum<ConvolveMode>(key, value);
  } else if (key == "block") {
    params.block = read_int(key, value, "8, 16 or 32");
  } else {
    refuse_key("convolve", key, convolve_option_keys());
  }
}

const std::vector<std::string_view>& convolve_option_keys() {
  static const std::vector<std::string_view> keys{"kernel",       "weights", "divisor",  "offset",
                                                  "size",         "sigma",   "truncate", "border",
                                                  "border-value", "mode",    "block"};
  return keys;
}

}  // namespace equalux

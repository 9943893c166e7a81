#include <utility>

#include <equalux/params.h>

#include "src/equalize/fixed_curve.h"
#include "src/equalize/options.h"
#include "src/equalize/region.h"
#include "src/equalize/space.h"
#include "src/equalize/tone/tone_control.h"

/// Rules between parameters, and rules about frames. Rules of single parameters are in options.cpp.
namespace equalux {
namespace {

constexpr double kLeastSpread = 0.1;  // per cent, from floor to ceiling

void check_curve(Clauses& broken, const EqualizeParams& params) {
  // The comparison is false for NaN, which its own rule reports.
  if (params.floor + kLeastSpread > params.ceiling) {
    broken.push_back("floor is " + number_text(params.floor) +
                     ", must be at least 0.1 per cent below ceiling, which is " +
                     number_text(params.ceiling));
  }
  for (const auto& [key, value] :
       {std::pair("brighten-ms", params.brighten_ms), std::pair("darken-ms", params.darken_ms)}) {
    if (value == 0 || params.temporal_ms != 0) continue;
    broken.push_back(std::string(key) + " is " + number_text(value) +
                     " without temporal-ms, must stand with it");
  }
  if (params.saturation != kAutoSaturation &&
      params.saturation_max != EqualizeParams{}.saturation_max) {
    broken.push_back("saturation-max is " + number_text(params.saturation_max) +
                     " without saturation auto, must stand with it");
  }
  if (params.chain == Chain::staged && tone::shapes_curve(params)) {
    broken.push_back(
        "chain is staged, must be fused with strength, clip-limit, floor, ceiling, stretch, "
        "max-gain, min-gain, saturation or temporal-ms");
  }
  if (params.space == Space::lightness && leaves_out(params))
    broken.push_back("space is lightness, must be value or luma with region or surround");
  if (params.chain == Chain::staged && params.space != Space::value) {
    broken.push_back("chain is staged, must be fused with space " +
                     std::string(enum_name(params.space)));
  }
}

/// Checks a given curve, and that nothing is set beside it that would make another.
void check_fixed_curve(Clauses& broken, const EqualizeParams& params) {
  if (!params.curve) return;
  const std::string fault = fault_of(*params.curve);
  if (!fault.empty()) broken.push_back("the curve of curve-from " + fault);
  std::string others;
  for (const auto& [key, value] : changed_options(params))
    others += (others.empty() ? "" : ", ") + key;
  if (!others.empty()) {
    broken.push_back("curve-from stands beside " + others +
                     ", must stand alone: the saved curve is applied as it is");
  }
  if (params.chain == Chain::staged) {
    broken.push_back("chain is staged, must be fused with curve-from");
  }
  if (params.space != params.curve->space) {
    broken.push_back("space is " + std::string(enum_name(params.space)) + ", must be " +
                     std::string(enum_name(params.curve->space)) + " as in curve-from");
  }
}

/// Checks that no option is set that the other library's function lacks.
void check_compatible(Clauses& broken, const EqualizeParams& params) {
  if (params.compatible == Compatible::none) return;
  std::string others;
  for (const auto& [key, value] : equalize_table().changed(params))
    if (key != "compatible") others += (others.empty() ? "" : ", ") + key;
  if (others.empty()) return;
  broken.push_back("compatible is opencv beside " + others +
                   ", must stand alone: cv::equalizeHist has none of them");
}

void check_counting(Clauses& broken, const EqualizeParams& params, const ImageDesc* desc) {
  if (!leaves_out(params)) return;
  if (params.chain == Chain::staged) {
    broken.push_back("chain is staged, must be fused with region or surround");
  }
  const std::vector<std::string> clauses = region_violations(params.region, desc);
  broken.insert(broken.end(), clauses.begin(), clauses.end());
  if (desc != nullptr && params.space == Space::luma &&
      traits(desc->format).model == ColorModel::rgb) {
    broken.push_back("space is luma for frames of " + std::string(to_string(desc->format)) +
                     ", must be value with region or surround");
  }
}

/// Checks that variants of the staged chain are not set for the fused one. Those that the backend
/// lacks are reported as such.
void check_knobs(Clauses& broken, const EqualizeParams& params, Backend backend) {
  if (params.chain == Chain::staged) return;
  for (const Option& option : equalize_options()) {
    if (option.group.empty()) continue;
    const std::string value = equalize_table().text(params, option.key);
    if (value.empty() || !backend_has(option, value, backend)) continue;
    broken.push_back(std::string(option.key) + " " + value +
                     " belongs to the staged chain, must stand with chain staged");
  }
}

void check_frame(Clauses& broken, const EqualizeParams& params, const ImageDesc& desc) {
  const ColorModel model = traits(desc.format).model;
  const std::string name(to_string(desc.format));
  if (params.compatible != Compatible::none && desc.format != PixelFormat::gray8) {
    broken.push_back("the frame's format is " + name + ", must be gray8 for compatible opencv");
  } else if (model == ColorModel::real) {
    broken.push_back("the frame's format is " + name + ", must be gray, RGB or YUV");
  } else if (params.chain == Chain::staged &&
             (model == ColorModel::yuv || has_deep_samples(desc.format))) {
    broken.push_back("the frame's format is " + name +
                     ", must be gray8 or packed RGB of 8 bits for chain staged");
  } else if (!space_takes(params.space, desc.format)) {
    broken.push_back("the frame's format is " + name + ", must be " +
                     (params.space == Space::luma
                          ? "gray, YUV, or packed RGB of 8 bits for space luma"
                          : "gray8 or packed RGB of 8 bits for space lightness"));
  }
}

}  // namespace

std::vector<std::string> violations(const EqualizeParams& params, Backend backend,
                                    const ImageDesc* desc) {
  Clauses broken;
  equalize_table().check(params, broken);
  check_curve(broken, params);
  check_fixed_curve(broken, params);
  check_compatible(broken, params);
  check_counting(broken, params, desc);
  equalize_table().check_backend(params, backend, broken);
  check_knobs(broken, params, backend);
  if (desc != nullptr) check_frame(broken, params, *desc);
  return broken;
}

bool takes(const EqualizeParams& params, PixelFormat format) {
  if (params.compatible != Compatible::none) return format == PixelFormat::gray8;
  if (params.chain != Chain::staged) return space_takes(params.space, format);
  return has_byte_samples(format) && traits(format).model != ColorModel::yuv;
}

bool needs_cuda(const EqualizeParams& params) {
  Clauses missing;
  equalize_table().check_backend(params, Backend::cpu, missing);
  return !missing.empty();
}

}  // namespace equalux

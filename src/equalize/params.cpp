#include <algorithm>
#include <sstream>
#include <utility>

#include <equalux/params.h>

#include "src/common/option_values.h"
#include "src/common/params_text.h"
#include "src/equalize/fixed_curve.h"
#include "src/equalize/region.h"
#include "src/equalize/space.h"
#include "src/equalize/tone_control.h"

/// Every rule that parameters obey is stated here, once.
namespace equalux {
namespace {

// What a launch of any CUDA device of compute capability 3.0 or later allows.
constexpr int kMaxGridYZ = 65535;
constexpr int kMaxBlockXY = 1024;
constexpr int kMaxBlockZ = 64;
constexpr std::int64_t kMaxBlockThreads = 1024;

using Clauses = std::vector<std::string>;

std::string text(const Extent3& extent) {
  return std::to_string(extent.x) + "," + std::to_string(extent.y) + "," + std::to_string(extent.z);
}

template <typename Enum>
void check_enum(Clauses& broken, std::string_view key, Enum value) {
  if (static_cast<std::size_t>(value) < enum_names<Enum>().size()) return;
  broken.push_back(std::string(key) + " is enumerator " + std::to_string(static_cast<int>(value)) +
                   ", which does not exist");
}

template <typename Enum>
void check_enum(Clauses& broken, std::string_view key, const std::optional<Enum>& value) {
  if (value) check_enum(broken, key, *value);
}

void check_enums(Clauses& broken, const EqualizeParams& params) {
  check_enum(broken, "scaler", params.scaler);
  check_enum(broken, "chain", params.chain);
  check_enum(broken, "surround", params.surround);
  check_enum(broken, "space", params.space);
  check_enum(broken, "rgb-to-hsv", params.staged.rgb_to_hsv);
  check_enum(broken, "histogram", params.staged.histogram);
  check_enum(broken, "scan", params.staged.scan);
  check_enum(broken, "equalize", params.staged.equalize);
}

void check_bins(Clauses& broken, int bins) {
  if (bins == 0 || (bins >= kMinBins && bins <= kMaxBins)) return;
  broken.push_back("bins is " + std::to_string(bins) + ", must be " + std::to_string(kMinBins) +
                   " to " + std::to_string(kMaxBins) + ", or 0 for 2^depth");
}

/// Numbers as a user writes them: no more digits than they need.
std::string text(double number) {
  std::ostringstream out;
  out << number;
  return out.str();
}

void check_curve(Clauses& broken, const EqualizeParams& params) {
  const auto check = [&broken](std::string_view key, double value, bool holds,
                               std::string_view range) {
    if (!holds) {
      broken.push_back(std::string(key) + " is " + text(value) + ", must be " + std::string(range));
    }
  };
  const auto within = [](double value, double least, double most) {
    return value >= least && value <= most;  // false for NaN
  };
  check("strength", params.strength, within(params.strength, 0, 1), "0 to 1");
  check("clip-limit", params.clip_limit,
        params.clip_limit == 0 || within(params.clip_limit, 1, 255), "1 to 255, or 0 for none");
  check("floor", params.floor, within(params.floor, 0, 99.9), "0 to 99.9 per cent");
  check("ceiling", params.ceiling, within(params.ceiling, 0.1, 100), "0.1 to 100 per cent");
  check("floor", params.floor, !(params.floor + 0.1 > params.ceiling),
        "at least 0.1 per cent below ceiling, which is " + text(params.ceiling));
  check("max-gain", params.max_gain, params.max_gain == 0 || within(params.max_gain, 1, 255),
        "1 to 255, or 0 for none");
  for (const auto& [key, value] :
       {std::pair<std::string_view, double>{"temporal-ms", params.temporal_ms},
        {"brighten-ms", params.brighten_ms},
        {"darken-ms", params.darken_ms}}) {
    check(key, value, within(value, 0, kMaxTemporalMs), "0 to 3600000 milliseconds");
    if (value != 0 && params.temporal_ms == 0) {
      broken.push_back(std::string(key) + " is " + text(value) +
                       " without temporal-ms, must stand with it");
    }
  }
  if (params.chain == Chain::staged && tone::shapes_curve(params)) {
    broken.push_back(
        "chain is staged, must be fused with strength, clip-limit, floor, ceiling, max-gain or "
        "temporal-ms");
  }
  if (params.space != Space::value &&
      (!params.region.empty() || params.surround != Surround::keep)) {
    broken.push_back("space is " + std::string(enum_name(params.space)) +
                     ", must be value with region or surround");
  }
  if (params.chain == Chain::staged && params.space != Space::value) {
    broken.push_back("chain is staged, must be fused with space " +
                     std::string(enum_name(params.space)));
  }
}

/// A curve that is given, and what would make another.
void check_fixed_curve(Clauses& broken, const EqualizeParams& params) {
  if (!params.curve) return;
  const std::string fault = fault_of(*params.curve);
  if (!fault.empty()) broken.push_back("the curve of curve-from " + fault);
  std::string others;
  for (const auto& [key, value] : changed_options(params))
    others += (others.empty() ? "" : ", ") + key;
  if (!others.empty()) {
    broken.push_back("curve-from stands beside " + others +
                     ", must stand alone: what shapes a curve is in the saved one");
  }
  if (params.chain == Chain::staged) {
    broken.push_back("chain is staged, must be fused with curve-from");
  }
  if (params.space != params.curve->space) {
    broken.push_back("space is " + std::string(enum_name(params.space)) + ", must be " +
                     std::string(enum_name(params.curve->space)) + " as in curve-from");
  }
}

void check_counting(Clauses& broken, const EqualizeParams& params, const ImageDesc* desc) {
  if (!leaves_out(params)) return;
  if (params.chain == Chain::staged) {
    broken.push_back("chain is staged, must be fused with region or surround");
  }
  const std::vector<std::string> clauses = region_violations(params.region, desc);
  broken.insert(broken.end(), clauses.begin(), clauses.end());
  if (desc == nullptr || !has_deep_samples(desc->format)) return;
  broken.push_back(std::string(params.region.empty() ? "surround is ignore" : "region is set") +
                   " for frames of " + std::string(to_string(desc->format)) +
                   ", must be left out or the format one of 8 bits a sample");
}

void check_geometry(Clauses& broken, const StagedParams& staged) {
  if (const auto& per_thread = staged.pixels_per_thread) {
    if (*per_thread != 1 && *per_thread != 2 && *per_thread != 4 && *per_thread != 8) {
      broken.push_back("pixels-per-thread is " + std::to_string(*per_thread) +
                       ", must be 1, 2, 4 or 8");
    }
  }
  if (const auto& grid = staged.grid) {
    if (grid->x < 1 || grid->y < 1 || grid->y > kMaxGridYZ || grid->z < 1 || grid->z > kMaxGridYZ) {
      broken.push_back("grid is " + text(*grid) +
                       ", must be x from 1 to 2147483647, y and z from 1 to 65535");
    }
  }
  if (const auto& block = staged.block) {
    const bool sides = block->x >= 1 && block->x <= kMaxBlockXY && block->y >= 1 &&
                       block->y <= kMaxBlockXY && block->z >= 1 && block->z <= kMaxBlockZ;
    if (!sides || std::int64_t{block->x} * block->y * block->z > kMaxBlockThreads) {
      broken.push_back("block is " + text(*block) +
                       ", must be x and y from 1 to 1024, z from 1 to 64, x*y*z at most 1024");
    }
  }
}

bool gpu_only(ScanVariant scan) {
  switch (scan) {
    case ScanVariant::two_ended_shared:
    case ScanVariant::kogge_stone_shared:
    case ScanVariant::brent_kung_shared:
    case ScanVariant::cub:
      return true;
    default:
      return false;
  }
}

/// A knob as it was set, "scan cub".
struct SetKnob {
  std::string name;
  bool gpu_only = false;
};

std::vector<SetKnob> set_knobs(const StagedParams& staged) {
  std::vector<SetKnob> knobs;
  const auto add = [&](std::string_view key, std::string_view value, bool gpu) {
    knobs.push_back({std::string(key) + " " + std::string(value), gpu});
  };
  if (staged.rgb_to_hsv) add("rgb-to-hsv", enum_name(*staged.rgb_to_hsv), true);
  if (staged.histogram) add("histogram", enum_name(*staged.histogram), true);
  if (staged.scan) add("scan", enum_name(*staged.scan), gpu_only(*staged.scan));
  if (staged.equalize) add("equalize", enum_name(*staged.equalize), false);
  if (staged.pixels_per_thread) {
    add("pixels-per-thread", std::to_string(*staged.pixels_per_thread), true);
  }
  if (staged.grid) add("grid", text(*staged.grid), true);
  if (staged.block) add("block", text(*staged.block), true);
  return knobs;
}

void check_knobs(Clauses& broken, const EqualizeParams& params, Backend backend) {
  for (const SetKnob& knob : set_knobs(params.staged)) {
    if (backend == Backend::cpu && knob.gpu_only) {
      broken.push_back(knob.name + " exists on the CUDA backend only, must be left out on the CPU");
    } else if (params.chain != Chain::staged) {
      broken.push_back(knob.name + " belongs to the staged chain, must stand with chain staged");
    }
  }
}

void check_frame(Clauses& broken, const EqualizeParams& params, const ImageDesc& desc) {
  const ColorModel model = traits(desc.format).model;
  const std::string name(to_string(desc.format));
  if (model == ColorModel::real) {
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
  check_enums(broken, params);
  check_bins(broken, params.bins);
  check_curve(broken, params);
  check_fixed_curve(broken, params);
  check_counting(broken, params, desc);
  check_geometry(broken, params.staged);
  check_knobs(broken, params, backend);
  if (desc != nullptr) check_frame(broken, params, *desc);
  return broken;
}

void validate(const EqualizeParams& params, Backend backend, const ImageDesc* desc) {
  throw_violations(violations(params, backend, desc));
}

bool needs_cuda(const EqualizeParams& params) {
  const std::vector<SetKnob> knobs = set_knobs(params.staged);
  return std::any_of(knobs.begin(), knobs.end(), [](const SetKnob& knob) { return knob.gpu_only; });
}

}  // namespace equalux

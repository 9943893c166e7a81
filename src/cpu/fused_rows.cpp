#include "cpu/fused_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <equalux/error.h>
#include <equalux/filter.h>

#include "cpu/simd_targets.h"
#include "tile_curves.h"
#include "tone_curve.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/fused_rows.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "cpu/fused_rows-inl.h"

#if HWY_ONCE
namespace equalux {

HWY_EXPORT(target_row_kernels);

namespace {

std::vector<RowKernels> build_kernel_list() {
  std::vector<RowKernels> list;
  for_each_simd_target(HWY_TARGETS, [&list] {
    const RowKernels kernels = HWY_DYNAMIC_DISPATCH(target_row_kernels)();
    if (kernels.target != scalar_row_kernels().target) list.push_back(kernels);
  });
  list.push_back(scalar_row_kernels());
  return list;
}

RowKernels choose_kernels() {
  const std::vector<RowKernels> list = build_kernel_list();
  const char* wanted = std::getenv("EQUALUX_SIMD");
  if (wanted == nullptr || *wanted == '\0') return list.front();
  std::string names;
  for (const RowKernels& kernels : list) {
    if (kernels.target == wanted) return kernels;
    names += (names.empty() ? "" : ", ") + std::string(kernels.target);
  }
  throw Error(ExitCode::usage,
              "EQUALUX_SIMD is '" + std::string(wanted) + "', this machine runs: " + names);
}

}  // namespace

const RowKernels& row_kernels() {
  static const RowKernels kernels = choose_kernels();
  return kernels;
}

std::vector<RowKernels> all_row_kernels() { return build_kernel_list(); }

std::string cpu_simd_target() { return std::string(row_kernels().target); }

}  // namespace equalux
#endif  // HWY_ONCE

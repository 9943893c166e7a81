#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <hwy/highway.h>

/// Tables of loops that are compiled once for each SIMD target.
namespace equalux {

/// The tables of all targets that are `built` (HWY_TARGETS) and that this machine runs, best first,
/// plain C++ last. dispatch() gives the chosen target's table, which may be the plain one.
template <typename Kernels, typename Dispatch>
[[nodiscard]] std::vector<Kernels> kernels_of_targets(std::int64_t built, const Kernels& plain,
                                                      const Dispatch& dispatch) {
  std::vector<Kernels> list;
  // Highway has one bit a target, the best lowest.
  for (std::int64_t bits = hwy::SupportedTargets() & built; bits != 0; bits &= bits - 1) {
    hwy::SetSupportedTargetsForTest(bits & -bits);
    hwy::GetChosenTarget().DeInit();
    const Kernels kernels = dispatch();
    if (kernels.target != plain.target) list.push_back(kernels);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
  list.push_back(plain);
  return list;
}

/// The table of that target, or the last one.
template <typename Kernels>
[[nodiscard]] Kernels kernels_named(const std::vector<Kernels>& list, std::string_view target) {
  for (const Kernels& kernels : list) {
    if (kernels.target == target) return kernels;
  }
  return list.back();
}

}  // namespace equalux

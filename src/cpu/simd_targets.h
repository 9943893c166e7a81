#pragma once

#include <cstdint>
#include <mutex>

// The VBMI target is built only where asked for, before Highway's first header.
#define HWY_WANT_AVX3_DL 1
#include <hwy/targets.h>

/// The SIMD targets of this build that this machine runs.
namespace equalux {

/// Highway's choice of a target is one for the process: who changes it holds this.
inline std::mutex simd_choice;

/// Calls visit() once for each of `targets` (HWY_TARGETS) that this machine runs, best first, with
/// HWY_DYNAMIC_DISPATCH set to it.
template <typename Visit>
void for_each_simd_target(std::int64_t targets, Visit visit) {
  const std::lock_guard<std::mutex> turn(simd_choice);
  // Highway has one bit a target, the best lowest.
  for (std::int64_t bits = hwy::SupportedTargets() & targets; bits != 0; bits &= bits - 1) {
    hwy::SetSupportedTargetsForTest(bits & -bits);
    hwy::GetChosenTarget().DeInit();
    visit();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace equalux

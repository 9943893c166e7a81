#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "src/cpu/common/simd_targets.h"

namespace equalux::test {

/// How many of simd_targets() have loops of their own in a file that does not use VBMI: AVX3_DL
/// has those of AVX3 there, where the build has both.
inline std::size_t count_own_loops() {
  const std::vector<std::string_view> targets = simd_targets();
  const auto has = [&targets](std::string_view name) {
    return std::find(targets.begin(), targets.end(), name) != targets.end();
  };
  return targets.size() - (has("AVX3") && has("AVX3_DL") ? 1 : 0);
}

}  // namespace equalux::test

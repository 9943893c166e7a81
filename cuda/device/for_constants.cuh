#pragma once

#include <type_traits>

namespace equalux::cuda {

/// Calls `work` with 0, 1 ... kCount - 1 as compile-time constants, so that they can be template
/// arguments.
template <int kCount, typename Work>
__device__ __forceinline__ void for_constants(Work work) {
  if constexpr (kCount > 0) {
    for_constants<kCount - 1>(work);
    work(std::integral_constant<int, kCount - 1>{});
  }
}

}  // namespace equalux::cuda

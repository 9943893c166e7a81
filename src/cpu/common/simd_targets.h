#pragma once

#include <string_view>
#include <vector>

// Builds the VBMI target, which Highway leaves out unless asked before its first header, in files
// that use VBMI and say so by EQUALUX_USES_VBMI: in others its code would be AVX3's once more.
#if defined(EQUALUX_USES_VBMI) || defined(EQUALUX_WITHOUT_AVX3)
#define HWY_WANT_AVX3_DL 1
#endif
// NEON is part of every 64-bit Arm processor. Without dispatch at run time the whole file is
// compiled for it, including implicit constructors, which Highway's pragmas do not reach.
#if defined(__aarch64__) && !defined(TOOLCHAIN_MISS_SYS_AUXV_H)
#define TOOLCHAIN_MISS_SYS_AUXV_H
#endif
#include <hwy/targets.h>

// See highway-inl.h.
#ifdef EQUALUX_WITHOUT_AVXVNNI
#undef HWY_PUSH_ATTRIBUTES
#define HWY_PUSH_ATTRIBUTES(targets) \
  HWY_PRAGMA(                        \
      clang attribute push(__attribute__((target(targets ",no-avxvnni"))), apply_to = function))
#endif

/// True where the target being compiled has 512-bit vectors and VBMI byte permutes, in files that
/// define EQUALUX_USES_VBMI. Newer versions of Highway rank further targets with these before
/// AVX3_DL.
#define EQUALUX_VBMI (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL)

/// SIMD targets of this build that this machine runs, and the loops of a family for each. A
/// family's file includes this before foreach_target.h. All functions are thread-safe.
namespace equalux {

/// Name of plain C++ among the targets.
inline constexpr std::string_view kScalarTarget = "scalar";

/// Returns the targets, best first, plain C++ last.
[[nodiscard]] std::vector<std::string_view> simd_targets();

/// Returns the target that this process uses: the best one, or that of the environment variable
/// EQUALUX_SIMD at the first call. Throws Error(usage) where it is none of simd_targets().
[[nodiscard]] std::string_view simd_target();

namespace simd_detail {
/// Calls visit(context, target) once for each vector target, best first, with HWY_DYNAMIC_DISPATCH
/// set to it, or to the next one in files that are not compiled for it.
void visit_targets(void (*visit)(void* context, std::string_view target), void* context);
}  // namespace simd_detail

/// Returns a family's loops of every target, best first, plain C++ last. `of_target` returns those
/// of the target that HWY_DYNAMIC_DISPATCH is set to, or `scalar` where the target has none.
template <typename Rows, typename OfTarget>
[[nodiscard]] std::vector<Rows> loops_of_targets(OfTarget of_target, const Rows& scalar) {
  struct Visit {
    OfTarget of_target;
    std::vector<Rows> list;
  } visit{of_target, {}};
  simd_detail::visit_targets(
      [](void* context, std::string_view target) {
        Visit& each = *static_cast<Visit*>(context);
        Rows loops = each.of_target();
        if (loops.target == kScalarTarget) return;
        loops.target = target;
        each.list.push_back(loops);
      },
      &visit);
  visit.list.push_back(scalar);
  return visit.list;
}

/// Returns a family's loops for simd_target(), or plain C++ where that target has none.
template <typename Rows>
[[nodiscard]] Rows loops_in_use(const std::vector<Rows>& all) {
  for (const Rows& each : all) {
    if (each.target == simd_target()) return each;
  }
  return all.back();
}

}  // namespace equalux

/// Defines all_ROWS() and ROWS() of a family's header, in namespace `family`, for a file that has
/// compiled target_ROWS() for every target in namespace `bodies`. To be used once, under HWY_ONCE.
#define EQUALUX_DEFINE_LOOPS(family, bodies, Rows, rows)                          \
  namespace bodies {                                                              \
  HWY_EXPORT(target_##rows);                                                      \
  static std::vector<Rows> rows##_of_targets() {                                  \
    return loops_of_targets([] { return HWY_DYNAMIC_DISPATCH(target_##rows)(); }, \
                            scalar_##rows());                                     \
  }                                                                               \
  }                                                                               \
  namespace family {                                                              \
  std::vector<Rows> all_##rows() {                                                \
    return ::bodies::rows##_of_targets();                                         \
  }                                                                               \
  const Rows& rows() {                                                            \
    static const Rows loops = loops_in_use(all_##rows());                         \
    return loops;                                                                 \
  }                                                                               \
  }

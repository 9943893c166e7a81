// Includes Highway for the target that is being compiled; files include this in its place, once for
// each target, so it has no guard.
//
// Highway 1.0.3 counts AVX-VNNI to AVX3_DL, but looks for AVX-512 VNNI alone before it runs that:
// Ice Lake and Zen 4 lack the former, and Clang uses it. simd_targets.h takes it off Highway's own
// functions, this takes it off lambdas.
#include <hwy/highway.h>

#if defined(EQUALUX_WITHOUT_AVXVNNI) && HWY_TARGET == HWY_AVX3_DL
#undef HWY_TARGET_STR
// clang-format off
#define HWY_TARGET_STR \
  HWY_TARGET_STR_AVX3 ",vpclmulqdq,avx512vbmi,avx512vbmi2,vaes,avx512bitalg,avx512vpopcntdq"
// clang-format on
#endif

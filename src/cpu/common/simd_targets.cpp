#define EQUALUX_USES_VBMI
#include "src/cpu/common/simd_targets.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>

#include <equalux/error.h>
#include <equalux/filter.h>

namespace equalux {
namespace {

/// Guards Highway's chosen target, which is one for the process.
std::mutex choice;

/// Vector targets of this build that this machine runs: one bit each, the best one lowest.
std::int64_t vector_targets() {
  return hwy::SupportedTargets() & HWY_TARGETS & ~std::int64_t{HWY_EMU128 | HWY_SCALAR};
}

std::string_view choose_target() {
  const std::vector<std::string_view> known = simd_targets();
  const char* wanted = std::getenv("EQUALUX_SIMD");
  if (wanted == nullptr || *wanted == '\0') return known.front();
  const auto found = std::find(known.begin(), known.end(), std::string_view(wanted));
  if (found != known.end()) return *found;
  std::string names;
  for (const std::string_view name : known)
    names += (names.empty() ? "" : ", ") + std::string(name);
  throw Error(ExitCode::usage,
              "EQUALUX_SIMD is '" + std::string(wanted) + "', this machine runs: " + names);
}

}  // namespace

std::vector<std::string_view> simd_targets() {
  const std::lock_guard<std::mutex> turn(choice);
  std::vector<std::string_view> names;
  for (std::int64_t bits = vector_targets(); bits != 0; bits &= bits - 1)
    names.emplace_back(hwy::TargetName(bits & -bits));
  names.push_back(kScalarTarget);
  return names;
}

std::string_view simd_target() {
  static const std::string_view target = choose_target();
  return target;
}

std::string cpu_simd_target() {
  return std::string(simd_target());
}

void simd_detail::visit_targets(void (*visit)(void* context, std::string_view target),
                                void* context) {
  const std::lock_guard<std::mutex> turn(choice);
  for (std::int64_t bits = vector_targets(); bits != 0; bits &= bits - 1) {
    hwy::SetSupportedTargetsForTest(bits);
    hwy::GetChosenTarget().DeInit();
    visit(context, hwy::TargetName(bits & -bits));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace equalux

#pragma once

#include <cstdlib>

namespace equalux::test {

/// Whether every count is wanted, as of `scripts/test --full`, and not a sample of it.
[[nodiscard]] inline bool wants_every_count() {
  return std::getenv("EQUALUX_FULL") != nullptr;
}

}  // namespace equalux::test

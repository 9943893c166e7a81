#pragma once

#include <cstdlib>

namespace equalux::test {

/// Whether every count is wanted, as of `scripts/test --full`, and not a sample of it.
[[nodiscard]] inline bool wants_every_count() {
  return std::getenv("EQUALUX_FULL") != nullptr;
}

/// Whether a small sample is enough, as of plain `scripts/test`.
[[nodiscard]] inline bool wants_few_counts() {
  return std::getenv("EQUALUX_FEW") != nullptr && !wants_every_count();
}

/// Leaves out all but every n-th combination of what loops go over, where few are wanted. An n that
/// has no divisor in common with the inner loops' lengths meets each of their values.
class EveryNth {
 public:
  explicit EveryNth(unsigned n) : n_(wants_few_counts() ? n : 1) {}
  [[nodiscard]] bool skips() { return count_++ % n_ != 0; }

 private:
  unsigned n_;
  unsigned count_ = 0;
};

}  // namespace equalux::test

#pragma once

#include <memory>

#include "src/common/function_ref.h"

/// Parallel loops over rows.
namespace equalux {

/// Body of a loop over rows begin to end - 1. Bodies that run at the same time have different
/// slots, 0 to threads() - 1, so that each slot may own scratch memory.
using RowsBody = FunctionRef<void(int begin, int end, int slot)>;

/// Fixed number of threads. One call of for_rows() at a time.
class RowExecutor {
 public:
  /// Starts with so many threads; 0 = one for each core. Throws as check_threads().
  explicit RowExecutor(int threads);
  ~RowExecutor();

  [[nodiscard]] int threads() const { return threads_; }
  /// Splits 0 .. rows - 1 into pieces and returns when all are done. Rethrows an exception of a
  /// body.
  void for_rows(int rows, RowsBody body);

 private:
  struct Impl;
  int threads_;
  std::unique_ptr<Impl> impl_;  // null for one thread
};

/// Throws Error(usage) unless `threads` is 0 to 1024.
void check_threads(int threads);

/// Returns the number of cores that this process may run on, at least 1.
[[nodiscard]] int available_cores();

}  // namespace equalux

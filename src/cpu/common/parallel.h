#pragma once

#include <memory>

#include "src/common/function_ref.h"

/// Loops over rows on several threads.
namespace equalux {

/// body(begin, end, slot): rows begin to end - 1. Bodies that run at the same time have different
/// slots, 0 to threads() - 1, so each may own scratch memory by slot.
using RowsBody = FunctionRef<void(int begin, int end, int slot)>;

/// A fixed number of threads. One call of for_rows() at a time.
class RowExecutor {
 public:
  /// 0 = all cores.
  explicit RowExecutor(int threads);
  ~RowExecutor();

  [[nodiscard]] int threads() const { return threads_; }
  /// Splits 0 .. rows - 1 into pieces and returns when all are done. An exception of a body
  /// comes out of here.
  void for_rows(int rows, RowsBody body);

 private:
  struct Impl;
  int threads_;
  std::unique_ptr<Impl> impl_;  // null for one thread
};

/// Cores that this process may run on, at least 1.
[[nodiscard]] int available_cores();

}  // namespace equalux

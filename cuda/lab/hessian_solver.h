#pragma once

#include <cstddef>
#include <memory>

#include <cuda_runtime_api.h>

/// NVIDIA's eigenvalue solver, as a peer to measure beside.
namespace equalux::cuda {

/// Eigenvalues of many symmetric 2 x 2 matrices by cuSOLVER's batched Jacobi method, without
/// vectors. The library is hundreds of MB that the product does not need, so it is loaded when the
/// first of these is made. One thread at a time.
class MatrixSolver {
 public:
  /// Allocates for frames of so many matrices. Throws Error(unavailable) where the build had no
  /// header of cuSOLVER, or the machine has no library of that version.
  explicit MatrixSolver(std::size_t matrices);
  ~MatrixSolver();

  /// Four floats a matrix, which are overwritten; two floats each come out. cuSOLVER may wait for
  /// the stream.
  void solve(float* matrices, float* values, cudaStream_t stream) const;

 private:
  struct Solver;
  std::unique_ptr<Solver> solver_;
};

}  // namespace equalux::cuda

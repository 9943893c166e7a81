#pragma once

#include <cstddef>
#include <memory>

#include <cuda_runtime_api.h>

/// NVIDIA's eigenvalue solver, for comparison with our kernels.
namespace equalux::cuda {

/// Computes eigenvalues of many symmetric 2 x 2 matrices by cuSOLVER's batched Jacobi method,
/// without eigenvectors. The library has hundreds of MB that the product does not need, so the
/// first object loads it at run time. One thread at a time.
class MatrixSolver {
 public:
  /// Allocates for frames of `matrices` pixels. Throws Error(unavailable) where the build had no
  /// header of cuSOLVER, or the machine has no library of that version.
  explicit MatrixSolver(std::size_t matrices);
  ~MatrixSolver();

  /// Reads four floats per matrix, which it overwrites, and writes two floats per matrix. cuSOLVER
  /// may wait for the stream.
  void solve(float* matrices, float* values, cudaStream_t stream) const;

 private:
  struct Solver;
  std::unique_ptr<Solver> solver_;
};

}  // namespace equalux::cuda

#include <equalux/error.h>

#include "cuda/lab/hessian_solver.h"

namespace equalux::cuda {

struct MatrixSolver::Solver {};

MatrixSolver::MatrixSolver(std::size_t) {
  throw Error(ExitCode::unavailable, "this build has no cuSOLVER");
}
MatrixSolver::~MatrixSolver() = default;

void MatrixSolver::solve(float*, float*, cudaStream_t) const {}

}  // namespace equalux::cuda

#include "cuda/lab/hessian_solver.h"

#include <algorithm>
#include <string>

#include <cusolverDn.h>
#include <dlfcn.h>
#include <equalux/error.h>

#include "cuda/runtime/handles.h"

namespace equalux::cuda {
namespace {

/// Matrices per call of the library. cuSOLVER 11 and 12 need about 4 KB of workspace for each and
/// count it in 32 bits, so that they refuse more than two million.
constexpr std::size_t kMostMatrices = std::size_t{1} << 16;
constexpr int kSide = 2;

void check_solver(cusolverStatus_t status, const char* what) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  throw Error(ExitCode::unavailable,
              "cuSOLVER: " + std::string(what) + ": status " + std::to_string(status));
}

/// The functions of cuSOLVER that are needed, with their types from the header of the build.
struct Functions {
  decltype(&cusolverDnCreate) create;
  decltype(&cusolverDnDestroy) destroy;
  decltype(&cusolverDnSetStream) set_stream;
  decltype(&cusolverDnCreateSyevjInfo) create_info;
  decltype(&cusolverDnDestroySyevjInfo) destroy_info;
  decltype(&cusolverDnSsyevjBatched_bufferSize) buffer_size;
  decltype(&cusolverDnSsyevjBatched) solve;

  Functions() {
    const std::string name = "libcusolver.so." + std::to_string(CUSOLVER_VER_MAJOR);
    // Never closed: the CUDA libraries keep state of their own until the process ends.
    void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      throw Error(ExitCode::unavailable,
                  name + " cannot be loaded; LD_LIBRARY_PATH may name its folder");
    }
    const auto load = [&](auto& function, const char* symbol) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
      if (function == nullptr) throw Error(ExitCode::unavailable, name + " lacks " + symbol);
    };
    load(create, "cusolverDnCreate");
    load(destroy, "cusolverDnDestroy");
    load(set_stream, "cusolverDnSetStream");
    load(create_info, "cusolverDnCreateSyevjInfo");
    load(destroy_info, "cusolverDnDestroySyevjInfo");
    load(buffer_size, "cusolverDnSsyevjBatched_bufferSize");
    load(solve, "cusolverDnSsyevjBatched");
  }
};

}  // namespace

struct MatrixSolver::Solver {
  Functions cusolver;
  std::size_t matrices;
  cusolverDnHandle_t handle = nullptr;
  syevjInfo_t method = nullptr;
  int work_floats = 0;
  DevicePointer<float> work;
  DevicePointer<int> info;

  explicit Solver(std::size_t count) : matrices(count) {}
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
  ~Solver() {
    if (method != nullptr) static_cast<void>(cusolver.destroy_info(method));
    if (handle != nullptr) static_cast<void>(cusolver.destroy(handle));
  }
};

MatrixSolver::MatrixSolver(std::size_t matrices) : solver_(std::make_unique<Solver>(matrices)) {
  Solver& s = *solver_;
  check_solver(s.cusolver.create(&s.handle), "creating a handle");
  check_solver(s.cusolver.create_info(&s.method), "choosing the method");
  const std::size_t most = std::min(matrices, kMostMatrices);
  check_solver(s.cusolver.buffer_size(s.handle, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_LOWER,
                                      kSide, nullptr, kSide, nullptr, &s.work_floats, s.method,
                                      static_cast<int>(most)),
               "asking for the workspace");
  s.work = allocate_device<float>(static_cast<std::size_t>(std::max(s.work_floats, 1)));
  s.info = allocate_device<int>(most);
}

MatrixSolver::~MatrixSolver() = default;

void MatrixSolver::solve(float* matrices, float* values, cudaStream_t stream) const {
  const Solver& s = *solver_;
  check_solver(s.cusolver.set_stream(s.handle, stream), "choosing the stream");
  for (std::size_t first = 0; first < s.matrices; first += kMostMatrices) {
    const std::size_t count = std::min(s.matrices - first, kMostMatrices);
    check_solver(s.cusolver.solve(s.handle, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_LOWER,
                                  kSide, matrices + first * kSide * kSide, kSide,
                                  values + first * kSide, s.work.get(), s.work_floats, s.info.get(),
                                  s.method, static_cast<int>(count)),
                 "eigenvalues");
  }
}

}  // namespace equalux::cuda

#include <string>

#include <equalux/error.h>
#include <equalux/hessian.h>

/// The Hessian family on a GPU: not yet.
namespace equalux {
namespace {

[[noreturn]] void no_backend(const char* filter) {
  throw Error(ExitCode::unavailable, std::string(filter) + " has no CUDA backend yet");
}

}  // namespace

std::unique_ptr<Filter> make_cuda_filter(const HessianParams& params, const CudaOptions&) {
  validate(params, Backend::cuda);
  no_backend("eigenvalues");
}

std::unique_ptr<Filter> make_cuda_filter(const VesselParams& params, const CudaOptions&) {
  validate(params, Backend::cuda);
  no_backend("vessel");
}

std::unique_ptr<Filter> make_cuda_filter(const ShapesParams& params, const CudaOptions&) {
  validate(params, Backend::cuda);
  no_backend("shapes");
}

}  // namespace equalux

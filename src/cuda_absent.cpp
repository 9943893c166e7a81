#include <equalux/clahe.h>
#include <equalux/convolve.h>
#include <equalux/denoise.h>
#include <equalux/device.h>
#include <equalux/error.h>
#include <equalux/filter.h>
#include <equalux/hessian.h>

#include "src/common/cuda_memory.h"

/// Replacement of cuda/ in builds without CUDA.
namespace equalux {
namespace {

constexpr const char* kReason = "this build has no CUDA backend";
constexpr ImageMemory kNoMemory{[](std::size_t) -> void* { return nullptr; }, [](void*) {}};

}  // namespace

CudaStatus cuda_status() {
  return {false, kReason, {}};
}

void require_cuda_device(int) {
  throw Error(ExitCode::unavailable, std::string("cuda: ") + kReason);
}

CudaDevice choose_cuda_device(int wanted) {
  require_cuda_device(wanted);
  return {};
}

std::unique_ptr<Filter> make_cuda_filter(const EqualizeParams& params, const CudaOptions&) {
  validate(params, Backend::cuda);
  throw Error(ExitCode::unavailable, std::string("cuda: ") + kReason);
}

std::unique_ptr<Filter> make_cuda_filter(const ClaheParams& params, const CudaOptions&) {
  validate(params, Backend::cuda);
  throw Error(ExitCode::unavailable, std::string("cuda: ") + kReason);
}

std::unique_ptr<Filter> make_cuda_filter(const DenoiseParams& params, const CudaOptions&) {
  validate(params, Backend::cuda);
  throw Error(ExitCode::unavailable, std::string("cuda: ") + kReason);
}

std::unique_ptr<Filter> make_cuda_filter(const ConvolveParams& params, const CudaOptions&) {
  validate(params, Backend::cuda);
  throw Error(ExitCode::unavailable, std::string("cuda: ") + kReason);
}

std::unique_ptr<Filter> make_cuda_filter(const HessianParams& params, const CudaOptions&) {
  validate(params, Backend::cuda);
  throw Error(ExitCode::unavailable, std::string("cuda: ") + kReason);
}

std::unique_ptr<Filter> make_cuda_filter(const VesselParams& params, const CudaOptions&) {
  validate(params, Backend::cuda);
  throw Error(ExitCode::unavailable, std::string("cuda: ") + kReason);
}

std::unique_ptr<Filter> make_cuda_filter(const ShapesParams& params, const CudaOptions&) {
  validate(params, Backend::cuda);
  throw Error(ExitCode::unavailable, std::string("cuda: ") + kReason);
}

const ImageMemory& cuda_frame_memory() {
  return kNoMemory;
}

int cuda_device_of(const void*) {
  require_cuda_device(-1);
  return -1;
}

KeptCudaContext::KeptCudaContext(bool) noexcept {}
KeptCudaContext::~KeptCudaContext() = default;

void cuda_wait(int device, void*, void*) {
  require_cuda_device(device);
}

std::unique_ptr<CudaStreamEnd> make_cuda_stream_end(int device) {
  require_cuda_device(device);
  return nullptr;
}

}  // namespace equalux

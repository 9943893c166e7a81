#include <equalux/convolve.h>
#include <equalux/error.h>

namespace equalux {

std::unique_ptr<Filter> make_cuda_filter(const ConvolveParams& params, const CudaOptions&) {
  validate(params, Backend::cuda);
  throw Error(ExitCode::unavailable, "cuda: convolution is not there yet");
}

}  // namespace equalux

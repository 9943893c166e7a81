#include <equalux/clahe.h>
#include <equalux/error.h>

namespace equalux {

std::unique_ptr<Filter> make_cuda_filter(const ClaheParams& params, const CudaOptions&) {
  validate(params, Backend::cuda);
  throw Error(ExitCode::unavailable, "cuda: clahe runs on the CPU only so far");
}

}  // namespace equalux

#include <atomic>

#include <dlfcn.h>

#include "src/common/cuda_memory.h"

namespace equalux {
namespace {

/// Calls of the CUDA driver, whose library no program here links. Both return 0 where they succeed.
using GetCurrent = int (*)(void** context);
using SetCurrent = int (*)(void* context);

/// Returns a function of the driver, or null while nothing in the process has loaded the driver:
/// then no context is current.
template <typename Call>
Call driver_call(std::atomic<Call>& known, const char* name) {
  if (const Call call = known.load(std::memory_order_relaxed)) return call;
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return nullptr;
  // Never closed: the function stays where it is.
  const auto call = reinterpret_cast<Call>(::dlsym(driver, name));
  known.store(call, std::memory_order_relaxed);
  return call;
}

std::atomic<GetCurrent> get_current;
std::atomic<SetCurrent> set_current;

void* current_context() {
  const GetCurrent get = driver_call(get_current, "cuCtxGetCurrent");
  void* context = nullptr;
  return get != nullptr && get(&context) == 0 ? context : nullptr;
}

}  // namespace

KeptCudaContext::KeptCudaContext(bool keeps) noexcept {
  if (keeps) kept_ = current_context();
}

KeptCudaContext::~KeptCudaContext() {
  if (!kept_ || current_context() == *kept_) return;
  const SetCurrent set = driver_call(set_current, "cuCtxSetCurrent");
  if (set != nullptr) static_cast<void>(set(*kept_));
}

}  // namespace equalux

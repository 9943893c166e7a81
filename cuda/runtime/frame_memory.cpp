#include "cuda/runtime/check.h"
#include "cuda/runtime/handles.h"
#include "src/common/cuda_memory.h"

/// Device memory of frames, and the order of work on streams that belong to others.
namespace equalux {
namespace {

constexpr ImageMemory kDeviceMemory{[](std::size_t bytes) -> void* {
                                      void* memory = nullptr;
                                      if (cudaMalloc(&memory, bytes) == cudaSuccess) return memory;
                                      static_cast<void>(cudaGetLastError());
                                      return nullptr;
                                    },
                                    [](void* memory) { cuda::ignore(cudaFree(memory)); }};

class StreamEnd final : public CudaStreamEnd {
 public:
  explicit StreamEnd(int device) : device_(device) {
    cuda::use_device(device);
    end_ = cuda::make_event();
  }

  void order(void* stream) override {
    cuda::use_device(device_);
    if (!marked_ || is_captured(stream)) return;
    cuda::check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), end_.get(), 0),
                "having one stream wait for another");
  }
  void mark(void* stream) override {
    cuda::use_device(device_);
    if (is_captured(stream)) return;
    cuda::check(cudaEventRecord(end_.get(), static_cast<cudaStream_t>(stream)),
                "marking the end of a stream's work");
    marked_ = true;
  }
  void finish() override {
    cuda::use_device(device_);
    if (marked_) cuda::check(cudaEventSynchronize(end_.get()), "waiting for a stream");
  }

 private:
  static bool is_captured(void* stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cuda::check(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status),
                "asking whether a stream is captured");
    return status != cudaStreamCaptureStatusNone;
  }

  int device_;
  cuda::Event end_;
  bool marked_ = false;
};

}  // namespace

const ImageMemory& cuda_frame_memory() {
  return kDeviceMemory;
}

int cuda_device_of(const void* memory) {
  cudaPointerAttributes attributes{};
  cuda::check(cudaPointerGetAttributes(&attributes, memory), "asking where a frame lies");
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged) {
    throw Error(ExitCode::usage, "the frame lies in no device's memory");
  }
  return attributes.device;
}

void cuda_wait(int device, void* stream, void* before) {
  const KeptCudaContext kept;
  StreamEnd end(device);
  end.mark(before);
  end.order(stream);
}

std::unique_ptr<CudaStreamEnd> make_cuda_stream_end(int device) {
  return std::make_unique<StreamEnd>(device);
}

}  // namespace equalux

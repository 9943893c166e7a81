#pragma once

#include <string_view>

#include <cuda_runtime_api.h>

/// Where a timer hooks into a chain of stages.
namespace equalux::cuda {

/// Told at the end of every stage of a frame; an event recorded there measures the stage.
struct StageMarks {
  virtual ~StageMarks() = default;

  /// All work of `finished_stage`, a stage's stem that outlives the chain, is enqueued on `stream`,
  /// and nothing of the next stage is. Only enqueues.
  virtual void mark(std::string_view finished_stage, cudaStream_t stream) = 0;
};

}  // namespace equalux::cuda

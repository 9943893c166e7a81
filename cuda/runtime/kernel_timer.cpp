#include "cuda/runtime/kernel_timer.h"

namespace equalux::cuda {

KernelTimer::KernelTimer(std::size_t stages) {
  events_.reserve(stages + 1);
  names_.reserve(stages);
  for (std::size_t i = 0; i <= stages; ++i)
    events_.push_back(make_event(true));
}

void KernelTimer::begin(cudaStream_t stream) {
  names_.clear();
  check(cudaEventRecord(events_.front().get(), stream), "starting a timer");
}

void KernelTimer::mark(std::string_view finished_stage, void* stream) {
  if (names_.size() + 1 >= events_.size()) return;
  names_.push_back(finished_stage);
  check(cudaEventRecord(events_[names_.size()].get(), static_cast<cudaStream_t>(stream)),
        "timing a stage");
}

void KernelTimer::read(std::vector<StageTime>& times) const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, events_[i].get(), events_[i + 1].get()), "reading a timer");
    times.push_back({names_[i], static_cast<double>(ms)});
  }
}

}  // namespace equalux::cuda

#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <equalux/filter.h>

#include "cuda/runtime/handles.h"

/// Times of the stages of a frame on the device, measured without waiting for it.
namespace equalux::cuda {

/// A row of events on one stream; the time between two neighbours is the time of a stage. Events
/// are created once, so that a frame pays only for recording them. Used for one frame after
/// another, by one thread at a time.
class KernelTimer final : public StageMarks {
 public:
  /// Makes room for `stages` marks per frame; further marks are not measured.
  explicit KernelTimer(std::size_t stages);

  /// Starts a frame: work enqueued from now on belongs to its first stage.
  void begin(cudaStream_t stream);
  void mark(std::string_view finished_stage, void* stream) override;

  /// Appends name and milliseconds of each stage. Does not block if called after the frame's last
  /// mark has been passed, as an event recorded behind that mark tells.
  void read(std::vector<StageTime>& times) const;

 private:
  std::vector<Event> events_;            // the beginning, then one event for each mark
  std::vector<std::string_view> names_;  // of the marks recorded so far
};

}  // namespace equalux::cuda

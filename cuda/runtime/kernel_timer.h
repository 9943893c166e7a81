#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <equalux/filter.h>

#include "cuda/runtime/handles.h"

/// What the stages of one frame cost on the device, without ever waiting for it.
namespace equalux::cuda {

/// A row of events on one stream: the time of a stage is what lies between two neighbours. Events
/// are made once; recording one is all that a frame pays. Used for one frame after another, by one
/// thread at a time.
class KernelTimer final : public StageMarks {
 public:
  /// Room for `stages` marks a frame; later ones are not measured.
  explicit KernelTimer(std::size_t stages);

  /// Starts a frame: what comes now on the stream is the first stage.
  void begin(cudaStream_t stream);
  void mark(std::string_view finished_stage, void* stream) override;

  /// Appends name and milliseconds of each stage. To be called once the frame's last mark has been
  /// passed, as an event behind it tells; then nothing here blocks.
  void read(std::vector<StageTime>& times) const;

 private:
  std::vector<Event> events_;            // the beginning, then one a mark
  std::vector<std::string_view> names_;  // of the marks so far
};

}  // namespace equalux::cuda

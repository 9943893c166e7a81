#include <string>
#include <utility>

#include "pipelines/core/engine.h"

/// Where a run can be gone on from, and how one goes on.
namespace equalux {

void Engine::resume() {
  if (!options_.resume_from) return;
  const Checkpoint& from = *options_.resume_from;
  try {
    processor_.load(from.filters);
  } catch (const Error& error) {
    // What was written before can go on elsewhere.
    if (error.code() == ExitCode::unavailable) throw ProcessorFailed(error.what());
    throw CannotResume(info_.name + ": " + error.what());
  }
  has_checkpoint_ = true;
  expected_index_ = result_.frames_out = from.frames;
  first_pts_ns_ = from.first_pts_ns;
  media_end_ns_ = from.media_end_ns;
  result_.media_s = static_cast<double>(media_end_ns_ - *first_pts_ns_) * 1e-9;
}

/// Reads the frames before the place where this run goes on: decoding anew is exact in every
/// format, which seeking is not. False where the run is to end.
bool Engine::skip_frames() {
  const std::uint64_t count = options_.resume_from ? options_.resume_from->frames : 0;
  while (frames_in_ < count) {
    if (stop_asked()) return false;
    const FramePtr frame = input_pool_->acquire();
    if (!frame) return false;
    const bool more = read_frame(*frame);
    if (aborted_ || stop_asked()) return false;
    if (!more) {
      throw CannotResume(info_.name + ": holds " + std::to_string(frames_in_) +
                         " frames, but had " + std::to_string(count) + " and more before");
    }
  }
  return true;
}

bool Engine::ends_segment(std::uint64_t index) const {
  return options_.checkpoint_every > 0 && (index + 1) % options_.checkpoint_every == 0;
}

/// Lets the processor run empty, so that its state is that behind the last frame it was given.
void Engine::forward_to_checkpoint() {
  while (in_flight_ > 1)
    forward(true);
  FramePtr last = processor_.collect(true);
  in_flight_ = 0;
  if (!last) return;
  last->state = processor_.save();
  forwarded_ = true;
  output_->push(std::move(last));
}

void Engine::make_checkpoint(std::string filters) {
  Checkpoint checkpoint;
  checkpoint.sink = sink_.checkpoint();
  if (checkpoint.sink.empty()) return;
  checkpoint.frames = result_.frames_out;
  checkpoint.first_pts_ns = first_pts_ns_.value_or(0);
  checkpoint.media_end_ns = media_end_ns_;
  checkpoint.filters = std::move(filters);
  has_checkpoint_ = true;
  if (options_.on_checkpoint) options_.on_checkpoint(checkpoint);
}

}  // namespace equalux

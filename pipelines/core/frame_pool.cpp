#include "pipelines/core/frame_pool.h"

#include <new>
#include <utility>

#include "pipelines/picture/alpha_plane.h"
#include "src/common/frame_memory.h"

namespace equalux {
namespace {

// More stages than any chain of filters has, so that timing a frame allocates nothing.
constexpr std::size_t kStagesReserved = 32;

void clear(Frame& frame, const ImageDesc& desc) {
  if (frame.release != nullptr) frame.release(frame.lease);
  frame.release = nullptr;
  frame.lease = nullptr;
  frame.original.reset();
  if (frame.pixels.empty()) {
    frame.target = ImageView{};
    frame.target.desc = desc;
  } else {
    frame.target = frame.pixels.view();
  }
  frame.image = frame.target;
  frame.on_device = false;
  frame.alpha = ConstImageView{};
  frame.place() = {};
  frame.unseen = false;
  frame.timings.clear();
  frame.state.reset();
}

}  // namespace

void ReturnFrame::operator()(Frame* frame) const noexcept {
  if (frame->pool != nullptr) {
    frame->pool->give_back(frame);
    return;
  }
  clear(*frame, frame->image.desc);
  delete frame;
}

FramePool::FramePool(const ImageDesc& desc, std::size_t count, bool borrow_only) : desc_(desc) {
  frames_.reserve(count);
  free_.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    add(borrow_only ? Image() : Image(desc));
}

FramePool::FramePool(const ImageDesc& desc, std::size_t count, std::size_t least,
                     const ImageMemory& memory)
    : desc_(desc) {
  frames_.reserve(count);
  free_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    try {
      add(Image(desc, memory));
    } catch (const std::bad_alloc&) {
      if (i < least) throw;
      break;
    }
  }
}

void FramePool::add(Image pixels) {
  auto frame = std::make_unique<Frame>();
  frame->pixels = std::move(pixels);
  frame->timings.stages.reserve(kStagesReserved);
  frame->pool = this;
  clear(*frame, desc_);
  free_.push_back(frame.get());
  frames_.push_back(std::move(frame));
}

void FramePool::add_alpha() {
  for (const auto& frame : frames_)
    frame->alpha_pixels = Image(alpha_desc(desc_));
}

FramePool::~FramePool() {
  // A frame that is still held lives on without its pool and is deleted when it is released.
  for (Frame* frame : free_)
    frame->pool = nullptr;
  for (auto& frame : frames_) {
    if (frame->pool != nullptr) {
      frame->pool = nullptr;
      static_cast<void>(frame.release());
    }
  }
}

FramePtr FramePool::take_locked() {
  FramePtr frame(free_.back());
  free_.pop_back();
  return frame;
}

FramePtr FramePool::acquire() {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [&] { return !free_.empty() || stopped_; });
  if (stopped_) return nullptr;
  return take_locked();
}

FramePtr FramePool::try_acquire() {
  const std::lock_guard lock(mutex_);
  if (stopped_ || free_.empty()) return nullptr;
  return take_locked();
}

void FramePool::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  freed_.notify_all();
}

void FramePool::forget_idle(std::size_t keep) noexcept {
  const auto forget = [](Image& image) {
    if (!image.empty()) forget_frame(image.view().data[0], image_layout(image.desc()).bytes);
  };
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i + keep < free_.size(); ++i) {
    forget(free_[i]->pixels);
    forget(free_[i]->alpha_pixels);
  }
}

void FramePool::give_back(Frame* frame) noexcept {
  clear(*frame, desc_);
  const std::lock_guard lock(mutex_);
  free_.push_back(frame);  // Never allocates: room for all frames was reserved.
  freed_.notify_one();
}

}  // namespace equalux

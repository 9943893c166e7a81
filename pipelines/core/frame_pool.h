#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "pipelines/core/frame.h"

/// A fixed number of frames, allocated once, which bounds the memory of a pipeline.
namespace equalux {

/// Thread-safe. Must outlive its frames; stop() wakes all waiting threads.
class FramePool {
 public:
  /// Allocates `count` frames of host memory for `desc`. With `borrow_only` the frames get no
  /// memory of their own: the source points them at its own buffers.
  FramePool(const ImageDesc& desc, std::size_t count, bool borrow_only = false);
  /// Allocates `count` frames in `memory`, or fewer, but at least `least`, where that is short.
  /// Throws std::bad_alloc.
  FramePool(const ImageDesc& desc, std::size_t count, std::size_t least, const ImageMemory& memory);
  /// Gives every frame memory for transparency beside its picture. To be called before the first
  /// acquire(); throws std::bad_alloc.
  void add_alpha();
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// Waits for a free frame; null after stop(). Its image is its own memory, its other fields are
  /// cleared.
  [[nodiscard]] FramePtr acquire();
  /// Returns a free frame, or null, without waiting.
  [[nodiscard]] FramePtr try_acquire();
  void stop();
  /// Returns the memory of free frames, which a burst has touched, to the system until they are
  /// written again, except for the `keep` frames that are handed out next. For pools of plain host
  /// memory.
  void forget_idle(std::size_t keep) noexcept;

  [[nodiscard]] const ImageDesc& desc() const { return desc_; }
  /// Total number of frames.
  [[nodiscard]] std::size_t size() const { return frames_.size(); }

 private:
  friend struct ReturnFrame;
  void give_back(Frame* frame) noexcept;
  FramePtr take_locked();
  void add(Image pixels);

  ImageDesc desc_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Frame*> free_;  // a stack: the warmest memory is used next
  bool stopped_ = false;
};

}  // namespace equalux

#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "pipelines/core/frame.h"

/// A fixed number of frames, allocated once: what bounds the memory of a pipeline.
namespace equalux {

/// Thread-safe. Must outlive its frames; stop() wakes whoever waits.
class FramePool {
 public:
  /// `count` frames of host memory for `desc`. With `borrow_only` the frames get no memory of
  /// their own: the source points them at its own buffers.
  FramePool(const ImageDesc& desc, std::size_t count, bool borrow_only = false);
  /// Frames of `memory`: `count` of them, or fewer, but at least `least`, where it is short. Throws
  /// std::bad_alloc.
  FramePool(const ImageDesc& desc, std::size_t count, std::size_t least, const ImageMemory& memory);
  /// Gives every frame memory for transparency beside its picture. Before the first acquire();
  /// throws std::bad_alloc.
  void add_alpha();
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// Waits for a free frame; null after stop(). Its image is its own memory, its fields are clear.
  [[nodiscard]] FramePtr acquire();
  /// A free frame, or null at once.
  [[nodiscard]] FramePtr try_acquire();
  void stop();
  /// Gives the memory of free frames back to the system until they are written, but for the `keep`
  /// that are handed out first: what a burst has taken. For pools of plain host memory.
  void forget_idle(std::size_t keep) noexcept;

  [[nodiscard]] const ImageDesc& desc() const { return desc_; }
  /// Frames in all.
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
  std::vector<Frame*> free_;  // a stack: the warmest memory first
  bool stopped_ = false;
};

}  // namespace equalux

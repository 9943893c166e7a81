#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <equalux/filter.h>

/// Interfaces of what a backend provides for filters with tone curves.
namespace equalux {

/// Implementation of such a filter for the frames of one stream. One thread at a time.
template <typename Params>
class ToneChain {
 public:
  ToneChain() = default;
  virtual ~ToneChain() = default;
  ToneChain(const ToneChain&) = delete;
  ToneChain& operator=(const ToneChain&) = delete;

  /// Allocates for frames of `desc` and forgets earlier frames.
  virtual void configure(const ImageDesc& desc) = 0;
  /// Filters one frame of the configured desc. `in` and `out` may be the same memory with the same
  /// strides, unless it rounds. On a GPU it only enqueues, on context.stream.
  virtual void process(const ConstImageView& in, const ImageView& out,
                       const FrameContext& context) = 0;

  // Functions of Filter, called only after configure(). A chain without temporal state has no work
  // here.
  virtual void update(const Params& params) { (void)params; }
  virtual void reset() {}
  [[nodiscard]] virtual std::string save() const { return "{}"; }
  virtual void load(std::string_view state) { (void)state; }
};

/// Maker of the chains of one backend.
template <typename Params, typename Kind, typename Chain>
class ToneBackend {
 public:
  ToneBackend() = default;
  virtual ~ToneBackend() = default;
  ToneBackend(const ToneBackend&) = delete;
  ToneBackend& operator=(const ToneBackend&) = delete;

  [[nodiscard]] virtual Backend name() const = 0;
  /// Makes a chain, which may refer to this backend: the backend outlives it.
  [[nodiscard]] virtual std::unique_ptr<Chain> make_chain(Kind kind, const Params& params) = 0;
  /// Makes the backend's device that of the calling thread, before a chain is used. Throws
  /// Error(unavailable).
  virtual void enter() const {}
  /// Waits for the frames under way, which may still use a chain, before it is replaced. Throws
  /// Error(unavailable).
  virtual void finish_frames() const {}
  /// enter() before a chain is destroyed; ignores errors.
  virtual void enter_to_free() const noexcept {}
};

}  // namespace equalux

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/error.h>
#include <equalux/filter.h>

#include "pipelines/core/frame.h"

/// Runs filters over frames, one after another, on one backend.
namespace equalux {

/// A submitted frame, and the frame that was to become its result.
struct SubmittedFrame {
  FramePtr in;
  FramePtr out;
  bool measure = false;
  bool keep_original = false;
};

/// Thrown where submitting or filtering failed before there was any result: the cause is the
/// processor, not the frames.
class ProcessorFailed : public Error {
 public:
  explicit ProcessorFailed(const std::string& message) : Error(ExitCode::unavailable, message) {}
};

/// Filters frames. They go in by submit() and come out by collect() in the same order: on the CPU
/// at once, on a GPU some frames later. One thread at a time.
class Processor {
 public:
  virtual ~Processor() = default;

  /// Returns true for formats that the first filter takes.
  [[nodiscard]] virtual bool accepts(PixelFormat format) const = 0;
  /// Allocates everything for frames of `input`; returns the last filter's output format.
  virtual ImageDesc configure(const ImageDesc& input) = 0;

  /// Number of frames that may be between submit() and collect(), for the size of the pools.
  [[nodiscard]] virtual std::size_t depth() const = 0;

  /// Memory from which this backend copies frames fast; null = any.
  [[nodiscard]] virtual const ImageMemory* frame_memory() const { return nullptr; }

  /// The CUDA device in whose memory frames may be as well as on the host, in the context of the
  /// CUDA runtime; -1 = none.
  [[nodiscard]] virtual int frame_device() const { return -1; }

  /// Takes a frame. `out` is a frame of configure()'s output format with its target set, which a
  /// frame with memory of its own has anyway; it becomes the result and inherits index, times and,
  /// with `keep_original`, the input frame. Its target may be the input's memory.
  virtual void submit(FramePtr in, FramePtr out, bool measure, bool keep_original) = 0;

  /// Returns the oldest finished frame. With `wait` it waits for that; null where there is none.
  virtual FramePtr collect(bool wait) = 0;

  /// Returns the frames in flight after submit() or collect() has thrown, the oldest first, so that
  /// another processor can filter them. The device does not touch them any more.
  [[nodiscard]] virtual std::vector<SubmittedFrame> withdraw() { return {}; }

  /// Returns the sum of the curves of all frames so far, if a filter collects them; see Filter. No
  /// frame may be in flight.
  [[nodiscard]] virtual std::optional<CurveSum> curve_sum() const { return std::nullopt; }
  /// Returns the filters' states as a JSON array of what each one saves. To be called while no
  /// frame is between submit() and collect().
  [[nodiscard]] virtual std::string save() const { return "[]"; }
  /// Restores what save() returned, after configure(). Throws Error(usage) where it does not fit.
  virtual void load(std::string_view state) { (void)state; }
  /// Sets options of one of the filters, counted from 0, for the frames to come. To be called in
  /// the thread that calls submit(). Returns as Filter::update().
  virtual bool update(std::size_t filter, const OptionValues& options) {
    (void)filter, (void)options;
    return false;
  }

  /// One line for the log: backend, device or SIMD target, threads.
  [[nodiscard]] virtual std::string description() const = 0;
};

/// Copies another frame's place in time and its times so far.
void inherit_place(Frame& out, const Frame& in);

/// Copies what a result has in common with its input frame: place in time, times so far and, where
/// the result has memory for it, the transparency beside the picture.
void inherit(Frame& out, const Frame& in);

/// Returns the curve sum of the first filter that collects curves.
[[nodiscard]] std::optional<CurveSum> curve_sum_of(
    const std::vector<std::unique_ptr<Filter>>& filters);

/// Returns true for frames that are copied instead of filtered.
[[nodiscard]] bool passes_untouched(const Frame& frame, const ImageDesc& in, const ImageDesc& out);

/// Returns what filters are told of a frame.
[[nodiscard]] FrameContext context_of(const Frame& frame);

/// Makes the processor of the CPU: submit() runs the filters before it returns.
[[nodiscard]] std::unique_ptr<Processor> make_cpu_processor(
    std::vector<std::unique_ptr<Filter>> filters, int threads);

}  // namespace equalux

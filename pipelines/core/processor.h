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

/// A frame that was submitted, and the one that was to become its result.
struct SubmittedFrame {
  FramePtr in;
  FramePtr out;
  bool measure = false;
  bool keep_original = false;
};

/// Submitting or filtering failed before there was any result: that is the processor's failure, not
/// the frames'.
class ProcessorFailed : public Error {
 public:
  explicit ProcessorFailed(const std::string& message) : Error(ExitCode::unavailable, message) {}
};

/// One thread at a time. Frames go in by submit() and come out by collect() in the same order,
/// on the CPU at once, on a GPU some frames later.
class Processor {
 public:
  virtual ~Processor() = default;

  /// Formats that the first filter takes.
  [[nodiscard]] virtual bool accepts(PixelFormat format) const = 0;
  /// Allocates everything for frames of `input`; returns the last filter's output.
  virtual ImageDesc configure(const ImageDesc& input) = 0;

  /// Frames that may be between submit() and collect(), for the size of the pools.
  [[nodiscard]] virtual std::size_t depth() const = 0;

  /// Memory that frames should lie in so that this backend reaches them fast; null = any.
  [[nodiscard]] virtual const ImageMemory* frame_memory() const { return nullptr; }

  /// The CUDA device in whose memory frames may lie as well as on the host, within the context of
  /// the CUDA runtime; -1 = none.
  [[nodiscard]] virtual int frame_device() const { return -1; }

  /// Takes a frame. `out` is a frame of configure's output whose target is set, as that of a frame
  /// with memory of its own is; it becomes the result and inherits index, times and, with
  /// `keep_original`, the input frame. Its target may be the input's memory.
  virtual void submit(FramePtr in, FramePtr out, bool measure, bool keep_original) = 0;

  /// The oldest finished frame. With `wait`, waits for it; null where there is none.
  virtual FramePtr collect(bool wait) = 0;

  /// Gives back, after submit() or collect() has thrown, the frames under way, the oldest first,
  /// for another processor to filter. Nothing touches them any more.
  [[nodiscard]] virtual std::vector<SubmittedFrame> withdraw() { return {}; }

  /// The sum of the curves of the frames so far, where a filter collects them; see Filter. No frame
  /// is under way.
  [[nodiscard]] virtual std::optional<CurveSum> curve_sum() const { return std::nullopt; }
  /// What the filters keep from frame to frame, as a JSON array of what each one saves. Called
  /// while no frame is between submit() and collect().
  [[nodiscard]] virtual std::string save() const { return "[]"; }
  /// Restores what save() gave, behind configure(). Throws Error(usage) where it does not fit.
  virtual void load(std::string_view state) { (void)state; }
  /// Gives one of the filters, counted from 0, other values of options for the frames to come.
  /// In the thread that calls submit(). As Filter::update().
  virtual bool update(std::size_t filter, const OptionValues& options) {
    (void)filter, (void)options;
    return false;
  }

  /// One line for the log: backend, device or SIMD target, threads.
  [[nodiscard]] virtual std::string description() const = 0;
};

/// Gives a frame another one's place in time and its times so far.
void inherit_place(Frame& out, const Frame& in);

/// Gives a result what it has of the frame it was made of: its place in time, its times so far and,
/// where it has memory for it, the transparency beside the picture.
void inherit(Frame& out, const Frame& in);

/// The sum of the first filter that collects curves.
[[nodiscard]] std::optional<CurveSum> curve_sum_of(
    const std::vector<std::unique_ptr<Filter>>& filters);

/// True for frames that are copied where others are filtered.
[[nodiscard]] bool passes_untouched(const Frame& frame, const ImageDesc& in, const ImageDesc& out);

/// What filters are told of a frame.
[[nodiscard]] FrameContext context_of(const Frame& frame);

/// The CPU's: submit() runs the filters before it returns.
[[nodiscard]] std::unique_ptr<Processor> make_cpu_processor(
    std::vector<std::unique_ptr<Filter>> filters, int threads);

}  // namespace equalux

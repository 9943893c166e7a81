#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/curve.h>
#include <equalux/error.h>
#include <equalux/export.h>
#include <equalux/image.h>
#include <equalux/params.h>

/// Filter interface, and factories that choose an implementation once, at creation.
namespace equalux {

/// Time that one stage of one frame took.
struct StageTime {
  std::string_view stage;  ///< name of the stage, e.g. "histogram"; the text outlives the filter
  double ms = 0;
};

/// Receiver of stage boundaries of a CUDA filter, so that a caller can record an event behind each
/// stage.
class StageMarks {
 public:
  virtual ~StageMarks() = default;
  /// Called once a stage is enqueued on `stream`, a cudaStream_t. The text outlives the filter.
  virtual void mark(std::string_view finished_stage, void* stream) = 0;
};

/// Rounding of fractions of levels to whole levels.
enum class Dither : std::uint8_t {
  none,     ///< nearest level, halves up
  ordered,  ///< ordered dither with an 8 x 8 threshold matrix; exact on average
};

/// Metadata of a frame, and where its times go.
struct FrameContext {
  std::uint64_t index = 0;     ///< number of the frame in its stream, from 0
  std::int64_t pts_ns = 0;     ///< presentation time in nanoseconds, within 4e18 of 0
  bool discontinuity = false;  ///< true where frames before this one are missing
  FieldOrder field_order = FieldOrder::progressive;
  /// Rounding of frames that carry fractions of levels: set by the filter that makes them, read by
  /// the one that rounds them. Filters of a chain are given the same context.
  Dither dither = Dither::none;

  /// Receives the times of a CPU filter's stages; null = nothing is measured.
  std::vector<StageTime>* timings = nullptr;
  /// Receives the stage boundaries of a CUDA filter; null = none.
  StageMarks* marks = nullptr;
  /// Stream, a cudaStream_t, that a CUDA filter enqueues on; null on the CPU.
  void* stream = nullptr;

  /// Reports a stage that is enqueued to `marks`, if set.
  void mark(std::string_view finished_stage) const {
    if (marks != nullptr) marks->mark(finished_stage, stream);
  }
};

/// Sides of a filter on which frames carry fractions of levels. Such frames have a format of more
/// bits than the stream, where white is 255 levels and not the largest code. See configure_chain().
struct Fractions {
  bool in = false;
  bool out = false;
};

/// Filter over a stream of frames. One thread at a time may use it; distinct filters are
/// independent. Before a CUDA filter is destroyed, wait for its frames on their streams. Calls of a
/// CUDA filter throw Error(unavailable) where the device fails or lacks memory.
class EQUALUX_EXPORT Filter {
 public:
  virtual ~Filter() = default;

  /// Returns true for formats that configure() takes. Sources are asked for one of these.
  [[nodiscard]] virtual bool accepts(PixelFormat format) const = 0;

  /// Fixes size and format of the frames to come, allocates all memory, and returns the desc of
  /// results. May be called again, which resets the temporal state. Throws Error(usage) for frames
  /// that the filter does not take.
  virtual ImageDesc configure(const ImageDesc& input) = 0;

  /// Returns true where frames of `input`, a stream of 8 bits, may carry fractions on these sides.
  [[nodiscard]] virtual bool takes_fractions(const ImageDesc& input, Fractions fractions) const {
    (void)input;
    return !fractions.in && !fractions.out;
  }
  /// configure() with fractions, where takes_fractions() returns true. `input` is the desc of the
  /// stream; returns the desc of results, whose format is one of more bits where they carry
  /// fractions.
  virtual ImageDesc configure_with(const ImageDesc& input, Fractions fractions) {
    (void)fractions;
    return configure(input);
  }

  /// Returns true where `in` and `out` of submit() may be the same memory.
  [[nodiscard]] virtual bool works_in_place() const { return true; }

  /// Filters one frame. `in` has the desc given to configure(), `out` the one it returned. They are
  /// either the same memory with the same strides, where works_in_place() returns true, or do not
  /// overlap. A CUDA filter takes device memory and only enqueues on context.stream: the caller
  /// waits for the stream. A CPU filter is done when it returns. Allocates no memory. Throws
  /// Error(usage) before configure(), and for a frame or a result of another desc or without
  /// memory, and for a result whose rows overlap; of RGB and gray, matrix and range may differ.
  virtual void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) = 0;

  /// Changes options for the frames to come: all of them, or none if it throws. `denoise`, `clahe`
  /// and `equalize` with the fused chain keep their temporal state; with a time constant, limits of
  /// the curve change gradually. Returns false, and changes nothing, where the change needs a new
  /// filter: results would have another format, or the filter was made of parameters instead of a
  /// spec and is none of these three. Throws Error(usage) for an unknown key and for a wrong value.
  virtual bool update(const OptionValues& options) {
    (void)options;
    return false;
  }

  /// Forgets the frames seen so far, the temporal state.
  virtual void reset() {}
  /// Returns the temporal state as JSON text, "{}" where there is none. A CUDA filter waits for the
  /// frames under way, here and in load().
  [[nodiscard]] virtual std::string save() const { return "{}"; }
  /// Restores a state of save() in a filter that is configured alike. Throws Error(usage) where it
  /// does not fit this filter, which is then unchanged.
  virtual void load(std::string_view state) {
    if (state != "{}")
      throw Error(ExitCode::usage, "the state cannot be read: it is of another filter, must be {}");
  }

  /// Returns the tone curves that the filter makes, owned by it; null where it makes none of the
  /// whole frame.
  [[nodiscard]] virtual FilterCurves* curves() { return nullptr; }
};

/// Configures a chain of filters of one backend and returns the desc behind each of them. 8-bit
/// frames between two filters keep fractions of levels where the first makes them and the second
/// takes them, as `equalize` behind `denoise`: the curve then spreads no rounding steps. The second
/// filter rounds. All filters must be given the same context for a frame, in order.
EQUALUX_EXPORT std::vector<ImageDesc> configure_chain(
    std::span<const std::unique_ptr<Filter>> filters, const ImageDesc& input);

/// Options of the CPU backend.
struct CpuOptions {
  int threads = 0;  ///< threads, 0 to 1024; 0 = one for each core
};

/// Makes the equalization filter on the CPU. takes() tells the formats of its frames. Throws
/// Error(usage) where params or threads are invalid, or params need a GPU.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cpu_filter(
    const EqualizeParams& params, const CpuOptions& options = {});

/// Device number of a filter that never chooses a device: it works in whatever CUDA context is
/// current in the calling thread, for callers with a context of their own, as GStreamer's CUDA
/// elements. That context must be the same from configure() to the destructor. Creation calls
/// nothing of CUDA.
inline constexpr int kCurrentContext = -2;

/// Launch mode of a filter that is alone on its device: its kernel of a frame may start while the
/// one of the frame before ends, or not.
enum class Launches : std::uint8_t {
  overlapping,  ///< faster; only filters of one copy of this library may use the context
  separate,     ///< safe beside any other work in the context
};

/// Options of the CUDA backend.
struct CudaOptions {
  int device = -1;  ///< CUDA's ordinal; -1 = the device with most free memory; or kCurrentContext
  Launches launches = Launches::overlapping;
};

/// Makes the equalization filter on a GPU; results are the same bytes as on the CPU. Throws
/// Error(usage) where params are invalid, and Error(unavailable) where no device answers or this
/// build has no CUDA. The function, and those of the filter, leave the device current in the
/// calling thread, unless it is kCurrentContext.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cuda_filter(
    const EqualizeParams& params, const CudaOptions& options = {});

/// Description of a filter that `--filter` knows.
struct FilterInfo {
  std::string_view name;
  std::string_view summary;         ///< one line for --help
  std::span<const Option> options;  ///< options that a FilterSpec of it may set
  /// Name in hosts' lists of effects; empty = not listed: it is another filter with a preset
  /// option, or its results are no pictures.
  std::string_view title;
  std::string_view description;  ///< one sentence without its full stop, for hosts' lists
};
/// Lists all filters of this build, in the order of the documentation.
[[nodiscard]] EQUALUX_EXPORT const std::vector<FilterInfo>& filter_list();

/// Lists every rule that the parameters of a spec break, one clause each; with a backend, options
/// that only the other backend has count as broken. Throws Error(usage) for an unknown filter or
/// key, and for an unreadable value, and as set_option() for a file that a value names.
[[nodiscard]] EQUALUX_EXPORT std::vector<std::string> violations(const FilterSpec& spec,
                                                                 const EqualizeParams& equalize,
                                                                 Backend backend);

/// Makes the filter that a spec names, on the CPU. Its options may change while frames move, see
/// Filter::update(). `equalize` holds defaults for the filter `equalize`; keys of the spec override
/// them. Throws Error(usage) for an unknown filter or key and for an invalid value, and as
/// set_option() for a file that a value names.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cpu_filter(
    const FilterSpec& spec, const EqualizeParams& equalize = {}, const CpuOptions& options = {});

/// Makes the filter that a spec names, on a GPU. Throws as make_cpu_filter() of a spec, and
/// Error(unavailable) where no device answers or this build has no CUDA.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cuda_filter(
    const FilterSpec& spec, const EqualizeParams& equalize, const CudaOptions& options);

/// Returns the name of the SIMD target that the CPU backend runs on this machine, e.g. "AVX3_DL".
[[nodiscard]] EQUALUX_EXPORT std::string cpu_simd_target();

/// Returns the library's version, "major.minor.patch".
[[nodiscard]] EQUALUX_EXPORT std::string_view version();

}  // namespace equalux

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/curve.h>
#include <equalux/export.h>
#include <equalux/image.h>
#include <equalux/params.h>

/// The filter interface, and the factories that choose an implementation once, at creation.
namespace equalux {

/// Milliseconds of one stage of one frame.
struct StageTime {
  std::string_view stage;  ///< a stage's stem, e.g. "histogram"; the text outlives the filter
  double ms = 0;
};

/// Told by a CUDA filter of each stage it has enqueued, so that somebody can put an event behind
/// it.
class StageMarks {
 public:
  virtual ~StageMarks() = default;
  /// Called behind a stage on `stream`, a cudaStream_t; the text outlives the filter.
  virtual void mark(std::string_view finished_stage, void* stream) = 0;
};

/// How fractions of levels become levels at last.
enum class Dither : std::uint8_t {
  none,     ///< the nearest level, halves up
  ordered,  ///< the level above or below, by thresholds in squares of 8 x 8: on the mean exact
};

/// What a filter is told about a frame beside its bytes.
struct FrameContext {
  std::uint64_t index = 0;     ///< of the frame in its stream, from 0
  std::int64_t pts_ns = 0;     ///< presentation timestamp, nanoseconds within 4e18 of 0
  bool discontinuity = false;  ///< true where frames before this one are missing
  FieldOrder field_order = FieldOrder::progressive;
  /// Of fractions of levels: the filter that leaves them says it, the one that rounds them obeys
  /// it. Filters one after another are given the same context.
  Dither dither = Dither::none;

  /// Where a CPU filter appends its stages' times; null where nobody asks, and then nothing is
  /// measured.
  std::vector<StageTime>* timings = nullptr;
  /// Whom a CUDA filter tells of its stages; null where nobody asks.
  StageMarks* marks = nullptr;
  /// cudaStream_t that a CUDA filter enqueues on; null on the CPU.
  void* stream = nullptr;

  /// Tells `marks`, where there is one, of a stage that is enqueued.
  void mark(std::string_view finished_stage) const {
    if (marks != nullptr) marks->mark(finished_stage, stream);
  }
};

/// On which sides of a filter frames have fractions of levels, in a format of more bits than that
/// of the stream: white is 255 levels there too, and not the largest value. See
/// configure_chain().
struct Fractions {
  bool in = false;
  bool out = false;
};

/// A filter over a stream of frames.
///
/// One thread at a time may use a filter; distinct filters are independent.
class EQUALUX_EXPORT Filter {
 public:
  virtual ~Filter() = default;

  /// True for the formats that configure() takes; sources are asked for one of these.
  [[nodiscard]] virtual bool accepts(PixelFormat format) const = 0;

  /// Fixes the frames' size and format, allocates everything, and returns the output's desc.
  /// May be called again; the temporal state is then reset. Throws Error(usage) for frames that
  /// the filter does not take.
  virtual ImageDesc configure(const ImageDesc& input) = 0;

  /// True where frames of a stream of `input`, 8 bits a sample, may come or leave with fractions.
  [[nodiscard]] virtual bool takes_fractions(const ImageDesc& input, Fractions fractions) const {
    (void)input;
    return !fractions.in && !fractions.out;
  }
  /// configure() where takes_fractions() is true: fixes the desc of the stream, and returns that of
  /// the output as it is, with or without fractions.
  virtual ImageDesc configure_with(const ImageDesc& input, Fractions fractions) {
    (void)fractions;
    return configure(input);
  }

  /// True where submit() may be given the same memory for `in` and `out`.
  [[nodiscard]] virtual bool works_in_place() const { return true; }

  /// Filters one frame. `in` has configure's desc and `out` what configure returned. They are the
  /// same memory with the same strides, where works_in_place() allows it, or do not overlap. A CUDA
  /// filter only enqueues on context.stream and takes device memory; a CPU filter is done when it
  /// returns. Allocates nothing.
  virtual void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) = 0;

  /// Gives options other values for the frames to come, all of them or, where it throws, none.
  /// `equalize` by the fused chain and `clahe` keep what they know of the frames before; with a
  /// time constant the curve's limits are eased in. False where that takes a new filter: results
  /// would have another format, or it was made of parameters and not of a spec and is another one.
  /// Throws Error(usage) for an unknown key, and for a value that cannot be read or is no good.
  virtual bool update(const OptionValues& options) {
    (void)options;
    return false;
  }

  /// Forgets the frames seen so far. Without temporal state: nothing.
  virtual void reset() {}
  /// Temporal state as JSON text, "{}" where there is none.
  [[nodiscard]] virtual std::string save() const { return "{}"; }
  /// Restores what save() gave. Throws Error(usage) where it does not fit this filter.
  virtual void load(std::string_view state) { (void)state; }

  /// The tone curves that it makes; null for filters that make none of the whole frame. The
  /// filter's own.
  [[nodiscard]] virtual FilterCurves* curves() { return nullptr; }
};

/// Configures filters that work one after another, of one backend, and returns the descs behind
/// each. Between two of them frames of 8 bits keep fractions of levels where the first has some and
/// the second takes them, as `equalize` behind `denoise`: no steps are torn open. The second then
/// rounds. Each submit() of a frame must be given the same context, in order.
EQUALUX_EXPORT std::vector<ImageDesc> configure_chain(
    std::span<const std::unique_ptr<Filter>> filters, const ImageDesc& input);

/// Options of the CPU backend.
struct CpuOptions {
  int threads = 0;  ///< 0 = all cores
};

/// Equalization on the CPU. Throws Error(usage) where params are invalid or need a GPU.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cpu_filter(
    const EqualizeParams& params, const CpuOptions& options = {});

/// Stands in for a device's number: a filter that never chooses a device, and works in whatever
/// CUDA context is current in the thread that calls it. That must be the same one in every call
/// from configure() on and in the destructor; making the filter asks CUDA nothing. For callers who
/// hold a context of their own, as GStreamer's CUDA elements do.
inline constexpr int kCurrentContext = -2;

/// Whether a filter that is alone on its device may start a frame's kernel while the one of the
/// frame before it ends.
enum class Launches : std::uint8_t {
  overlapping,  ///< faster for frames in close succession; filters of one copy of this library only
                ///< may use the context
  separate,     ///< right beside anything else
};

/// Options of the CUDA backend.
struct CudaOptions {
  int device = -1;  ///< CUDA's number; -1 = the first with most free memory; or kCurrentContext
  Launches launches = Launches::overlapping;
};

/// Equalization on a GPU: the same bytes as on the CPU. Throws Error(usage) where params are
/// invalid, and Error(unavailable) where no device answers or this build has no CUDA.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cuda_filter(
    const EqualizeParams& params, const CudaOptions& options = {});

/// A filter that `--filter` knows.
struct FilterInfo {
  std::string_view name;
  std::string_view summary;         ///< one line, for --help
  std::span<const Option> options;  ///< what its FilterSpec may set
  /// What hosts call it among their effects; empty = it is none by itself: it is another one with a
  /// key that is set, or makes no pictures.
  std::string_view title;
  std::string_view description;  ///< one sentence without its stop, of an effect
};
/// All filters of this build, in the order of the documentation.
[[nodiscard]] EQUALUX_EXPORT const std::vector<FilterInfo>& filter_list();

/// Every rule that the parameters of a spec break, one clause each; with a backend, what only the
/// other one has. Throws Error(usage) for an unknown filter or key or an unreadable value.
[[nodiscard]] EQUALUX_EXPORT std::vector<std::string> violations(const FilterSpec& spec,
                                                                 const EqualizeParams& equalize,
                                                                 Backend backend);

/// The filter that a spec names, on the CPU; its options may change while frames move, see
/// Filter::update(). `equalize` holds the defaults of every `equalize`; a key on the spec wins.
/// Throws Error(usage) for an unknown filter or key or an invalid value.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cpu_filter(
    const FilterSpec& spec, const EqualizeParams& equalize = {}, const CpuOptions& options = {});

/// The filter that a spec names, on a GPU. Throws as the factories of specs and of GPUs do.
[[nodiscard]] EQUALUX_EXPORT std::unique_ptr<Filter> make_cuda_filter(
    const FilterSpec& spec, const EqualizeParams& equalize, const CudaOptions& options);

/// Name of the SIMD target that the CPU backend runs on this machine, e.g. "AVX3_DL".
[[nodiscard]] EQUALUX_EXPORT std::string cpu_simd_target();

/// The library's version, "major.minor.patch".
[[nodiscard]] EQUALUX_EXPORT std::string_view version();

}  // namespace equalux

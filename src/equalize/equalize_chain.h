#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <equalux/filter.h>

/// Equalization of whole frames: the filter that both backends share, and the interface of the
/// chains that a backend provides.
namespace equalux {

/// Implementation of equalization for the frames of one stream. One thread at a time.
class EqualizeChain {
 public:
  EqualizeChain() = default;
  virtual ~EqualizeChain() = default;
  EqualizeChain(const EqualizeChain&) = delete;
  EqualizeChain& operator=(const EqualizeChain&) = delete;

  /// Sets the format that process() rounds to, where frames carry fractions of levels; nothing =
  /// frames hold whole levels. Call it before configure(); only ChainKind::deep is given a format.
  virtual void round_to(std::optional<PixelFormat> format) { (void)format; }
  /// Allocates for frames of `desc` and forgets earlier frames. May be called again.
  virtual void configure(const ImageDesc& desc) = 0;
  /// Filters one frame of the configured desc. `in` and `out` may be the same memory with the same
  /// strides, unless it rounds. On a GPU it only enqueues, on context.stream.
  virtual void process(const ConstImageView& in, const ImageView& out,
                       const FrameContext& context) = 0;

  // Functions of Filter, called only after configure(). A chain without temporal state has no work
  // here.
  virtual void update(const EqualizeParams& params) { (void)params; }
  virtual void reset() {}
  [[nodiscard]] virtual std::string save() const { return "{}"; }
  virtual void load(std::string_view state) { (void)state; }
  /// Makes the chain add up its curves. Call it before configure().
  virtual void collect_curves() {}
  [[nodiscard]] virtual std::optional<CurveSum> curve_sum() const { return std::nullopt; }
};

/// Kinds of chains.
enum class ChainKind : std::uint8_t {
  fused,   ///< 8 bits a sample: histogram, curve, apply, with no frame in between
  deep,    ///< as fused, for more than 8 bits
  space,   ///< luma and lightness of RGB and gray, by tables
  staged,  ///< published stages over a float HSV image
};

/// Returns the kind that parameters and format need.
[[nodiscard]] ChainKind chain_for(const EqualizeParams& params, PixelFormat format);

/// Interface of a backend for make_equalize_filter().
class EqualizeBackend {
 public:
  EqualizeBackend() = default;
  virtual ~EqualizeBackend() = default;
  EqualizeBackend(const EqualizeBackend&) = delete;
  EqualizeBackend& operator=(const EqualizeBackend&) = delete;

  [[nodiscard]] virtual Backend name() const = 0;
  /// Makes a chain, which may refer to this backend: the backend outlives it.
  [[nodiscard]] virtual std::unique_ptr<EqualizeChain> make_chain(ChainKind kind,
                                                                  const EqualizeParams& params) = 0;
  /// Makes the backend's device that of the calling thread, before a chain is used. Throws
  /// Error(unavailable).
  virtual void enter() const {}
  /// enter() before a chain is destroyed; ignores errors.
  virtual void enter_to_free() const noexcept {}
};

/// Makes the filter over a backend's chains. Throws Error(usage) for invalid parameters.
[[nodiscard]] std::unique_ptr<Filter> make_equalize_filter(
    const EqualizeParams& params, std::unique_ptr<EqualizeBackend> backend);

}  // namespace equalux

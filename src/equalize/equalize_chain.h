#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <equalux/filter.h>

/// Equalization of whole frames: the filter that both backends share, and the chains that a backend
/// brings for it.
namespace equalux {

/// Equalizes the frames of one stream, in one way. One thread at a time.
class EqualizeChain {
 public:
  EqualizeChain() = default;
  virtual ~EqualizeChain() = default;
  EqualizeChain(const EqualizeChain&) = delete;
  EqualizeChain& operator=(const EqualizeChain&) = delete;

  /// Called before configure(), whether frames have fractions of the
  /// levels of another format, which process() then rounds to; nothing = they are whole. Only
  /// ChainKind::deep is given a format.
  virtual void round_to(std::optional<PixelFormat> format) { (void)format; }
  /// Allocates for frames of `desc`, and forgets those before. May be called again.
  virtual void configure(const ImageDesc& desc) = 0;
  /// Filters one frame of configure()'s desc; `in` and `out` may be the same memory with the same
  /// strides, where nothing is rounded. On a GPU it only enqueues, on context.stream.
  virtual void process(const ConstImageView& in, const ImageView& out,
                       const FrameContext& context) = 0;

  // As of a Filter, and only after configure(). A chain without a history has nothing to keep.
  virtual void update(const EqualizeParams& params) { (void)params; }
  virtual void reset() {}
  [[nodiscard]] virtual std::string save() const { return "{}"; }
  virtual void load(std::string_view state) { (void)state; }
  /// Called before configure(): has the chain add up its curves.
  virtual void collect_curves() {}
  [[nodiscard]] virtual std::optional<CurveSum> curve_sum() const { return std::nullopt; }
};

/// The ways there are.
enum class ChainKind : std::uint8_t {
  fused,   ///< 8 bits a sample: histogram, curve, apply, without a frame in between
  deep,    ///< the same for more than 8 bits
  space,   ///< luma and lightness of RGB and gray, by tables
  staged,  ///< the published one, stage by stage over a float HSV image
};

/// Which of them serves.
[[nodiscard]] ChainKind chain_for(const EqualizeParams& params, PixelFormat format);

/// What a backend brings for make_equalize_filter().
class EqualizeBackend {
 public:
  EqualizeBackend() = default;
  virtual ~EqualizeBackend() = default;
  EqualizeBackend(const EqualizeBackend&) = delete;
  EqualizeBackend& operator=(const EqualizeBackend&) = delete;

  [[nodiscard]] virtual Backend name() const = 0;
  /// May refer to this backend, which outlives it.
  [[nodiscard]] virtual std::unique_ptr<EqualizeChain> make_chain(ChainKind kind,
                                                                  const EqualizeParams& params) = 0;
  /// Called before a chain is used: makes its device the thread's. Throws Error(unavailable).
  virtual void enter() const {}
  /// Called before a chain is destroyed; errors are ignored.
  virtual void enter_to_free() const noexcept {}
};

/// The filter over a backend's chains. Throws Error(usage) for invalid parameters.
[[nodiscard]] std::unique_ptr<Filter> make_equalize_filter(
    const EqualizeParams& params, std::unique_ptr<EqualizeBackend> backend);

}  // namespace equalux

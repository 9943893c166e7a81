#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <equalux/clahe.h>

/// Equalization of tiles: the filter that both backends share, and the interface of the chains that
/// a backend provides.
namespace equalux {

/// Implementation of tiles for the frames of one stream. One thread at a time.
class TileChain {
 public:
  TileChain() = default;
  virtual ~TileChain() = default;
  TileChain(const TileChain&) = delete;
  TileChain& operator=(const TileChain&) = delete;

  /// Allocates for frames of `desc`. Called once.
  virtual void configure(const ImageDesc& desc) = 0;
  /// Filters one frame of the configured desc; `in` and `out` may be the same memory with the same
  /// strides. On a GPU it only enqueues, on context.stream.
  virtual void process(const ConstImageView& in, const ImageView& out,
                       const FrameContext& context) = 0;
  /// Takes other parameters, with the same number of tiles, for the frames to come.
  virtual void update(const ClaheParams& params) = 0;

  // Functions of Filter, called only after configure(). A chain without temporal state has no work
  // here.
  virtual void reset() {}
  [[nodiscard]] virtual std::string save() const { return "{}"; }
  virtual void load(std::string_view state) { (void)state; }
};

/// Kinds of chains.
enum class TileKind : std::uint8_t {
  tiles,   ///< 8 bits a sample
  deep,    ///< more than 8 bits a sample
  opencv,  ///< the bytes of cv::createCLAHE
};

/// Returns the kind that parameters and format need.
[[nodiscard]] TileKind tile_kind(const ClaheParams& params, PixelFormat format);

/// Interface of a backend for make_clahe_filter().
class ClaheBackend {
 public:
  ClaheBackend() = default;
  virtual ~ClaheBackend() = default;
  ClaheBackend(const ClaheBackend&) = delete;
  ClaheBackend& operator=(const ClaheBackend&) = delete;

  [[nodiscard]] virtual Backend name() const = 0;
  /// Makes a chain, which may refer to this backend: the backend outlives it.
  [[nodiscard]] virtual std::unique_ptr<TileChain> make_chain(TileKind kind,
                                                              const ClaheParams& params) = 0;
  /// Makes the backend's device that of the calling thread, before a chain is used. Throws
  /// Error(unavailable).
  virtual void enter() const {}
  /// Waits for the frames under way, which may still use a chain, before it is replaced. Throws
  /// Error(unavailable).
  virtual void finish_frames() const {}
  /// enter() before the filter is destroyed; ignores errors.
  virtual void enter_to_free() const noexcept {}
};

/// Makes the filter over a backend's chains. Throws Error(usage) for invalid parameters.
[[nodiscard]] std::unique_ptr<Filter> make_clahe_filter(const ClaheParams& params,
                                                        std::unique_ptr<ClaheBackend> backend);

}  // namespace equalux

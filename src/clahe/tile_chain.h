#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <equalux/clahe.h>

/// Equalization of tiles: the filter that both backends share, and the chains that a backend
/// brings for it.
namespace equalux {

/// Equalizes the tiles of one stream's frames, in one way. One thread at a time.
class TileChain {
 public:
  TileChain() = default;
  virtual ~TileChain() = default;
  TileChain(const TileChain&) = delete;
  TileChain& operator=(const TileChain&) = delete;

  /// Allocates for frames of `desc`, and forgets those before. Called once.
  virtual void configure(const ImageDesc& desc) = 0;
  /// Filters one frame of configure()'s desc; `in` and `out` may be the same memory with the same
  /// strides. On a GPU it only enqueues, on context.stream.
  virtual void process(const ConstImageView& in, const ImageView& out,
                       const FrameContext& context) = 0;
  /// Takes other parameters of as many tiles for the frames to come.
  virtual void update(const ClaheParams& params) = 0;

  // As of a Filter, and only after configure(). A chain without a history has nothing to keep.
  virtual void reset() {}
  [[nodiscard]] virtual std::string save() const { return "{}"; }
  virtual void load(std::string_view state) { (void)state; }
};

/// The ways there are.
enum class TileKind : std::uint8_t {
  tiles,   ///< 8 bits a sample
  deep,    ///< more than 8 bits a sample
  opencv,  ///< the bytes of cv::createCLAHE
};

/// Which of them serves.
[[nodiscard]] TileKind tile_kind(const ClaheParams& params, PixelFormat format);

/// What a backend brings for make_clahe_filter().
class ClaheBackend {
 public:
  ClaheBackend() = default;
  virtual ~ClaheBackend() = default;
  ClaheBackend(const ClaheBackend&) = delete;
  ClaheBackend& operator=(const ClaheBackend&) = delete;

  [[nodiscard]] virtual Backend name() const = 0;
  /// May refer to this backend, which outlives it.
  [[nodiscard]] virtual std::unique_ptr<TileChain> make_chain(TileKind kind,
                                                              const ClaheParams& params) = 0;
  /// Called before a chain is used: makes its device the thread's. Throws Error(unavailable).
  virtual void enter() const {}
  /// Called before a chain is destroyed for another: waits for the frames under way, which may
  /// still read what it holds. Throws Error(unavailable).
  virtual void finish_frames() const {}
  /// Called before the filter goes; errors are ignored.
  virtual void enter_to_free() const noexcept {}
};

/// The filter over a backend's chains. Throws Error(usage) for invalid parameters.
[[nodiscard]] std::unique_ptr<Filter> make_clahe_filter(const ClaheParams& params,
                                                        std::unique_ptr<ClaheBackend> backend);

}  // namespace equalux

#pragma once

#include <obs.h>

#include "pipelines/obs/effect.h"

/// The filter for sources that OBS draws: pictures are downloaded from the GPU, filtered, and
/// uploaded again, once for each frame of OBS.
namespace equalux::obs {

/// Filters drawn pictures. For OBS's graphics thread.
class TextureFilter {
 public:
  TextureFilter() = default;
  ~TextureFilter();
  TextureFilter(const TextureFilter&) = delete;
  TextureFilter& operator=(const TextureFilter&) = delete;

  /// Begins the next frame of OBS, which makes the last picture outdated.
  void tick() { state_ = State::old; }
  /// Draws what precedes the filter `self`, filtered or unchanged.
  void render(obs_source_t* self, Effect& effect);
  /// Times of frames, from download to upload.
  [[nodiscard]] const FrameCost& cost() const { return cost_; }

 private:
  enum class State : std::uint8_t { old, filtered, as_it_is };

  void release();
  bool allocate(std::uint32_t width, std::uint32_t height);
  bool filter(obs_source_t* target, obs_source_t* parent, Effect& effect);

  std::uint32_t width_ = 0;
  std::uint32_t height_ = 0;
  gs_texrender_t* drawn_ = nullptr;
  gs_stagesurf_t* staged_ = nullptr;
  gs_texture_t* filtered_ = nullptr;
  State state_ = State::old;
  FrameCost cost_;
};

}  // namespace equalux::obs

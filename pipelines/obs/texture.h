#pragma once

#include <obs.h>

#include "pipelines/obs/effect.h"

/// The filter of sources that OBS draws: pictures come back from the GPU, are filtered, and go up
/// again, once for each frame of OBS.
namespace equalux::obs {

/// Belongs to OBS's graphics thread.
class TextureFilter {
 public:
  TextureFilter() = default;
  ~TextureFilter();
  TextureFilter(const TextureFilter&) = delete;
  TextureFilter& operator=(const TextureFilter&) = delete;

  /// The next frame of OBS begins: what was drawn is old.
  void tick() { state_ = State::old; }
  /// Draws what stands in front of the filter `self`, filtered, or as it is.
  void render(obs_source_t* self, Effect& effect);
  /// Of frames, from the GPU to the GPU.
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

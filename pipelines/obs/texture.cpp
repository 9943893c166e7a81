#include "pipelines/obs/texture.h"

#include <chrono>

#include <graphics/vec4.h>

namespace equalux::obs {
namespace {

constexpr const char* kPasses = "; frames pass as they are";

/// Draws the source before the filter into the bound target.
void draw_target(obs_source_t* target, obs_source_t* parent) {
  const std::uint32_t flags = obs_source_get_output_flags(target);
  const bool draws_itself = (flags & (OBS_SOURCE_CUSTOM_DRAW | OBS_SOURCE_ASYNC)) != 0;
  if (target == parent && !draws_itself) {
    obs_source_default_render(target);
  } else {
    obs_source_video_render(target);
  }
}

void draw(gs_texture_t* texture) {
  gs_effect_t* effect = obs_get_base_effect(OBS_EFFECT_DEFAULT);
  const bool before = gs_framebuffer_srgb_enabled();
  gs_enable_framebuffer_srgb(true);
  gs_effect_set_texture_srgb(gs_effect_get_param_by_name(effect, "image"), texture);
  // The colours are premultiplied by alpha.
  gs_blend_state_push();
  gs_blend_function(GS_BLEND_ONE, GS_BLEND_INVSRCALPHA);
  while (gs_effect_loop(effect, "Draw"))
    gs_draw_sprite(texture, 0, 0, 0);
  gs_blend_state_pop();
  gs_enable_framebuffer_srgb(before);
}

}  // namespace

TextureFilter::~TextureFilter() {
  obs_enter_graphics();
  release();
  obs_leave_graphics();
}

void TextureFilter::release() {
  gs_texrender_destroy(drawn_);
  gs_stagesurface_destroy(staged_);
  gs_texture_destroy(filtered_);
  drawn_ = nullptr;
  staged_ = nullptr;
  filtered_ = nullptr;
}

/// Allocates; returns false where OBS cannot, which is not tried again for this size.
bool TextureFilter::allocate(std::uint32_t width, std::uint32_t height) {
  if (width == width_ && height == height_) return filtered_ != nullptr;
  release();
  width_ = width;
  height_ = height;
  drawn_ = gs_texrender_create(GS_RGBA, GS_ZS_NONE);
  staged_ = gs_stagesurface_create(width, height, GS_RGBA);
  if (drawn_ != nullptr && staged_ != nullptr)
    filtered_ = gs_texture_create(width, height, GS_RGBA, 1, nullptr, GS_DYNAMIC);
  return filtered_ != nullptr;
}

/// Fills filtered_. Returns false where frames have to pass unchanged.
bool TextureFilter::filter(obs_source_t* target, obs_source_t* parent, Effect& effect) {
  using Clock = std::chrono::steady_clock;
  const std::uint32_t width = obs_source_get_base_width(target);
  const std::uint32_t height = obs_source_get_base_height(target);
  if (width == 0 || height == 0) return false;
  const gs_color_space wanted = GS_CS_SRGB;
  if (obs_source_get_color_space(target, 1, &wanted) != GS_CS_SRGB) {
    effect.tell("the source has more than 8 bits a sample (HDR)", kPasses);
    return false;
  }
  if (!allocate(width, height)) {
    effect.tell("OBS has no texture of the source's size", kPasses);
    return false;
  }

  gs_texrender_reset(drawn_);
  gs_blend_state_push();
  gs_blend_function_separate(GS_BLEND_SRCALPHA, GS_BLEND_ZERO, GS_BLEND_ONE, GS_BLEND_ZERO);
  const bool begun = gs_texrender_begin(drawn_, width, height);
  if (begun) {
    vec4 nothing;
    vec4_zero(&nothing);
    gs_clear(GS_CLEAR_COLOR, &nothing, 0.0F, 0);
    gs_ortho(0.0F, static_cast<float>(width), 0.0F, static_cast<float>(height), -100.0F, 100.0F);
    draw_target(target, parent);
    gs_texrender_end(drawn_);
  }
  gs_blend_state_pop();
  if (!begun) return false;

  const auto begin = Clock::now();
  gs_stage_texture(staged_, gs_texrender_get_texture(drawn_));
  ImageView in{{PixelFormat::rgba, static_cast<int>(width), static_cast<int>(height)}, {}, {}};
  ImageView out = in;
  std::uint32_t stride = 0;
  if (!gs_stagesurface_map(staged_, in.data.data(), &stride)) return false;
  in.stride[0] = static_cast<std::ptrdiff_t>(stride);
  bool filtered = false;
  if (gs_texture_map(filtered_, out.data.data(), &stride)) {
    out.stride[0] = static_cast<std::ptrdiff_t>(stride);
    filtered = effect.filter(in, out, static_cast<std::int64_t>(obs_get_video_frame_time()),
                             FieldOrder::progressive);
    gs_texture_unmap(filtered_);
  }
  gs_stagesurface_unmap(staged_);
  if (filtered) cost_.add(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  return filtered;
}

void TextureFilter::render(obs_source_t* self, Effect& effect) {
  obs_source_t* target = obs_filter_get_target(self);
  obs_source_t* parent = obs_filter_get_parent(self);
  if (state_ == State::old) {
    const bool is_there = target != nullptr && parent != nullptr;
    state_ = is_there && filter(target, parent, effect) ? State::filtered : State::as_it_is;
  }
  if (state_ == State::filtered) {
    draw(filtered_);
  } else {
    obs_source_skip_video_filter(self);
  }
}

}  // namespace equalux::obs

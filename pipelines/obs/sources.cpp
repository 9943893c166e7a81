#include "pipelines/obs/sources.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include <util/base.h>

#include "pipelines/obs/effect.h"
#include "pipelines/obs/frames.h"
#include "pipelines/obs/settings.h"
#include "pipelines/obs/texture.h"

namespace equalux::obs {
namespace {

constexpr Kind kKinds[] = {{"equalux_filter", "equalux", "equalize"},
                           {"equalux_denoise_filter", "equalux denoise", "denoise"},
                           {"equalux_clahe_filter", "equalux clahe", "clahe"}};

const FilterInfo& filter_of(const Kind& kind) {
  return *std::find_if(filter_list().begin(), filter_list().end(),
                       [&](const FilterInfo& each) { return each.name == kind.filter; });
}

/// Returns a filter's name for log lines; plugins and scripts may make filters without one.
const char* name_of(const Kind& kind, const obs_source_t* source) {
  const char* name = obs_source_get_name(source);
  return name == nullptr ? kind.name : name;
}

/// One filter on one source.
struct Instance {
  Instance(const Kind& kind, obs_source_t* source)
      : info(filter_of(kind)), self(source), effect(name_of(kind, source)) {}

  void update(obs_data_t* settings) {
    try {
      take_preset(info, settings, values);
      values = values_of(info, settings);
      effect.set(recipe_from_values(info, values), split_of(settings));
    } catch (const std::exception& error) {
      effect.tell(error.what(), "; it stays as it was");
    }
  }

  const FilterInfo& info;
  obs_source_t* self;
  OptionValues values;  ///< those of the last update
  Effect effect;
  TextureFilter texture;
};

Instance& instance(void* data) {
  return *static_cast<Instance*>(data);
}

const FilterInfo& info_of(void* kind) {
  return filter_of(*static_cast<const Kind*>(kind));
}

const char* get_name(void* kind) {
  return static_cast<const Kind*>(kind)->name;
}

void* create(obs_data_t* settings, obs_source_t* source) {
  const std::string_view id = obs_source_get_unversioned_id(source);
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Kind& each) { return each.id == id; });
  if (kind == std::end(kKinds)) return nullptr;
  try {
    auto* made = new Instance(*kind, source);
    made->update(settings);
    return made;
  } catch (const std::exception& error) {
    blog(LOG_ERROR, "[equalux] '%s': %s", name_of(*kind, source), error.what());
    return nullptr;
  }
}

/// Logs the times of a filter's frames.
void tell_cost(const Instance& of) {
  const FrameCost filter = of.effect.cost();
  if (filter.frames == 0) return;
  const FrameCost& drawn = of.texture.cost();
  const std::string way =
      drawn.frames > 0 ? "; with the way from and to the GPU " + drawn.text() : std::string();
  blog(LOG_INFO, "[equalux] '%s': %llu frames filtered, %s%s", of.effect.name().c_str(),
       static_cast<unsigned long long>(filter.frames), filter.text().c_str(), way.c_str());
}

void destroy(void* data) {
  const std::unique_ptr<Instance> gone(&instance(data));
  try {
    tell_cost(*gone);
  } catch (const std::exception&) {
    // Memory is short, so that nothing can be logged.
  }
}

void update(void* data, obs_data_t* settings) {
  instance(data).update(settings);
}

obs_source_frame* filter_video(void* data, obs_source_frame* frame) {
  Instance& self = instance(data);
  const std::optional<ImageView> view = view_of(*frame);
  if (view) {
    // An error is logged, and leaves the frame unchanged.
    (void)self.effect.filter(*view, *view, static_cast<std::int64_t>(frame->timestamp),
                             field_order_of(obs_filter_get_parent(self.self)));
  } else {
    self.effect.tell(get_video_format_name(frame->format),
                     " is a format that cannot be filtered; frames pass as they are");
  }
  return frame;
}

void video_tick(void* data, float) {
  instance(data).texture.tick();
}

/// Does nothing for sources whose frames come through filter_video().
void video_render(void* data, gs_effect_t*) {
  Instance& self = instance(data);
  const obs_source_t* parent = obs_filter_get_parent(self.self);
  if (parent != nullptr && (obs_source_get_output_flags(parent) & OBS_SOURCE_ASYNC) != 0) {
    obs_source_skip_video_filter(self.self);
  } else {
    self.texture.render(self.self, self.effect);
  }
}

gs_color_space video_get_color_space(void* data, std::size_t count,
                                     const gs_color_space* preferred) {
  obs_source_t* target = obs_filter_get_target(instance(data).self);
  return target == nullptr ? GS_CS_SRGB : obs_source_get_color_space(target, count, preferred);
}

}  // namespace

std::span<const Kind> kinds() {
  return kKinds;
}

obs_source_info source_info(const Kind& kind) {
  obs_source_info info{};
  info.id = kind.id;
  info.type = OBS_SOURCE_TYPE_FILTER;
  // Not restricted to asynchronous sources, whose frames come through filter_video() all the same.
  info.output_flags = OBS_SOURCE_VIDEO | OBS_SOURCE_SRGB;
  info.type_data = const_cast<Kind*>(&kind);
  info.get_name = get_name;
  info.create = create;
  info.destroy = destroy;
  info.get_defaults2 = [](void* type, obs_data_t* settings) {
    set_defaults(info_of(type), settings);
  };
  info.get_properties2 = [](void*, void* type) { return make_properties(info_of(type)); };
  info.update = update;
  info.filter_video = filter_video;
  info.video_tick = video_tick;
  info.video_render = video_render;
  info.video_get_color_space = video_get_color_space;
  return info;
}

}  // namespace equalux::obs

// Implements frei0r's interface (specification 1.2) for the filter that EQUALUX_FREI0R_FILTER
// names.
#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "pipelines/frei0r/frei0r_effect.h"

// Exports the interface's functions, and nothing else.
#pragma GCC visibility push(default)
extern "C" {
#include <frei0r.h>
}
#pragma GCC visibility pop

namespace {

using namespace equalux;
using Type = EffectParameter::Type;

const FilterInfo& filter() {
  static const FilterInfo& found =
      *std::find_if(filter_list().begin(), filter_list().end(),
                    [](const FilterInfo& each) { return each.name == EQUALUX_FREI0R_FILTER; });
  return found;
}

const std::vector<EffectParameter>& parameters() {
  static const std::vector<EffectParameter> all = effect_parameters(filter());
  return all;
}

Frei0rEffect& effect(f0r_instance_t instance) {
  return *static_cast<Frei0rEffect*>(instance);
}

bool is_parameter(int index) {
  return index >= 0 && static_cast<std::size_t>(index) < parameters().size();
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): frei0r's names.
extern "C" {

int f0r_init() {
  return 1;
}

void f0r_deinit() {}

void f0r_get_plugin_info(f0r_plugin_info_t* info) {
  static const std::string name = [] {
    const std::string of(filter().name);
    return of == "equalize" ? std::string("equalux") : "equalux-" + of;
  }();
  static const std::string explanation(filter().summary);
  info->name = name.c_str();
  info->author = "the authors of equalux";
  info->plugin_type = F0R_PLUGIN_TYPE_FILTER;
  info->color_model = F0R_COLOR_MODEL_RGBA8888;
  info->frei0r_version = FREI0R_MAJOR_VERSION;
  info->major_version = EQUALUX_FREI0R_MAJOR;
  info->minor_version = EQUALUX_FREI0R_MINOR;
  info->num_params = static_cast<int>(parameters().size());
  info->explanation = explanation.c_str();
}

void f0r_get_param_info(f0r_param_info_t* info, int index) {
  if (!is_parameter(index)) return;
  const EffectParameter& parameter = parameters()[static_cast<std::size_t>(index)];
  info->name = parameter.name.c_str();
  info->explanation = parameter.help.c_str();
  info->type = parameter.type == Type::number  ? F0R_PARAM_DOUBLE
               : parameter.type == Type::onoff ? F0R_PARAM_BOOL
                                               : F0R_PARAM_STRING;
}

f0r_instance_t f0r_construct(unsigned int width, unsigned int height) {
  try {
    return new Frei0rEffect(filter(), parameters(), width, height);
  } catch (const std::exception&) {
    return nullptr;
  }
}

void f0r_destruct(f0r_instance_t instance) {
  delete static_cast<Frei0rEffect*>(instance);
}

void f0r_set_param_value(f0r_instance_t instance, f0r_param_t value, int index) {
  if (instance == nullptr || value == nullptr || !is_parameter(index)) return;
  const auto at = static_cast<std::size_t>(index);
  const EffectParameter& parameter = parameters()[at];
  switch (parameter.type) {
    case Type::number:
      return effect(instance).set_position(at, *static_cast<f0r_param_double*>(value));
    case Type::onoff:
      return effect(instance).set(at,
                                  *static_cast<f0r_param_bool*>(value) >= 0.5 ? "true" : "false");
    case Type::text:
      break;
  }
  const char* text = *static_cast<f0r_param_string*>(value);
  effect(instance).set(at, text == nullptr ? "" : text);
}

void f0r_get_param_value(f0r_instance_t instance, f0r_param_t value, int index) {
  if (instance == nullptr || value == nullptr || !is_parameter(index)) return;
  const auto at = static_cast<std::size_t>(index);
  const EffectParameter& parameter = parameters()[at];
  const std::string& text = effect(instance).get(at);
  switch (parameter.type) {
    case Type::number:
      *static_cast<f0r_param_double*>(value) = position_of_text(*parameter.option, text);
      return;
    case Type::onoff:
      *static_cast<f0r_param_bool*>(value) = text == "true" ? 1 : 0;
      return;
    case Type::text:
      break;
  }
  // The host may read the text until the value changes.
  *static_cast<f0r_param_string*>(value) = const_cast<char*>(text.c_str());
}

void f0r_update(f0r_instance_t instance, double time, const std::uint32_t* in, std::uint32_t* out) {
  if (instance == nullptr) return;
  effect(instance).update(time, __builtin_return_address(0),
                          reinterpret_cast<const std::uint8_t*>(in),
                          reinterpret_cast<std::uint8_t*>(out));
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

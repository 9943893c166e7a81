#include "pipelines/plugin/properties.h"

#include <algorithm>
#include <cctype>

#include "pipelines/plugin/filter_element.h"
#include "pipelines/plugin/timings_structure.h"
#include "src/options/option_table.h"

namespace equalux::gst {

namespace {

enum FilterProperty : guint {
  kBackend = 1,
  kDevice,
  kThreads,
  kQueueDepth,
  kEnabled,
  kSplit,
  kRegions,
  kMessageTimings,
  kDeviceUsed,
  kLastTimings,
  kFirstOption = 100,  ///< and the following, in the order of the filter's table
};

/// Flags of properties that an application or a control source may change while the stream runs.
constexpr auto kLive = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE);
/// Flags of such properties that control sources cannot change.
constexpr auto kLiveText = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                    GST_PARAM_MUTABLE_PLAYING);
/// Flags of properties that are read when the stream starts.
constexpr auto kReady =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
constexpr auto kReadOnly = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

constexpr int kMostThreads = 1024;
constexpr guint kMostQueueDepth = 16;

/// Returns a copy that lives as long as the program, as GObject needs.
const char* kept(std::string_view text) {
  return g_intern_string(std::string(text).c_str());
}

/// Begins a text with a capital letter, unless its first word must not change.
std::string sentence(std::string_view text) {
  std::string result(text);
  const std::string_view word = text.substr(0, text.find(' '));
  const bool is_word = std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalpha(c) != 0 || c == ',' || c == ';' || c == ':';
  });
  if (is_word && !result.empty()) {
    result.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(result.front())));
  }
  return result;
}

std::string help_of(const OptionName& name) {
  const char* where = name.backends == Backends::cuda  ? " (GPU)"
                      : name.backends == Backends::cpu ? " (CPU)"
                                                       : "";
  return sentence(name.help) + where;
}

/// Registers an enumeration whose nicks are the names. With `automatic`, "auto" is 0 and each
/// name's number is one higher.
GType enum_type(std::string_view type, std::span<const OptionName> names, bool automatic) {
  const std::string type_name = "GstEqualux" + std::string(type);
  if (const GType known = g_type_from_name(type_name.c_str()); known != 0) return known;
  // GObject keeps the table for the life of the program.
  auto* values = g_new0(GEnumValue, names.size() + (automatic ? 2 : 1));
  gint n = 0;
  if (automatic) values[n++] = {0, "What fits best", "auto"};
  for (const OptionName& name : names) {
    values[n] = {n, kept(help_of(name)), kept(name.name)};
    ++n;
  }
  return g_enum_register_static(type_name.c_str(), values);
}

bool may_be_unset(const Option& option) {
  return !option.unset.empty();
}

/// Returns the number that stands for an option that is not set.
double unset_number(const Option& option) {
  return option.least > 0 ? 0 : -1;
}

/// Returns the least number of a property: 0 if that has a meaning of its own.
double least_of(const Option& option) {
  if (may_be_unset(option)) return unset_number(option);
  if (!option.word.empty()) return kWordNumber;
  return option.zero_means.empty() ? option.least : std::min(option.least, 0.0);
}

std::string first_text(const Option& option) {
  return option.shown.empty() ? option.fallback : std::string(option.shown);
}

/// Returns the number of a name in its enumeration.
gint enum_number(const Option& option, const std::string& text) {
  const auto at = std::find_if(option.names.begin(), option.names.end(),
                               [&text](const OptionName& name) { return name.name == text; });
  const auto number = static_cast<gint>(at - option.names.begin());
  if (!may_be_unset(option)) return number;
  return at == option.names.end() ? 0 : number + 1;
}

std::string enum_text(const Option& option, gint number) {
  const gint index = may_be_unset(option) ? number - 1 : number;
  return index < 0 ? "" : std::string(option.names[static_cast<std::size_t>(index)].name);
}

double number_of(const Option& option, const std::string& text) {
  if (!option.word.empty() && text == option.word) return kWordNumber;
  return text.empty() ? unset_number(option) : number_from<double>(text).value_or(0);
}

std::string number_text_of(const Option& option, double number) {
  if (!option.word.empty() && number == kWordNumber) return std::string(option.word);
  const bool unset = may_be_unset(option) && number < option.least;
  return unset ? std::string() : number_text(number);
}

/// Returns the help that gst-inspect shows, which lists names and their meanings itself.
std::string blurb_of(const Option& option) {
  Option bare = option;
  bare.names = {};
  std::string text = sentence(option_help(bare));
  if (!option.word.empty())
    return text + " (" + number_text(kWordNumber) + " = " + std::string(option.word) + ")";
  if (!may_be_unset(option) || !option.names.empty()) return text;
  const bool is_number = option.type == OptionType::number || option.type == OptionType::whole;
  const std::string none = is_number ? number_text(unset_number(option)) : "null";
  return text + " (" + none + " = " + std::string(option.unset) + ")";
}

GParamSpec* spec_for(const Option& option) {
  const char* name = kept(option.key);
  const char* nick = kept(option.title);
  const char* blurb = kept(blurb_of(option));
  const std::string first = first_text(option);
  const GParamFlags flags = option.decides_format ? kLiveText : kLive;
  switch (option.type) {
    case OptionType::number:
      return g_param_spec_double(name, nick, blurb, least_of(option), option.most,
                                 number_of(option, first), flags);
    case OptionType::whole:
      return g_param_spec_int(name, nick, blurb, static_cast<gint>(least_of(option)),
                              static_cast<gint>(option.most),
                              static_cast<gint>(number_of(option, first)), flags);
    case OptionType::onoff:
      return g_param_spec_boolean(name, nick, blurb, first == "true" ? TRUE : FALSE, flags);
    case OptionType::name:
      return g_param_spec_enum(name, nick, blurb,
                               enum_type(option.names_type, option.names, may_be_unset(option)),
                               enum_number(option, first), flags);
    case OptionType::text:
    case OptionType::file:
      break;
  }
  return g_param_spec_string(name, nick, blurb, first.empty() ? nullptr : first.c_str(), kLiveText);
}

std::string text_from(const Option& option, const GValue* value) {
  switch (option.type) {
    case OptionType::number:
      return number_text_of(option, g_value_get_double(value));
    case OptionType::whole:
      return number_text_of(option, g_value_get_int(value));
    case OptionType::onoff:
      return g_value_get_boolean(value) != FALSE ? "true" : "false";
    case OptionType::name:
      return enum_text(option, g_value_get_enum(value));
    case OptionType::text:
    case OptionType::file:
      break;
  }
  const char* text = g_value_get_string(value);
  return text == nullptr ? first_text(option) : text;
}

void set_value(const Option& option, const std::string& text, GValue* value) {
  switch (option.type) {
    case OptionType::number:
      g_value_set_double(value, number_of(option, text));
      return;
    case OptionType::whole:
      g_value_set_int(value, static_cast<gint>(number_of(option, text)));
      return;
    case OptionType::onoff:
      g_value_set_boolean(value, text == "true" ? TRUE : FALSE);
      return;
    case OptionType::name:
      g_value_set_enum(value, enum_number(option, text));
      return;
    case OptionType::text:
    case OptionType::file:
      g_value_set_string(value, text.empty() ? nullptr : text.c_str());
  }
}

void install_backend_properties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kBackend,
      g_param_spec_enum(
          "backend", "Backend", "Where frames are filtered; cpu keeps CUDA memory out of the caps",
          enum_type(names_of_enum<Backend>().type, names_of_enum<Backend>().names, false),
          static_cast<int>(Backend::automatic), kReady));
  g_object_class_install_property(
      klass, kDevice,
      g_param_spec_int(
          "cuda-device-id", "CUDA device",
          "Number of the GPU (-1 = that of the buffers or neighbours, else the one with "
          "most free memory)",
          -1, G_MAXINT, -1, kReady));
  g_object_class_install_property(
      klass, kThreads,
      g_param_spec_int("threads", "Threads", "Threads of the CPU backend (0 = all cores)", 0,
                       kMostThreads, 0, kReady));
  g_object_class_install_property(
      klass, kQueueDepth,
      g_param_spec_uint("queue-depth", "Queue depth",
                        "Frames held back while later ones are uploaded and filtered (0 = none); "
                        "each adds the time of a frame to the latency",
                        0, kMostQueueDepth, 0, kReady));
}

void install_picture_properties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kEnabled,
      g_param_spec_boolean("enabled", "Enabled", "Filter; otherwise frames go through untouched",
                           TRUE, kLive));
  g_object_class_install_property(
      klass, kSplit,
      g_param_spec_double("split", "Split",
                          "Share of the width, from the left, that stays as it was", 0, 1, 0,
                          kLive));
  g_object_class_install_property(
      klass, kRegions,
      g_param_spec_boolean(
          "regions", "Regions",
          "Filter only what region-of-interest metas enclose, each as a picture of its own", FALSE,
          kLive));
}

void install_report_properties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kMessageTimings,
      g_param_spec_boolean("message-timings", "Message timings",
                           "Post an element message equalux-timings for each frame", FALSE,
                           kLiveText));
  g_object_class_install_property(
      klass, kDeviceUsed,
      g_param_spec_string("device-used", "Device used", "Backend and device that filter the stream",
                          nullptr, kReadOnly));
  g_object_class_install_property(klass, kLastTimings,
                                  g_param_spec_boxed("last-timings", "Last timings",
                                                     "What the last frame cost, in milliseconds",
                                                     GST_TYPE_STRUCTURE, kReadOnly));
}

/// Returns the filter's option for a property's number; null where it has none.
const Option* option_of(GstEqualuxFilter* self, guint id) {
  const std::span<const Option> options = GST_EQUALUX_FILTER_GET_CLASS(self)->filter->options;
  return id < kFirstOption || id - kFirstOption >= options.size() ? nullptr
                                                                  : &options[id - kFirstOption];
}

void set_option_property(GstEqualuxFilter* self, guint id, const GValue* value, GParamSpec* spec) {
  const Option* option = option_of(self, id);
  if (option == nullptr) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(self, id, spec);
    return;
  }
  std::string& held = (*self->texts)[id - kFirstOption];
  std::string text = text_from(*option, value);
  if (text == held) return;  // A control source sets the same value for every frame.
  held = std::move(text);
  ++self->changes->recipe;
}

void set_filter_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  auto* self = GST_EQUALUX_FILTER(object);
  const ObjectLock lock(self);
  FilterSettings& settings = *self->settings;
  switch (id) {
    case kBackend:
      settings.backend = static_cast<Backend>(g_value_get_enum(value));
      break;
    case kDevice:
      settings.device = g_value_get_int(value);
      break;
    case kThreads:
      settings.threads = g_value_get_int(value);
      break;
    case kQueueDepth:
      settings.queue_depth = g_value_get_uint(value);
      break;
    case kEnabled:
      settings.enabled = g_value_get_boolean(value) != FALSE;
      break;
    case kSplit:
      settings.split = g_value_get_double(value);
      break;
    case kRegions:
      settings.regions = g_value_get_boolean(value) != FALSE;
      break;
    case kMessageTimings:
      settings.message_timings = g_value_get_boolean(value) != FALSE;
      break;
    default:
      set_option_property(self, id, value, spec);
      return;
  }
  ++self->changes->settings;
}

void get_filter_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  auto* self = GST_EQUALUX_FILTER(object);
  const ObjectLock lock(self);
  const FilterSettings& settings = *self->settings;
  const FilterReport& report = *self->report;
  switch (id) {
    case kBackend:
      g_value_set_enum(value, static_cast<int>(settings.backend));
      break;
    case kDevice:
      g_value_set_int(value, settings.device);
      break;
    case kThreads:
      g_value_set_int(value, settings.threads);
      break;
    case kQueueDepth:
      g_value_set_uint(value, settings.queue_depth);
      break;
    case kEnabled:
      g_value_set_boolean(value, settings.enabled ? TRUE : FALSE);
      break;
    case kSplit:
      g_value_set_double(value, settings.split);
      break;
    case kRegions:
      g_value_set_boolean(value, settings.regions ? TRUE : FALSE);
      break;
    case kMessageTimings:
      g_value_set_boolean(value, settings.message_timings ? TRUE : FALSE);
      break;
    case kDeviceUsed:
      g_value_set_string(value, report.device_used.empty() ? nullptr : report.device_used.c_str());
      break;
    case kLastTimings:
      if (report.last.filtered) g_value_take_boxed(value, timings_structure(report.last).release());
      break;
    default:
      if (const Option* option = option_of(self, id); option != nullptr) {
        set_value(*option, (*self->texts)[id - kFirstOption], value);
      } else {
        G_OBJECT_WARN_INVALID_PROPERTY_ID(self, id, spec);
      }
  }
}

}  // namespace

OptionTexts first_texts(const FilterInfo& filter) {
  OptionTexts texts;
  for (const Option& option : filter.options)
    texts.push_back(first_text(option));
  return texts;
}

FilterSpec spec_of(const FilterInfo& filter, const OptionTexts& texts) {
  FilterSpec spec{std::string(filter.name), {}};
  std::vector<std::string_view> replaced;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Option& option = filter.options[i];
    if (texts[i] == option.fallback) continue;
    spec.options.emplace_back(option.key, texts[i]);
    replaced.push_back(option.replaces);
  }
  std::erase_if(spec.options, [&](const auto& value) {
    return std::find(replaced.begin(), replaced.end(), value.first) != replaced.end();
  });
  return spec;
}

void install_filter_properties(GObjectClass* klass) {
  klass->set_property = set_filter_property;
  klass->get_property = get_filter_property;
  install_backend_properties(klass);
  install_picture_properties(klass);
  install_report_properties(klass);
}

void install_option_properties(GObjectClass* klass, const FilterInfo& filter) {
  // Set in each class: GObject does not inherit them in a class with properties of its own.
  klass->set_property = set_filter_property;
  klass->get_property = get_filter_property;
  guint id = kFirstOption;
  for (const Option& option : filter.options)
    g_object_class_install_property(klass, id++, spec_for(option));
}

}  // namespace equalux::gst

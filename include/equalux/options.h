#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <equalux/export.h>

/// Declarations of filter parameters, one row each, from which help texts, config files, plugins
/// and checks follow. filter_list() has the rows of every filter.
namespace equalux {

/// Backends that have an option or a name.
enum class Backends : std::uint8_t { both, cpu, cuda };

/// Type of an option's value. Hosts hold values as text, see FilterSpec.
enum class OptionType : std::uint8_t {
  number,
  whole,  ///< integer
  onoff,  ///< true or false
  name,   ///< one of a list of names
  text,   ///< free text, whose form the option's `range` explains
  file,   ///< path of a file that is read
};

/// Name that an option takes as its value.
struct OptionName {
  std::string_view name;
  std::string_view help;  ///< meaning, without a full stop
  Backends backends = Backends::both;
};

/// Returns the spellings of names, in order.
[[nodiscard]] inline std::vector<std::string_view> spellings(std::span<const OptionName> names) {
  std::vector<std::string_view> texts;
  for (const OptionName& each : names)
    texts.push_back(each.name);
  return texts;
}

/// Declaration of one parameter of a filter.
struct Option {
  std::string_view key = {};    ///< name in options, config files and properties: "clip-limit"
  std::string_view title = {};  ///< label of a slider: "Clip limit"
  /// Effect, in one line. option_help() inserts the range behind the first clause and appends the
  /// default.
  std::string_view help = {};
  std::string_view group = {};  ///< part of the filter that it belongs to; empty = the whole
  std::string_view value = {};  ///< placeholder of the value in help texts; empty = by type

  // Fields of numeric options.
  double least = 0;
  double most = 0;
  bool above_least = false;          ///< `least` itself is excluded
  std::string_view unit = {};        ///< "milliseconds"; empty = none
  std::string_view zero_means = {};  ///< meaning of 0, then allowed outside the range; or empty
  std::string_view word = {};  ///< word that may stand in place of a number: "auto"; empty = none
  std::string_view word_means = {};  ///< meaning of the word
  double word_number = 0;            ///< number that keys start from where the word is set
  double step = 0;                   ///< step of sliders and keys; 0 = they do not change it
  double slider_least = 0;           ///< range of a slider; 0 and 0 = all values
  double slider_most = 0;
  std::string_view keys = {};  ///< two letters: the keys of a window that lower and raise it

  std::string_view range = {};  ///< allowed values in words; empty = as least, most and unit say
  /// Value in words where the option is not set; empty = it always has a value.
  std::string_view unset = {};
  std::string_view shown = {};     ///< default of commands that show results; empty = `fallback`
  std::string_view replaces = {};  ///< key of an option that is ignored where this one is set
  bool live = false;               ///< keys of a window, control socket and page can change it
  bool decides_format = false;     ///< the format of results depends on it
  Backends backends = Backends::both;

  // Fields that the option's table fills in from the member that the option sets.
  OptionType type = OptionType::number;
  std::span<const OptionName> names = {};
  std::string_view names_type = {};  ///< hosts' type name of the list, shared by options
  std::string fallback = {};         ///< default, as text; empty = `unset`
};

/// Number that stands for an option's word in parameters, and in hosts whose values are numbers.
inline constexpr double kWordNumber = -1;

/// Keys and values as text, in order.
using OptionValues = std::vector<std::pair<std::string, std::string>>;

/// Returns the values that an option takes: "1 to 255, or 0 for none", "max-abs, min-max or
/// min-max-nonzero".
[[nodiscard]] EQUALUX_EXPORT std::string option_range(const Option& option);
/// Returns an option's help with its range: "steepest rise of the curve, 1 to 255; 0 = none".
[[nodiscard]] EQUALUX_EXPORT std::string option_help(const Option& option);
/// Returns the placeholder of an option's value in help texts: "NAME", "MS", "X,Y,Z".
[[nodiscard]] EQUALUX_EXPORT std::string option_placeholder(const Option& option);
/// Returns the value of an option that nobody sets: "0", "the backend's choice".
[[nodiscard]] EQUALUX_EXPORT std::string option_default(const Option& option);
/// Returns the row of a key, or null.
[[nodiscard]] EQUALUX_EXPORT const Option* find_option(std::span<const Option> options,
                                                       std::string_view key);

/// Names of an enumeration's values, in order, and the type name that hosts use. EQUALUX_ENUM_NAMES
/// declares them; they are defined beside the option table that uses them.
struct EnumNames {
  std::string_view type;
  std::span<const OptionName> names;
};
template <typename Enum>
[[nodiscard]] const EnumNames& names_of_enum();
#define EQUALUX_ENUM_NAMES(Enum) \
  template <>                    \
  EQUALUX_EXPORT const EnumNames& names_of_enum<Enum>();

/// Returns the spelling of an enumerator in options, configs, element nicks and JSON ("min-max").
template <typename Enum>
[[nodiscard]] std::string_view enum_name(Enum value) {
  const std::span<const OptionName> names = names_of_enum<Enum>().names;
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index].name : std::string_view("unknown");
}

/// Returns the enumerator of a spelling, or nothing.
template <typename Enum>
[[nodiscard]] std::optional<Enum> enum_from(std::string_view name) {
  const std::span<const OptionName> names = names_of_enum<Enum>().names;
  const auto at = std::find_if(names.begin(), names.end(),
                               [name](const OptionName& each) { return each.name == name; });
  if (at == names.end()) return std::nullopt;
  return static_cast<Enum>(at - names.begin());
}

/// Returns all spellings, in the enumerators' order.
template <typename Enum>
[[nodiscard]] std::vector<std::string_view> enum_names() {
  return spellings(names_of_enum<Enum>().names);
}

}  // namespace equalux

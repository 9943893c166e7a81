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

/// What is declared of a filter's parameters, one row each: whoever shows them, asks for them or
/// checks them reads it here. filter_list() has the rows of every filter.
namespace equalux {

/// The backends that have something.
enum class Backends : std::uint8_t { both, cpu, cuda };

/// What values of an option are. Hosts hold them as text, see FilterSpec.
enum class OptionType : std::uint8_t {
  number,
  whole,  ///< a whole number
  onoff,  ///< true or false
  name,   ///< one out of a list
  text,   ///< in a form that the option's `range` tells
  file,   ///< the name of a file that is read
};

/// One of the names that an option takes.
struct OptionName {
  std::string_view name;
  std::string_view help;  ///< what it means, without a full stop
  Backends backends = Backends::both;
};

/// The spellings of names, in order.
[[nodiscard]] inline std::vector<std::string_view> spellings(std::span<const OptionName> names) {
  std::vector<std::string_view> texts;
  for (const OptionName& each : names)
    texts.push_back(each.name);
  return texts;
}

/// One parameter of a filter.
struct Option {
  std::string_view key = {};    ///< its name, in text of every kind: "clip-limit"
  std::string_view title = {};  ///< above a slider: "Clip limit"
  /// What it does, in one line. Behind its first clause goes the range, behind all its default;
  /// option_help() puts them together.
  std::string_view help = {};
  std::string_view group = {};  ///< the part of the filter that it belongs to; empty = the whole
  std::string_view value = {};  ///< what stands for it in help texts; empty = by its type

  // Numbers.
  double least = 0;
  double most = 0;
  bool above_least = false;          ///< `least` itself is too small
  std::string_view unit = {};        ///< "milliseconds"; empty = none
  std::string_view zero_means = {};  ///< what 0 means, which is then allowed outside the range
  std::string_view word = {};        ///< stands in place of a number: "auto"; empty = none
  std::string_view word_means = {};  ///< what it means
  double word_number = 0;            ///< from which keys go on where the word stands
  double step = 0;                   ///< of sliders and keys; 0 = they do not change it
  double slider_least = 0;           ///< range of a slider; 0 and 0 in a table = all values
  double slider_most = 0;
  std::string_view keys = {};  ///< two letters: keys of a window that lower and raise it

  std::string_view range = {};  ///< its values, in words; empty = as least, most and unit say
  std::string_view unset = {};  ///< what holds where it is not set; empty = it always has a value
  std::string_view shown = {};  ///< default where results are looked at; empty = `fallback`
  std::string_view replaces = {};  ///< key of the option that is ignored where this one is set
  bool live = false;            ///< the keys of a window, the control socket and the page change it
  bool decides_format = false;  ///< results have another format by it
  Backends backends = Backends::both;

  // What follows from the member that it sets, and is filled in by its table.
  OptionType type = OptionType::number;
  std::span<const OptionName> names = {};
  std::string_view names_type = {};  ///< hosts' name for the list, which options may share
  std::string fallback = {};         ///< the default as a value is written; empty = `unset`
};

/// What parameters, and hosts whose values are numbers alone, have for an option's word.
inline constexpr double kWordNumber = -1;

/// Options with values, as they are written, in order.
using OptionValues = std::vector<std::pair<std::string, std::string>>;

/// The values that an option takes: "1 to 255, or 0 for none", "max-abs, min-max or
/// min-max-nonzero".
[[nodiscard]] EQUALUX_EXPORT std::string option_range(const Option& option);
/// What an option does, with its range: "steepest rise of the curve, 1 to 255; 0 = none".
[[nodiscard]] EQUALUX_EXPORT std::string option_help(const Option& option);
/// What stands for an option's value in help texts: "NAME", "MS", "X,Y,Z".
[[nodiscard]] EQUALUX_EXPORT std::string option_placeholder(const Option& option);
/// What holds where nobody sets an option: "0", "the backend's choice".
[[nodiscard]] EQUALUX_EXPORT std::string option_default(const Option& option);
/// The row of a key; null where there is none.
[[nodiscard]] EQUALUX_EXPORT const Option* find_option(std::span<const Option> options,
                                                       std::string_view key);

/// The names of an enumeration's values, in order, and hosts' name for it. Declared for each by
/// EQUALUX_ENUM_NAMES, and defined beside the table that uses it.
struct EnumNames {
  std::string_view type;
  std::span<const OptionName> names;
};
template <typename Enum>
[[nodiscard]] const EnumNames& names_of_enum();
#define EQUALUX_ENUM_NAMES(Enum) \
  template <>                    \
  EQUALUX_EXPORT const EnumNames& names_of_enum<Enum>();

/// The spelling of an enumerator in options, configs, element nicks and JSON ("min-max").
template <typename Enum>
[[nodiscard]] std::string_view enum_name(Enum value) {
  const std::span<const OptionName> names = names_of_enum<Enum>().names;
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index].name : std::string_view("unknown");
}

/// The enumerator of that spelling, or nothing.
template <typename Enum>
[[nodiscard]] std::optional<Enum> enum_from(std::string_view name) {
  const std::span<const OptionName> names = names_of_enum<Enum>().names;
  const auto at = std::find_if(names.begin(), names.end(),
                               [name](const OptionName& each) { return each.name == name; });
  if (at == names.end()) return std::nullopt;
  return static_cast<Enum>(at - names.begin());
}

/// All spellings, in the enumerators' order.
template <typename Enum>
[[nodiscard]] std::vector<std::string_view> enum_names() {
  return spellings(names_of_enum<Enum>().names);
}

}  // namespace equalux

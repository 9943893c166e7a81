#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <equalux/options.h>
#include <equalux/params.h>

#include "src/options/option_values.h"

/// Tables of options: each declaration tied to the member of a filter's parameters that it sets.
/// Reading, printing and checking values follow from it.
namespace equalux {

using Clauses = std::vector<std::string>;

/// Defines the names of an enumeration, {"name", "what it means"} each in the enumerators' order,
/// and the type name that hosts use.
#define EQUALUX_DEFINE_NAMES(Enum, type, ...)             \
  template <>                                             \
  const EnumNames& names_of_enum<Enum>() {                \
    static constexpr OptionName kNames[] = {__VA_ARGS__}; \
    static constexpr EnumNames kAll{type, kNames};        \
    return kAll;                                          \
  }

/// Defines NAME_options(), set_option() and option_text() of a filter's public header, from the
/// table that NAME_table() returns.
#define EQUALUX_DEFINE_OPTIONS(Params, name)                                      \
  std::span<const Option> name##_options() {                                      \
    return name##_table().options();                                              \
  }                                                                               \
  void set_option(Params& params, std::string_view key, std::string_view value) { \
    name##_table().set(params, key, value);                                       \
  }                                                                               \
  std::string option_text(const Params& params, std::string_view key) {           \
    return name##_table().text(params, key);                                      \
  }

/// Returns the shortest text that reads as the same number; without an exponent for usual
/// magnitudes.
[[nodiscard]] std::string number_text(double number);
/// Returns the option of a key. Throws Error(usage) where the filter `owner` does not have it.
[[nodiscard]] const Option& option_of(std::string_view owner, std::span<const Option> options,
                                      std::string_view key);

/// Returns true for a number that the option allows.
[[nodiscard]] bool in_range(const Option& option, double number);
/// Returns "KEY is VALUE, must be RANGE".
[[nodiscard]] std::string out_of_range(const Option& option, const std::string& value);
/// Returns true where a backend has the option and, for an option of names, the chosen name.
[[nodiscard]] bool backend_has(const Option& option, std::string_view value, Backend backend);

/// Reading, printing and checking of a type's values. Types of a single filter are specialised
/// beside its table.
template <typename T>
struct OptionValue;

template <>
struct OptionValue<double> {
  static constexpr OptionType kType = OptionType::number;
  static double read(const Option& option, std::string_view text);
  static std::string text(double value) { return number_text(value); }
  static void check(const Option& option, double value, Clauses& broken);
};

template <>
struct OptionValue<int> {
  static constexpr OptionType kType = OptionType::whole;
  static int read(const Option& option, std::string_view text);
  static std::string text(int value) { return std::to_string(value); }
  static void check(const Option& option, int value, Clauses& broken);
};

template <>
struct OptionValue<bool> {
  static constexpr OptionType kType = OptionType::onoff;
  static bool read(const Option& option, std::string_view text);
  static std::string text(bool value) { return value ? "true" : "false"; }
  static void check(const Option&, bool, Clauses&) {}
};

template <>
struct OptionValue<std::string> {
  static constexpr OptionType kType = OptionType::text;
  static std::string read(const Option&, std::string_view text) { return std::string(text); }
  static std::string text(const std::string& value) { return value; }
  static void check(const Option&, const std::string&, Clauses&) {}
};

template <typename Enum>
requires std::is_enum_v<Enum>
struct OptionValue<Enum> {
  static constexpr OptionType kType = OptionType::name;
  static const EnumNames& names() { return names_of_enum<Enum>(); }
  /// Reads any name of the enumeration, even if the option does not list it: the filter's rules say
  /// why not.
  static Enum read(const Option& option, std::string_view text) {
    const std::optional<Enum> value = enum_from<Enum>(text);
    if (!value) {
      throw_usage(std::string(option.key) + " is " + quoted(text) + ", must be " +
                  option_range(option));
    }
    return *value;
  }
  static std::string text(Enum value) { return std::string(enum_name(value)); }
  static void check(const Option& option, Enum value, Clauses& broken) {
    if (static_cast<std::size_t>(value) < names_of_enum<Enum>().names.size()) return;
    broken.push_back(std::string(option.key) + " is enumerator " +
                     std::to_string(static_cast<int>(value)) + ", which does not exist");
  }
};

/// Values that may be unset; their text is then empty.
template <typename T>
struct OptionValue<std::optional<T>> {
  static constexpr OptionType kType = OptionValue<T>::kType;
  static const EnumNames& names() requires std::is_enum_v<T> { return OptionValue<T>::names(); }
  static std::optional<T> read(const Option& option, std::string_view text) {
    if (text.empty()) return std::nullopt;
    return OptionValue<T>::read(option, text);
  }
  static std::string text(const std::optional<T>& value) {
    return value ? OptionValue<T>::text(*value) : std::string();
  }
  static void check(const Option& option, const std::optional<T>& value, Clauses& broken) {
    if (value) OptionValue<T>::check(option, *value, broken);
  }
};

/// Option, with its access to the parameters.
template <typename Params>
struct OptionRow {
  Option option;
  std::function<void(const Option&, Params&, std::string_view)> set;
  std::function<std::string(const Params&)> text;
  std::function<void(const Option&, const Params&, Clauses&)> check = [](auto&&...) {};

  /// Ties an option to a member, given by pointers to members from the parameters down.
  template <typename... Path>
  requires(std::is_member_pointer_v<Path>&&...) OptionRow(Option declared, Path... path)
      : option(std::move(declared)) {
    using Member = std::remove_cvref_t<decltype((std::declval<Params&>().*....*path))>;
    using Value = OptionValue<Member>;
    option.type = Value::kType;
    if constexpr (requires { Value::names(); }) {
      if (option.names.empty()) option.names = Value::names().names;
      if (option.names_type.empty()) option.names_type = Value::names().type;
    }
    if (!option.names.empty()) option.type = OptionType::name;
    set = [=](const Option& row, Params& params, std::string_view value) {
      (params.*....*path) = Value::read(row, value);
    };
    text = [=, word = std::string(option.word)](const Params& params) {
      if constexpr (std::is_same_v<Member, double>)
        if (!word.empty() && (params.*....*path) == kWordNumber) return word;
      return Value::text((params.*....*path));
    };
    check = [=](const Option& row, const Params& params, Clauses& broken) {
      Value::check(row, (params.*....*path), broken);
    };
  }

  /// Ties an option to functions, for values that are no member. Only the filter's rules check
  /// them.
  OptionRow(Option declared, OptionType type, decltype(set) how_to_set, decltype(text) how_to_tell)
      : option(std::move(declared)), set(std::move(how_to_set)), text(std::move(how_to_tell)) {
    option.type = type;
  }

  /// Makes an option of parameters that are a member of these and have their own rules.
  template <typename Inner>
  [[nodiscard]] static OptionRow within(Inner Params::*inner, const OptionRow<Inner>& row) {
    return {row.option, row.option.type,
            [=](const Option& self, Params& params, std::string_view value) {
              row.set(self, params.*inner, value);
            },
            [=](const Params& params) { return row.text(params.*inner); }};
  }

  /// Adds a rule that least and most do not express.
  [[nodiscard]] OptionRow where(bool (*holds)(const Params&)) && {
    check = [holds, tell = text](const Option& row, const Params& params, Clauses& broken) {
      if (!holds(params)) broken.push_back(out_of_range(row, tell(params)));
    };
    return std::move(*this);
  }
};

/// Options of one filter.
template <typename Params>
class OptionTable {
 public:
  /// Makes a table; `owner` is the filter's name in error messages.
  OptionTable(std::string_view owner, std::vector<OptionRow<Params>> rows)
      : owner_(owner), rows_(std::move(rows)) {
    for (OptionRow<Params>& row : rows_) {
      row.option.fallback = row.text(Params{});
      if (row.option.slider_most == 0) {
        row.option.slider_least = row.option.zero_means.empty() ? row.option.least : 0;
        row.option.slider_most = row.option.most;
      }
      options_.push_back(row.option);
    }
  }

  [[nodiscard]] std::span<const Option> options() const { return options_; }

  /// Sets an option. Throws Error(usage) for an unknown key or an unreadable value.
  void set(Params& params, std::string_view key, std::string_view value) const {
    const OptionRow<Params>& row = find(key);
    row.set(row.option, params, value);
  }

  [[nodiscard]] std::string text(const Params& params, std::string_view key) const {
    return find(key).text(params);
  }

  /// Returns the options that differ from their defaults.
  [[nodiscard]] OptionValues changed(const Params& params) const {
    OptionValues values;
    for (const OptionRow<Params>& row : rows_) {
      std::string value = row.text(params);
      if (value != row.option.fallback) values.emplace_back(row.option.key, std::move(value));
    }
    return values;
  }

  /// Adds a clause for every value that its option does not allow.
  void check(const Params& params, Clauses& broken) const {
    for (const OptionRow<Params>& row : rows_)
      row.check(row.option, params, broken);
  }

  /// Adds a clause for every value that the backend does not have.
  void check_backend(const Params& params, Backend backend, Clauses& broken) const {
    for (const auto& [key, value] : changed(params)) {
      if (backend_has(find(key).option, value, backend)) continue;
      broken.push_back(key + " " + value +
                       (backend == Backend::cpu
                            ? " exists on the CUDA backend only, must be left out on the CPU"
                            : " exists on the CPU only, must be left out on the CUDA backend"));
    }
  }

  [[nodiscard]] const OptionRow<Params>& find(std::string_view key) const {
    return rows_[static_cast<std::size_t>(&option_of(owner_, options_, key) - options_.data())];
  }

 private:
  std::string_view owner_;
  std::vector<OptionRow<Params>> rows_;
  std::vector<Option> options_;  ///< copies of the rows' options, contiguous
};

}  // namespace equalux

#include "src/options/option_table.h"

#include <cmath>

namespace equalux {
namespace {

/// Range of an option, without the value that 0 stands for.
std::string plain_range(const Option& option) {
  if (!option.range.empty()) return std::string(option.range);
  if (option.least >= option.most) return {};
  std::string text = option.above_least ? "above " : "";
  text += number_text(option.least) + " to " + number_text(option.most);
  return option.unit.empty() ? text : text + " " + std::string(option.unit);
}

/// Names with their meanings, those of a single backend last.
std::string names_help(const Option& option) {
  const auto list = [&option](Backends backends) {
    std::vector<std::string> texts;
    for (const OptionName& each : option.names) {
      if (each.backends != backends) continue;
      texts.emplace_back(each.name);
      if (!each.help.empty()) texts.back() += " (" + std::string(each.help) + ")";
    }
    return list_of_names(texts);
  };
  const std::string cpu = list(Backends::cpu);
  const std::string cuda = list(Backends::cuda);
  return list(Backends::both) + (cpu.empty() ? "" : "; on the CPU also " + cpu) +
         (cuda.empty() ? "" : "; on CUDA also " + cuda);
}

}  // namespace

std::string number_text(double number) {
  // Shortest forms may have an exponent, as 1e+05 for 100000, which no user writes.
  const double size = std::abs(number);
  const bool usual = number == 0 || (size >= 1e-6 && size < 1e15);
  char text[64];
  const auto [end, error] =
      std::to_chars(std::begin(text), std::end(text), number,
                    usual ? std::chars_format::fixed : std::chars_format::general);
  return {std::begin(text), end};
}

bool in_range(const Option& option, double number) {
  if (number == 0 && !option.zero_means.empty()) return true;
  if (number == kWordNumber && !option.word.empty()) return true;
  const bool enough = option.above_least ? number > option.least : number >= option.least;
  return enough && number <= option.most;  // false for NaN
}

std::string out_of_range(const Option& option, const std::string& value) {
  return std::string(option.key) + " is " + value + ", must be " + option_range(option);
}

const Option& option_of(std::string_view owner, std::span<const Option> options,
                        std::string_view key) {
  if (const Option* option = find_option(options, key); option != nullptr) return *option;
  std::vector<std::string_view> keys;
  for (const Option& option : options)
    keys.push_back(option.key);
  refuse_key(owner, key, keys);
}

bool backend_has(const Option& option, std::string_view value, Backend backend) {
  const auto has = [backend](Backends backends) {
    return backends == Backends::both || backend == Backend::automatic ||
           (backends == Backends::cpu) == (backend == Backend::cpu);
  };
  for (const OptionName& each : option.names)
    if (each.name == value && !has(each.backends)) return false;
  return has(option.backends);
}

double OptionValue<double>::read(const Option& option, std::string_view text) {
  const bool has_word = !option.word.empty();
  if (has_word && text == option.word) return kWordNumber;
  const std::optional<double> value = number_from<double>(text);
  if (!value) {
    throw_usage(std::string(option.key) + " is " + quoted(text) + ", must be a number, " +
                option_range(option));
  }
  // Only the spelling of the word may stand for its number.
  if (has_word && *value == kWordNumber) throw_usage(out_of_range(option, number_text(*value)));
  return *value;
}

void OptionValue<double>::check(const Option& option, double value, Clauses& broken) {
  if (!in_range(option, value)) broken.push_back(out_of_range(option, text(value)));
}

int OptionValue<int>::read(const Option& option, std::string_view text) {
  const std::optional<int> value = number_from<int>(text);
  if (!value) {
    throw_usage(std::string(option.key) + " is " + quoted(text) + ", must be a whole number, " +
                option_range(option));
  }
  return *value;
}

void OptionValue<int>::check(const Option& option, int value, Clauses& broken) {
  if (!in_range(option, value)) broken.push_back(out_of_range(option, text(value)));
}

bool OptionValue<bool>::read(const Option& option, std::string_view text) {
  if (text != "true" && text != "false") {
    throw_usage(std::string(option.key) + " is " + quoted(text) + ", must be true or false");
  }
  return text == "true";
}

std::string option_range(const Option& option) {
  if (!option.names.empty()) return list_of_names(spellings(option.names));
  if (option.type == OptionType::onoff) return "true or false";
  const bool in_range_too = option.least <= 0 && !option.above_least && option.range.empty();
  if (!option.word.empty()) return plain_range(option) + ", or " + std::string(option.word);
  if (option.zero_means.empty() || in_range_too) return plain_range(option);
  return plain_range(option) + ", or 0 for " + std::string(option.zero_means);
}

std::string option_help(const Option& option) {
  std::string text(option.group);
  if (option.backends != Backends::both) {
    text += text.empty() ? "" : ", ";
    text += option.backends == Backends::cuda ? "CUDA" : "CPU";
  }
  if (!text.empty()) text += ": ";
  const std::size_t clause = std::min(option.help.find(';'), option.help.size());
  text += option.help.substr(0, clause);
  if (!option.names.empty()) {
    text += ": " + names_help(option);
  } else if (const std::string range = plain_range(option); !range.empty()) {
    text += ", " + range;
  }
  if (!option.zero_means.empty()) text += "; 0 = " + std::string(option.zero_means);
  if (!option.word.empty()) {
    text += "; " + std::string(option.word) + " = " + std::string(option.word_means);
  }
  return text + std::string(option.help.substr(clause));
}

std::string option_placeholder(const Option& option) {
  if (!option.value.empty()) return std::string(option.value);
  if (option.unit == "per cent") return "PERCENT";
  if (option.unit == "milliseconds") return "MS";
  switch (option.type) {
    case OptionType::number:
      return "X";
    case OptionType::whole:
      return "N";
    case OptionType::onoff:
      return "true|false";
    case OptionType::name:
      return "NAME";
    case OptionType::file:
      return "FILE";
    case OptionType::text:
      break;
  }
  return "TEXT";
}

std::string option_default(const Option& option) {
  return option.fallback.empty() ? std::string(option.unset) : option.fallback;
}

const Option* find_option(std::span<const Option> options, std::string_view key) {
  for (const Option& option : options)
    if (option.key == key) return &option;
  return nullptr;
}

void throw_violations(const std::vector<std::string>& broken) {
  if (broken.empty()) return;
  std::string message = broken.front();
  for (std::size_t i = 1; i < broken.size(); ++i)
    message += "; " + broken[i];
  throw_usage(message);
}

}  // namespace equalux

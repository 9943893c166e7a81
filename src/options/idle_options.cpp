#include "src/options/idle_options.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/options/option_values.h"

namespace equalux {
namespace {

/// Value of one option that leaves others without meaning.
struct IdleRule {
  std::string_view key;
  bool (*applies)(std::string_view value);
  std::array<std::string_view, 2> idle;
};

constexpr std::array kRules{
    IdleRule{
        "temporal-ms",
        [](std::string_view value) { return value.empty() || number_from<double>(value) == 0; },
        {"brighten-ms", "darken-ms"}},
    IdleRule{"kernel",
             [](std::string_view value) { return value != "gaussian"; },
             {"sigma", "truncate"}},
    IdleRule{"kernel",
             [](std::string_view value) { return value != "gaussian" && value != "box"; },
             {"size"}},
    IdleRule{"derivative",
             [](std::string_view value) { return value == "sobel-laplacian"; },
             {"sigma", "truncate"}},
};

}  // namespace

OptionValues idle_beside(std::span<const Option> options, const OptionValues& wanted) {
  OptionValues idle;
  const auto add = [&](std::string_view key) {
    const Option* const option = find_option(options, key);
    if (option != nullptr && find_value(wanted, key) == nullptr)
      idle.emplace_back(key, option->fallback);
  };
  for (const auto& [key, value] : wanted) {
    const Option* const option = find_option(options, key);
    if (option == nullptr) continue;
    if (!option->word.empty() && value != option->word) add(key + "-max");
    for (const IdleRule& rule : kRules) {
      if (rule.key != key || !rule.applies(value)) continue;
      for (const std::string_view each : rule.idle)
        add(each);
    }
  }
  return idle;
}

OptionValues without_idle(std::span<const Option> options, OptionValues values,
                          const OptionValues& kept) {
  OptionValues idle;
  for (const auto& value : values)
    for (auto& each : idle_beside(options, {value}))
      idle.push_back(std::move(each));
  std::erase_if(values, [&](const auto& each) {
    return find_value(idle, each.first) != nullptr && find_value(kept, each.first) == nullptr;
  });
  return values;
}

}  // namespace equalux

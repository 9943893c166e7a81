#include "src/cli/values.h"

#include "src/common/formatting.h"
#include "src/options/option_values.h"

namespace equalux::cli {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& text,
                         const std::string& right) {
  throw_usage("--" + option + " is '" + text + "', must be " + right);
}

}  // namespace

std::int64_t read_integer(const std::string& option, const std::string& text, std::int64_t least,
                          std::int64_t most) {
  const auto value = number_from<std::int64_t>(text);
  if (!value || *value < least || *value > most) {
    refuse(option, text,
           "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return *value;
}

double read_number(const std::string& option, const std::string& text, double least, double most) {
  const auto value = number_from<double>(text);
  // The negated comparison refuses NaN, too.
  if (!value || !(*value >= least && *value <= most)) {
    refuse(option, text, fmt::format("a number from {:g} to {:g}", least, most));
  }
  return *value;
}

bool read_switch(const std::string& option, const std::string& text) {
  if (text == "true") return true;
  if (text != "false") refuse(option, text, "true or false");
  return false;
}

std::string joined(const std::vector<std::string>& texts, std::string_view between) {
  std::string text;
  for (const std::string& each : texts)
    text.append(text.empty() ? "" : between).append(each);
  return text;
}

}  // namespace equalux::cli

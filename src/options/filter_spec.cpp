#include <equalux/params.h>

#include "src/options/option_values.h"

/// Parsing of filter specs.
namespace equalux {

std::string FilterSpec::text() const {
  std::string line = name;
  char separator = ':';
  for (const auto& [key, value] : options) {
    line += separator + key + '=' + value;
    separator = ',';
  }
  return line;
}

FilterSpec parse_filter_spec(std::string_view text) {
  static constexpr std::string_view kForm = ", must be name[:key=value[,key=value...]]";
  const std::size_t colon = text.find(':');
  FilterSpec spec{std::string(text.substr(0, colon)), {}};
  if (spec.name.find(',') != std::string::npos && spec.name.find('=') == std::string::npos) {
    throw_usage(
        "filter " + quoted(text) +
        " has more than one name, must be one filter alone; each of a chain is given apart");
  }
  if (spec.name.empty() || spec.name.find_first_of("=, ") != std::string::npos) {
    throw_usage("filter " + quoted(text) + " has no name" + std::string(kForm));
  }
  if (colon == std::string_view::npos) return spec;

  for (const std::string_view element : split(text.substr(colon + 1), ',')) {
    const std::size_t equals = element.find('=');
    if (equals == std::string_view::npos) {
      if (spec.options.empty() || element.empty()) {
        throw_usage("filter " + quoted(text) + " has " + quoted(element) + " without a key" +
                    std::string(kForm));
      }
      spec.options.back().second += ',' + std::string(element);
      continue;
    }
    const std::string key(element.substr(0, equals));
    const std::string value(element.substr(equals + 1));
    if (key.empty() || value.empty()) {
      throw_usage("filter " + quoted(text) + " has " + quoted(element) + " without a " +
                  (key.empty() ? "key" : "value") + std::string(kForm));
    }
    if (find_value(spec.options, key) != nullptr)
      throw_usage("filter " + quoted(text) + " sets " + key + " twice, must be once");
    spec.options.emplace_back(key, value);
  }
  return spec;
}

}  // namespace equalux

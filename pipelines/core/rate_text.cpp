#include "pipelines/core/rate_text.h"

#include <charconv>
#include <numeric>

namespace equalux {
namespace {

constexpr std::int64_t kFastest = 10'000;
constexpr std::size_t kMostDecimals = 6;
constexpr std::size_t kMostDigits = 9;  // Of one number, so that no product below overflows.

std::optional<std::int64_t> parse_digits(std::string_view text) {
  if (text.empty() || text.size() > kMostDigits) return std::nullopt;
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<Rational> parse_ratio(std::string_view num, std::string_view den) {
  const std::optional<std::int64_t> n = parse_digits(num);
  const std::optional<std::int64_t> d = parse_digits(den);
  if (!n || !d) return std::nullopt;
  return Rational{*n, *d};
}

std::optional<Rational> parse_decimal(std::string_view whole, std::string_view decimals) {
  const std::optional<std::int64_t> units = parse_digits(whole);
  const std::optional<std::int64_t> fraction = parse_digits(decimals);
  if (!units || !fraction || decimals.size() > kMostDecimals) return std::nullopt;
  std::int64_t scale = 1;
  for (std::size_t i = 0; i < decimals.size(); ++i)
    scale *= 10;
  return Rational{*units * scale + *fraction, scale};
}

}  // namespace

std::optional<Rational> parse_rate(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::size_t point = text.find('.');
  std::optional<Rational> rate;
  if (slash != std::string_view::npos) {
    rate = parse_ratio(text.substr(0, slash), text.substr(slash + 1));
  } else if (point != std::string_view::npos) {
    rate = parse_decimal(text.substr(0, point), text.substr(point + 1));
  } else {
    rate = parse_ratio(text, "1");
  }
  if (!rate || rate->num <= 0 || rate->den <= 0 || rate->num > kFastest * rate->den) {
    return std::nullopt;
  }
  const std::int64_t divisor = std::gcd(rate->num, rate->den);
  return Rational{rate->num / divisor, rate->den / divisor};
}

}  // namespace equalux

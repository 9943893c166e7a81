#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

/// Decimals of parameters, kept exactly.
namespace equalux {

inline constexpr int kMaxDecimalPlaces = 9;
inline constexpr std::int64_t kDecimalLimit = std::int64_t{1} << 31;  ///< bound of the magnitude

[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Decimal number, digits · 10^-places.
struct Decimal {
  std::int64_t digits = 0;
  int places = 0;
};

[[nodiscard]] constexpr std::int64_t power_of_ten(int exponent) {
  std::int64_t power = 1;
  for (int i = 0; i < exponent; ++i)
    power *= 10;
  return power;
}

/// Parses a decimal as "-12.50": at most kMaxDecimalPlaces places, not counting trailing zeros, and
/// below 2^31 in magnitude.
[[nodiscard]] inline std::optional<Decimal> decimal_from(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  std::string_view fraction = text.substr(std::min(point + 1, text.size()));
  if (whole.empty() && fraction.empty()) return std::nullopt;
  if (!std::all_of(whole.begin(), whole.end(), is_digit)) return std::nullopt;
  if (!std::all_of(fraction.begin(), fraction.end(), is_digit)) return std::nullopt;
  while (fraction.ends_with('0'))
    fraction.remove_suffix(1);
  if (fraction.size() > kMaxDecimalPlaces) return std::nullopt;

  Decimal value{0, static_cast<int>(fraction.size())};
  for (const char digit : whole) {
    value.digits = 10 * value.digits + (digit - '0');
    if (value.digits >= kDecimalLimit) return std::nullopt;
  }
  for (const char digit : fraction)
    value.digits = 10 * value.digits + (digit - '0');
  if (negative) value.digits = -value.digits;
  return value;
}

/// Value times 10^places, a whole number.
[[nodiscard]] constexpr std::int64_t scaled(const Decimal& value, int places) {
  return value.digits * power_of_ten(places - value.places);
}

}  // namespace equalux

#include "pipelines/core/frame_time.h"

#include <charconv>
#include <numeric>

namespace equalux {
namespace {

__extension__ typedef __int128 Wide;  // The product of two 64-bit times exceeds 64 bits.

constexpr Wide kNanoseconds = 1'000'000'000;

std::int64_t divide_rounded(Wide numerator, Wide denominator) {
  const Wide doubled = 2 * numerator + denominator;
  Wide quotient = doubled / (2 * denominator);
  if (doubled < 0 && quotient * 2 * denominator != doubled) --quotient;
  return static_cast<std::int64_t>(quotient);
}

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

std::int64_t frame_time_ns(std::uint64_t index, Rational rate) {
  if (rate.num <= 0 || rate.den <= 0) return 0;
  return divide_rounded(static_cast<Wide>(index) * kNanoseconds * rate.den, rate.num);
}

std::int64_t ticks_from_ns(std::int64_t time_ns, Rational time_base) {
  return divide_rounded(static_cast<Wide>(time_ns) * time_base.den, kNanoseconds * time_base.num);
}

}  // namespace equalux

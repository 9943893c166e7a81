#include <equalux/convolve.h>
#include <equalux/params.h>

/// The spellings of the enumerations: one table each, in the enumerators' order.
namespace equalux {
namespace {

using Names = std::vector<std::string_view>;

template <typename Enum>
std::string_view name_in(const Names& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index] : std::string_view("unknown");
}

template <typename Enum>
std::optional<Enum> value_in(const Names& names, std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

// Scaler
template <>
const Names& enum_names<Scaler>() {
  static const Names names{"max-abs", "min-max", "min-max-nonzero"};
  return names;
}
template <>
std::string_view enum_name(Scaler value) {
  return name_in(enum_names<Scaler>(), value);
}
template <>
std::optional<Scaler> enum_from(std::string_view name) {
  return value_in<Scaler>(enum_names<Scaler>(), name);
}

// Chain
template <>
const Names& enum_names<Chain>() {
  static const Names names{"fused", "staged"};
  return names;
}
template <>
std::string_view enum_name(Chain value) {
  return name_in(enum_names<Chain>(), value);
}
template <>
std::optional<Chain> enum_from(std::string_view name) {
  return value_in<Chain>(enum_names<Chain>(), name);
}

// Space
template <>
const Names& enum_names<Space>() {
  static const Names names{"value", "luma", "lightness"};
  return names;
}
template <>
std::string_view enum_name(Space value) {
  return name_in(enum_names<Space>(), value);
}
template <>
std::optional<Space> enum_from(std::string_view name) {
  return value_in<Space>(enum_names<Space>(), name);
}

// Backend
template <>
const Names& enum_names<Backend>() {
  static const Names names{"auto", "cpu", "cuda"};
  return names;
}
template <>
std::string_view enum_name(Backend value) {
  return name_in(enum_names<Backend>(), value);
}
template <>
std::optional<Backend> enum_from(std::string_view name) {
  return value_in<Backend>(enum_names<Backend>(), name);
}

// Surround
template <>
const Names& enum_names<Surround>() {
  static const Names names{"keep", "ignore"};
  return names;
}
template <>
std::string_view enum_name(Surround value) {
  return name_in(enum_names<Surround>(), value);
}
template <>
std::optional<Surround> enum_from(std::string_view name) {
  return value_in<Surround>(enum_names<Surround>(), name);
}

// RgbToHsvVariant
template <>
const Names& enum_names<RgbToHsvVariant>() {
  static const Names names{"coalesced", "uncoalesced"};
  return names;
}
template <>
std::string_view enum_name(RgbToHsvVariant value) {
  return name_in(enum_names<RgbToHsvVariant>(), value);
}
template <>
std::optional<RgbToHsvVariant> enum_from(std::string_view name) {
  return value_in<RgbToHsvVariant>(enum_names<RgbToHsvVariant>(), name);
}

// HistogramVariant
template <>
const Names& enum_names<HistogramVariant>() {
  static const Names names{"global", "shared"};
  return names;
}
template <>
std::string_view enum_name(HistogramVariant value) {
  return name_in(enum_names<HistogramVariant>(), value);
}
template <>
std::optional<HistogramVariant> enum_from(std::string_view name) {
  return value_in<HistogramVariant>(enum_names<HistogramVariant>(), name);
}

// ScanVariant
template <>
const Names& enum_names<ScanVariant>() {
  static const Names names{"baseline",           "two-ended",  "two-ended-shared",  "kogge-stone",
                           "kogge-stone-shared", "brent-kung", "brent-kung-shared", "cub"};
  return names;
}
template <>
std::string_view enum_name(ScanVariant value) {
  return name_in(enum_names<ScanVariant>(), value);
}
template <>
std::optional<ScanVariant> enum_from(std::string_view name) {
  return value_in<ScanVariant>(enum_names<ScanVariant>(), name);
}

// EqualizeVariant
template <>
const Names& enum_names<EqualizeVariant>() {
  static const Names names{"divide", "curve"};
  return names;
}
template <>
std::string_view enum_name(EqualizeVariant value) {
  return name_in(enum_names<EqualizeVariant>(), value);
}
template <>
std::optional<EqualizeVariant> enum_from(std::string_view name) {
  return value_in<EqualizeVariant>(enum_names<EqualizeVariant>(), name);
}

// Border
template <>
const Names& enum_names<Border>() {
  static const Names names{"replicate", "reflect-101", "constant"};
  return names;
}
template <>
std::string_view enum_name(Border value) {
  return name_in(enum_names<Border>(), value);
}
template <>
std::optional<Border> enum_from(std::string_view name) {
  return value_in<Border>(enum_names<Border>(), name);
}

// ConvolveMode
template <>
const Names& enum_names<ConvolveMode>() {
  static const Names names{"production", "sequential", "global", "constant", "shared"};
  return names;
}
template <>
std::string_view enum_name(ConvolveMode value) {
  return name_in(enum_names<ConvolveMode>(), value);
}
template <>
std::optional<ConvolveMode> enum_from(std::string_view name) {
  return value_in<ConvolveMode>(enum_names<ConvolveMode>(), name);
}

}  // namespace equalux

#include <equalux/hessian.h>

/// The spellings of the Hessian family's enumerations: one list each, in the enumerators' order.
namespace equalux {

#define EQUALUX_HESSIAN_NAMES(Enum, ...)                                      \
  template <>                                                                 \
  const std::vector<std::string_view>& enum_names<Enum>() {                   \
    static const std::vector<std::string_view> names{__VA_ARGS__};            \
    return names;                                                             \
  }                                                                           \
  template <>                                                                 \
  std::string_view enum_name(Enum value) {                                    \
    const auto index = static_cast<std::size_t>(value);                       \
    const auto& names = enum_names<Enum>();                                   \
    return index < names.size() ? names[index] : std::string_view("unknown"); \
  }                                                                           \
  template <>                                                                 \
  std::optional<Enum> enum_from(std::string_view name) {                      \
    const auto& names = enum_names<Enum>();                                   \
    for (std::size_t i = 0; i < names.size(); ++i) {                          \
      if (names[i] == name) return static_cast<Enum>(i);                      \
    }                                                                         \
    return std::nullopt;                                                      \
  }

EQUALUX_HESSIAN_NAMES(HessianDerivative, "gaussian", "gradient", "sobel-laplacian")
EQUALUX_HESSIAN_NAMES(HessianChannel, "luma", "value", "red", "green", "blue")
EQUALUX_HESSIAN_NAMES(Polarity, "dark", "bright")
EQUALUX_HESSIAN_NAMES(VesselMeasure, "ridge", "frangi")
EQUALUX_HESSIAN_NAMES(FieldOfView, "auto", "none")
EQUALUX_HESSIAN_NAMES(VesselOutput, "mask", "overlay", "heat")
EQUALUX_HESSIAN_NAMES(ShapesOutput, "overlay", "classes")

}  // namespace equalux

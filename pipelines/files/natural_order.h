#pragma once

#include <string_view>

namespace equalux {

/// True where `a` sorts before `b` as people count: runs of digits compare by value ("a2" < "a10"),
/// all else by bytes. A strict weak order.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

}  // namespace equalux

#include <equalux/filter.h>

#include "equalux_version.h"

namespace equalux {

std::string_view version() {
  return EQUALUX_VERSION;
}

}  // namespace equalux

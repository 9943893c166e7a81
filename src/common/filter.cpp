#include <equalux/filter.h>

#include "src/common/state_text.h"

namespace equalux {

void Filter::load(std::string_view state) {
  take_no_state(state);
}

}  // namespace equalux

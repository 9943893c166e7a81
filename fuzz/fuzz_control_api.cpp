// Tests the lines of the control socket.
#include <nlohmann/json.hpp>

#include "fuzz/some_steering.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace equalux;
  fuzz::SteeredRun run;
  std::string_view text = fuzz::text_of(data, size);
  while (!text.empty()) {
    const nlohmann::ordered_json before = run.steering.state();
    fuzz::check_answer(run.api.handle(fuzz::take_line(text)), before, run);
  }
  return 0;
}

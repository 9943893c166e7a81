// Tests curve files: what is accepted is a curve, and one that is written and read again is the
// same.
#include <algorithm>

#include <equalux/curve.h>

#include "fuzz/invariant.h"
#include "src/equalize/fixed_curve.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace equalux;
  ToneCurve curve;
  const auto read = [&] { curve = curve_from_text(fuzz::text_of(data, size), "fuzz"); };
  if (!fuzz::accepted(ExitCode::bad_input, "fuzz ", read)) return 0;
  const std::string text = curve_text(curve);
  fuzz::require(curve_from_text(text, "again") == curve, "the same curve as before", text);
  for (const int max_value : {219, 255}) {
    const auto table = curve_table(curve, max_value);
    const auto end = table.begin() + max_value + 1;
    fuzz::require(std::is_sorted(table.begin(), end), "a curve never falls", text);
    fuzz::require(end[-1] <= static_cast<std::uint32_t>(max_value) * ToneCurve::kUnit,
                  "a curve ends at white or below", text);
  }
  const auto deep = deep_curve_table(curve, 1023);
  fuzz::require(std::is_sorted(deep.begin(), deep.end()), "a deep curve never falls", text);
  return 0;
}

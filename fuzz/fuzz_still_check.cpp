// Tests the checks of PNG, JPEG, WebP, TIFF and BMP before a decoder gets them.
#include <vector>

#include "fuzz/invariant.h"
#include "pipelines/opencv/still_check.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace equalux;
  std::vector<std::uint8_t> bytes(data, data + size);
  const StillFacts facts = look_through(bytes);
  fuzz::require(facts.orientation >= 1 && facts.orientation <= 8, "EXIF counts eight orientations");
  leave_pixels_as_stored(bytes);
  fuzz::require(bytes.size() == size, "an orientation is overwritten in place");
  const bool is_tiff = size > 2 && data[0] == data[1] && (data[0] == 'I' || data[0] == 'M');
  // Nothing had to change where the orientation was 1 already.
  if (is_tiff && facts.orientation != 1)
    fuzz::require(look_through(bytes).orientation == 1, "a TIFF's orientation is forgotten");
  std::vector<std::uint8_t> checked;
  if (fuzz::accepted(ExitCode::bad_input,
                     "a.png: ", [&] { checked = check_still("a.png", bytes); }))
    fuzz::require(!checked.empty() && checked.size() <= size, "what is decoded is of the file");
  return 0;
}

// Tests regions: the text of a rectangle or, after a first line "mask", a PGM. What is outside is
// within the frame, in order, and leaves at least one pixel of a rectangle.
#include "fuzz/memory_file.h"
#include "src/equalize/region.h"

namespace {

using namespace equalux;

constexpr std::string_view kMask = "mask\n";

bool names_file(std::string_view region) {
  if (region.size() < 5) return false;
  std::string end(region.substr(region.size() - 4));
  for (char& c : end) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 'a' - 'A');
  }
  return end == ".pgm" || end == ".png";
}

/// Counts the pixels outside, and checks each run.
std::int64_t count_outside(const RegionOutside& outside, const ImageDesc& desc) {
  std::int64_t count = 0;
  for (int y = 0; y < desc.height; ++y) {
    int end = -1;
    for (const Columns& run : outside.row(y)) {
      fuzz::require(run.begin > end && run.end > run.begin && run.end <= desc.width,
                    "runs lie in the frame, in order and apart");
      end = run.end;
      count += run.end - run.begin;
    }
  }
  return count;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  const ImageDesc desc{PixelFormat::gray8, 24, 15};
  std::string_view text = fuzz::text_of(data, size);
  const bool mask = text.starts_with(kMask);
  if (!mask && names_file(text)) return 0;
  const std::string region =
      mask ? folder.file("mask.pgm", text.substr(kMask.size())) : std::string(text);
  try {
    const RegionOutside outside(region, desc);
    const std::int64_t count = count_outside(outside, desc);
    const std::int64_t pixels = std::int64_t{desc.width} * desc.height;
    fuzz::require(mask || region.empty() || count < pixels, "a rectangle holds a pixel", region);
    fuzz::require(region_violations(region, &desc).empty(), "no rule is broken", region);
  } catch (const Error& error) {
    fuzz::require(error.code() == ExitCode::usage || (mask && error.code() == ExitCode::bad_input),
                  "a refusal has the exit code of bad input", error.what());
    fuzz::require(std::string_view(error.what()).starts_with("region "), "a refusal names it",
                  error.what());
  }
  return 0;
}

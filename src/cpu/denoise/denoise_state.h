#pragma once

#include <array>
#include <string>

#include "src/cpu/denoise/denoise_chain.h"
#include "src/denoise/saved_sequences.h"

/// What sequences of pictures on the CPU remember, saved and resumed.
namespace equalux::denoise {

/// The state of frames, of top and of bottom fields; null for those that there are not.
[[nodiscard]] std::string save_sequences(const ImageDesc& desc,
                                         const std::array<const PictureSequence*, 3>& sequences);
/// Throws Error(usage) where it is not of the sequence's components, or damaged.
void resume(const SavedSequence& saved, PictureSequence& sequence);

}  // namespace equalux::denoise

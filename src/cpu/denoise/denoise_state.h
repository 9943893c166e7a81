#pragma once

#include <array>
#include <string>

#include "src/cpu/denoise/denoise_chain.h"
#include "src/denoise/saved_sequences.h"

/// Saving and resuming of sequences on the CPU.
namespace equalux::denoise {

/// Returns the state of frames, top fields and bottom fields; null for a missing one.
[[nodiscard]] std::string save_sequences(const ImageDesc& desc,
                                         const std::array<const PictureSequence*, 3>& sequences);
/// Restores a sequence. Throws Error(usage) where the state is damaged or of other components.
void resume(const SavedSequence& saved, PictureSequence& sequence);

}  // namespace equalux::denoise

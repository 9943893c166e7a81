#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/image.h>

#include "src/denoise/components.h"

/// What noise reduction remembers, as JSON text: estimates, weights and vectors in base64. A
/// 1920x1080 frame of 4:2:0 takes 13 MB.
namespace equalux::denoise {

/// A sequence's memory, in tight rows and in the order of its components.
struct SavedSequence {
  struct SavedComponent {
    std::string estimate;  ///< 16 bits a sample, least byte first
    std::string weight;
    std::string noise;
  };
  std::uint32_t pictures = 0;
  std::string vectors;  ///< x and y, 16 bits each, of a block
  std::vector<SavedComponent> components;
};

/// Of frames, of top and of bottom fields.
using SavedSequences = std::array<std::optional<SavedSequence>, 3>;

/// "{}" where there are none.
[[nodiscard]] std::string state_text(const ImageDesc& desc, const SavedSequences& sequences);
/// Throws Error(usage) where the text is nothing of the kind, or of other frames.
[[nodiscard]] SavedSequences read_sequences(std::string_view state, const ImageDesc& desc);
/// Throws Error(usage) where it is not of pictures of these components, or damaged: loops would
/// read beyond their tables.
void check(const SavedSequence& saved, std::span<const ComponentShape> components);

}  // namespace equalux::denoise

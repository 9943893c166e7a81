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

/// State of noise reduction as JSON text, with estimates, weights and vectors in base64. A
/// 1920x1080 frame of 4:2:0 takes 13 MB.
namespace equalux::denoise {

/// State of a sequence, in rows without padding, in the order of its components.
struct SavedSequence {
  struct SavedComponent {
    std::string estimate;  ///< 16 bits a sample, little-endian
    std::string weight;
    std::string noise;
    std::string trends;  ///< a byte for each noise block; none of chroma, or without `noise`
  };
  std::uint32_t pictures = 0;
  std::string vectors;  ///< x and y of each block, 16 bits each
  std::vector<SavedComponent> components;
};

/// Sequences of frames, of top fields and of bottom fields.
using SavedSequences = std::array<std::optional<SavedSequence>, 3>;

/// Returns the text, "{}" where there are no sequences.
[[nodiscard]] std::string state_text(const ImageDesc& desc, const SavedSequences& sequences);
/// Reads a text. Throws Error(usage) where it is no such text, or of other frames.
[[nodiscard]] SavedSequences read_sequences(std::string_view state, const ImageDesc& desc);
/// Throws Error(usage) where a state is damaged or of other components: loops would read beyond
/// their tables.
void check(const SavedSequence& saved, std::span<const ComponentShape> components);

}  // namespace equalux::denoise

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

/// Loads and stores of loops over rows.
namespace equalux {

/// Kind of stores. Streaming ones bypass the caches, which saves reading lines that are
/// overwritten; loops use cached ones where a row is not aligned.
enum class Stores : std::uint8_t { cached, streaming };

/// Size of frames above which results are streamed, as they leave a core's caches before they are
/// read again. Measured with 2 MiB of L2 cache a core: from a ring of four frames on, streaming was
/// faster even with the later read.
inline constexpr std::size_t kStreamingBytes = std::size_t{1} << 20;

/// Fence for loops without streaming stores, the scalar ones.
inline void flush_no_stores() {}

/// Loads and stores of words, at any address.
inline std::uint16_t load_word(const std::uint8_t* at) {
  std::uint16_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}
inline void store_word(std::uint8_t* at, std::uint16_t word) {
  std::memcpy(at, &word, sizeof word);
}

/// Conversion of a result that fits in 8 bits.
inline std::uint8_t byte_of(std::int32_t value) {
  return static_cast<std::uint8_t>(value);
}

}  // namespace equalux

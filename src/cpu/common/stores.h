#pragma once

#include <cstddef>
#include <cstdint>

/// How the results of loops over rows reach memory.
namespace equalux {

/// How a row's result is stored. Streaming bypasses the caches, which saves reading what is about
/// to be overwritten; loops fall back to cached stores where a row is not aligned.
enum class Stores : std::uint8_t { cached, streaming };

/// Frames larger than this leave a core's caches before anybody reads them again: they are
/// written past the caches. Measured on 2 MiB of second-level cache a core; from a ring of four
/// frames on, streaming won also with the reading back counted.
inline constexpr std::size_t kStreamingBytes = std::size_t{1} << 20;

/// Flushes the streaming stores of loops over rows that have none: the scalar ones.
inline void flush_no_stores() {}

/// A result that fits into a sample of 8 bits.
inline std::uint8_t byte_of(std::int32_t value) {
  return static_cast<std::uint8_t>(value);
}

}  // namespace equalux

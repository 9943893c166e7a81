#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

/// Memory of frames, and of planes of that size.
namespace equalux {

/// Alignment of rows in bytes, a cache line.
inline constexpr std::size_t kRowAlignment = 64;

/// Returns at least `bytes`, aligned to kRowAlignment and not initialised; null where memory is
/// short. Large blocks use huge pages where the system has them. Free with std::free().
[[nodiscard]] void* allocate_frame(std::size_t bytes);

/// Returns the pages of memory from allocate_frame() to the system; contents are lost, and later
/// writes get new pages. Does nothing where the system cannot do that.
void forget_frame(void* memory, std::size_t bytes) noexcept;

struct FreeFrame {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

}  // namespace equalux

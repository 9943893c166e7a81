#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

/// Memory of frames, and of planes as large as they.
namespace equalux {

/// Rows begin at multiples of it, in bytes: a line of the caches.
inline constexpr std::size_t kRowAlignment = 64;

/// At least `bytes`, aligned to kRowAlignment and not initialised; null where memory is short.
/// Large ones lie in huge pages where the system has them. std::free() takes it back.
[[nodiscard]] void* allocate_frame(std::size_t bytes);

/// Gives memory of allocate_frame() whose contents nobody needs back to the system; the next one to
/// write there gets new pages. Nothing happens where the system cannot take it.
void forget_frame(void* memory, std::size_t bytes) noexcept;

struct FreeFrame {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

}  // namespace equalux

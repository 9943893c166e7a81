#include "src/common/frame_memory.h"

#if defined(__linux__)
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>
#endif

namespace equalux {
namespace {

/// Frames from this size on lie in huge pages: a pass over a 1080p frame touches 1,500 small ones,
/// and looking each up costs about as much as computing it.
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void* allocate_frame(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kRowAlignment;
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, size);
#if defined(MADV_HUGEPAGE)
  // A wish: where the system declines, small pages serve as well.
  if (memory != nullptr && bytes >= kHugePage) madvise(memory, size, MADV_HUGEPAGE);
#endif
  return memory;
}

void forget_frame(void* memory, std::size_t bytes) noexcept {
#if defined(__linux__)
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  // Others may have memory in the first and the last page.
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = (begin + bytes) / page * page;
  if (first < last)
    static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED));
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
#endif
}

}  // namespace equalux

#include "src/common/frame_memory.h"

#if defined(__linux__)
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>
#endif

namespace equalux {
namespace {

/// Size from which frames use huge pages: a pass over a 1080p frame touches 1,500 small pages, and
/// their TLB misses cost about as much as the arithmetic.
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void* allocate_frame(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kRowAlignment;
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, size);
#if defined(MADV_HUGEPAGE)
  // A hint: small pages do as well.
  if (memory != nullptr && bytes >= kHugePage) madvise(memory, size, MADV_HUGEPAGE);
#endif
  return memory;
}

void forget_frame(void* memory, std::size_t bytes) noexcept {
#if defined(__linux__)
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  // Other data may share the first and the last page.
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

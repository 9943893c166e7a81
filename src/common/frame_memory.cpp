#include "src/common/frame_memory.h"

#if defined(__linux__)
#include <sys/mman.h>
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

}  // namespace equalux

#include "tests/core/short_memory.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace equalux::test::short_memory {
namespace {

constexpr std::int64_t kNever = -1;
std::atomic<std::int64_t> left{kNever};  // calls that succeed
std::atomic<bool> for_good{false};
std::atomic<bool> failed{false};
std::atomic<std::int64_t> live{0};

bool fails() {
  std::int64_t now = left.load();
  while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {
  }
  if (now != 0) return false;
  if (!for_good) left = kNever;
  failed = true;
  return true;
}

void* take(std::size_t bytes, std::size_t alignment) {
  void* const memory = fails() ? nullptr : ::memalign(alignment, std::max<std::size_t>(bytes, 1));
  if (memory != nullptr) ++live;
  return memory;
}

void* take_or_throw(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
  void* const memory = take(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void give_back(void* memory) noexcept {
  if (memory == nullptr) return;
  --live;
  std::free(memory);
}

}  // namespace

void fail_at(std::int64_t at, Lasting lasting) {
  for_good = lasting == Lasting::from_then;
  failed = false;
  left = at;
}

bool stop() {
  left = kNever;
  return failed;
}

std::int64_t held() {
  return live;
}

}  // namespace equalux::test::short_memory

namespace memory = equalux::test::short_memory;

void* operator new(std::size_t bytes) {
  return memory::take_or_throw(bytes);
}
void* operator new[](std::size_t bytes) {
  return memory::take_or_throw(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return memory::take_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return memory::take_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return memory::take(bytes, alignof(std::max_align_t));
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return memory::take(bytes, alignof(std::max_align_t));
}
void operator delete(void* at) noexcept {
  memory::give_back(at);
}
void operator delete[](void* at) noexcept {
  memory::give_back(at);
}
void operator delete(void* at, std::size_t) noexcept {
  memory::give_back(at);
}
void operator delete[](void* at, std::size_t) noexcept {
  memory::give_back(at);
}
void operator delete(void* at, std::align_val_t) noexcept {
  memory::give_back(at);
}
void operator delete[](void* at, std::align_val_t) noexcept {
  memory::give_back(at);
}
void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
  memory::give_back(at);
}
void operator delete[](void* at, std::size_t, std::align_val_t) noexcept {
  memory::give_back(at);
}
void operator delete(void* at, const std::nothrow_t&) noexcept {
  memory::give_back(at);
}
void operator delete[](void* at, const std::nothrow_t&) noexcept {
  memory::give_back(at);
}

/// Frames lie in this; std::free() gives it back.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  if (!memory::fails()) return ::memalign(alignment, bytes);
  errno = ENOMEM;
  return nullptr;
}

#include "tests/cuda/fake_cuda.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace equalux::test::fake_cuda {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kDeviceBytes = std::size_t{8} << 30;

struct Allocation {
  std::size_t bytes = 0;
  Memory kind = Memory::device;
};

Fault fault_of(const char* text) {
  Fault fault;
  std::istringstream words(text);
  std::string call;
  std::string error;
  std::string sticky;
  words >> call >> fault.at >> error >> sticky;
  bool known = false;
  for (const Call candidate : kCalls) {
    if (name_of(candidate) != call) continue;
    fault.call = candidate;
    known = true;
  }
  for (int code = 1; code < 1000; ++code) {
    if (cudaGetErrorName(static_cast<cudaError_t>(code)) != error) continue;
    fault.error = static_cast<cudaError_t>(code);
  }
  fault.sticky = sticky == "sticky";
  if (!known || fault.at == 0 || fault.error == cudaSuccess) {
    throw std::runtime_error(std::string(kVariable) + " is '" + text + "'");
  }
  return fault;
}

struct Launch {
  const void* stream = nullptr;
  bool early = false;
};

/// The device, in a process that may fork while it holds nothing.
struct Device {
  std::mutex mutex;
  Fault fault;
  std::string struck;
  std::array<std::uint64_t, kCalls.size()> counts{};
  std::map<const std::uint8_t*, Allocation> memory;
  std::array<std::set<const void*>, 2> handles;
  std::set<const void*> looked_at;
  std::map<const void*, std::size_t> shared;  // dynamic shared memory that kernels may have
  std::deque<Copy> later;
  std::vector<Launch> under_way;
  bool captures = false;
  std::uint64_t early_launches = 0;
  std::uint64_t meetings = 0;
  std::function<void()> pause;
  std::vector<std::string> misuses;
  std::vector<std::size_t> free_bytes{kDeviceBytes};
  std::set<int> contexts;

  Device() {
    if (const char* text = std::getenv(kVariable)) fault = fault_of(text);
  }
  [[nodiscard]] bool lost() const { return !struck.empty() && fault.sticky; }
  std::set<const void*>& of(Handle kind) { return handles[static_cast<std::size_t>(kind)]; }

  /// Whether so many bytes from there on are one allocation's.
  [[nodiscard]] bool holds(const void* first, std::size_t bytes) const {
    const auto* at = static_cast<const std::uint8_t*>(first);
    auto next = memory.upper_bound(at);
    if (next == memory.begin()) return false;
    const auto& [begin, allocation] = *std::prev(next);
    return allocation.kind == Memory::device && at + bytes <= begin + allocation.bytes;
  }
  void perform(const Copy& copy);
};

Device& device() {
  static Device one;
  return one;
}

thread_local cudaError_t last = cudaSuccess;  // of the runtime, which keeps one a thread

std::size_t extent(std::size_t pitch, const Copy& copy) {
  return pitch * (copy.rows - 1) + copy.bytes;
}

}  // namespace

void Device::perform(const Copy& copy) {
  const bool to_device = copy.kind != cudaMemcpyDeviceToHost;
  const bool from_device = copy.from != nullptr && copy.kind != cudaMemcpyHostToDevice;
  if (to_device && !holds(copy.to, extent(copy.to_pitch, copy))) {
    misuses.emplace_back("a copy writes beyond the device's memory");
    return;
  }
  if (from_device && !holds(copy.from, extent(copy.from_pitch, copy))) {
    misuses.emplace_back("a copy reads beyond the device's memory");
    return;
  }
  for (std::size_t y = 0; y < copy.rows; ++y) {
    auto* to = static_cast<std::uint8_t*>(copy.to) + y * copy.to_pitch;
    if (copy.from == nullptr) {
      std::memset(to, copy.value, copy.bytes);
    } else {
      std::memcpy(to, static_cast<const std::uint8_t*>(copy.from) + y * copy.from_pitch,
                  copy.bytes);
    }
  }
}

std::string_view name_of(Call call) {
  constexpr std::array<std::string_view, kCalls.size()> kNames{"query", "allocation", "stream",
                                                               "event", "copy",       "launch"};
  return kNames[static_cast<std::size_t>(call)];
}

void reset(const Fault& fault) {
  Device& d = device();
  const std::lock_guard lock(d.mutex);
  // What a lost device kept is let go of here.
  for (const auto& [memory, allocation] : d.memory)
    std::free(const_cast<std::uint8_t*>(memory));
  for (auto& handles : d.handles) {
    for (const void* handle : handles)
      std::free(const_cast<void*>(handle));
    handles.clear();
  }
  d.memory.clear();
  d.looked_at.clear();
  d.shared.clear();
  d.later.clear();
  d.under_way.clear();
  d.captures = false;
  d.early_launches = 0;
  d.meetings = 0;
  d.pause = nullptr;
  d.misuses.clear();
  d.counts.fill(0);
  d.free_bytes = {kDeviceBytes};
  d.contexts.clear();
  d.fault = fault;
  d.struck.clear();
  last = cudaSuccess;
}

std::string struck() {
  const std::lock_guard lock(device().mutex);
  return device().struck;
}

void set_free_bytes(std::vector<std::size_t> of_each) {
  const std::lock_guard lock(device().mutex);
  device().free_bytes = std::move(of_each);
}

std::vector<std::size_t> free_bytes() {
  const std::lock_guard lock(device().mutex);
  return device().free_bytes;
}

std::set<int> contexts() {
  const std::lock_guard lock(device().mutex);
  return device().contexts;
}

void make_context(int number) {
  const std::lock_guard lock(device().mutex);
  device().contexts.insert(number);
}

Held held() {
  Device& d = device();
  const std::lock_guard lock(d.mutex);
  return {d.memory.size(), d.of(Handle::stream).size(), d.of(Handle::event).size()};
}

std::vector<std::string> misuses() {
  const std::lock_guard lock(device().mutex);
  return device().misuses;
}

cudaError_t enter(Call call, const char* function) {
  Device& d = device();
  const std::lock_guard lock(d.mutex);
  if (d.lost()) return note(d.fault.error);
  const std::uint64_t count = ++d.counts[static_cast<std::size_t>(call)];
  if (call != d.fault.call || count != d.fault.at) return cudaSuccess;
  d.struck = function;
  if (d.fault.sticky) d.later.clear();
  return note(d.fault.error);
}

cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

cudaError_t last_error(bool clear) {
  Device& d = device();
  const std::lock_guard lock(d.mutex);
  if (d.lost()) return d.fault.error;
  const cudaError_t error = last;
  if (clear) last = cudaSuccess;
  return error;
}

void copy_now(const Copy& copy) {
  const std::lock_guard lock(device().mutex);
  device().perform(copy);
}

void copy_later(const Copy& copy) {
  const std::lock_guard lock(device().mutex);
  device().later.push_back(copy);
}

void finish_copies() {
  Device& d = device();
  const std::lock_guard lock(d.mutex);
  for (const Copy& copy : d.later)
    d.perform(copy);
  d.later.clear();
}

void waited_for(const std::optional<const void*>& stream) {
  const std::lock_guard lock(device().mutex);
  std::erase_if(device().under_way,
                [&](const Launch& launch) { return !stream || launch.stream == *stream; });
}

void launched(const void* stream, bool early) {
  Device& d = device();
  const std::lock_guard lock(d.mutex);
  const auto meets = [&](const Launch& other) {
    return other.stream != stream && (other.early || early);
  };
  if (std::any_of(d.under_way.begin(), d.under_way.end(), meets)) ++d.meetings;
  d.under_way.push_back({stream, early});
  if (early) ++d.early_launches;
}

void allow_shared(const void* kernel, int bytes) {
  Device& d = device();
  const std::lock_guard lock(d.mutex);
  const auto now = static_cast<std::size_t>(bytes);
  std::size_t& allowed = d.shared[kernel];
  if (now < allowed) d.misuses.emplace_back("a kernel is allowed less shared memory than before");
  allowed = now;
}

void use_shared(const void* kernel, std::size_t bytes) {
  constexpr std::size_t kUnasked = 48 * 1024;
  Device& d = device();
  const std::lock_guard lock(d.mutex);
  const auto found = d.shared.find(kernel);
  const std::size_t allowed = found == d.shared.end() ? 0 : found->second;
  if (bytes > std::max(allowed, kUnasked))
    d.misuses.emplace_back("a kernel is launched with more shared memory than it may have");
}

std::uint64_t early_launches() {
  const std::lock_guard lock(device().mutex);
  return device().early_launches;
}

std::uint64_t meetings() {
  const std::lock_guard lock(device().mutex);
  return device().meetings;
}

void set_captures(bool captures) {
  const std::lock_guard lock(device().mutex);
  device().captures = captures;
}

bool captures() {
  const std::lock_guard lock(device().mutex);
  return device().captures;
}

void set_pause(std::function<void()> pause) {
  const std::lock_guard lock(device().mutex);
  device().pause = std::move(pause);
}

void pause() {
  const std::function<void()> todo = [] {
    const std::lock_guard lock(device().mutex);
    return device().pause;
  }();
  if (todo) todo();
}

cudaError_t allocate(void** memory, std::size_t bytes, Memory kind) {
  Device& d = device();
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* const got = bytes == 0 ? nullptr : std::aligned_alloc(kAlignment, rounded);
  if (got == nullptr && bytes > 0) return note(cudaErrorMemoryAllocation);
  if (got != nullptr) std::memset(got, 0, rounded);
  *memory = got;
  const std::lock_guard lock(d.mutex);
  if (got != nullptr) d.memory.emplace(static_cast<std::uint8_t*>(got), Allocation{bytes, kind});
  return cudaSuccess;
}

cudaError_t release(void* memory, Memory kind) {
  if (memory == nullptr) return cudaSuccess;
  finish_copies();  // The runtime waits for the device before it frees.
  waited_for(std::nullopt);
  Device& d = device();
  const std::lock_guard lock(d.mutex);
  if (d.lost()) return note(d.fault.error);
  const auto found = d.memory.find(static_cast<std::uint8_t*>(memory));
  if (found == d.memory.end() || found->second.kind != kind) {
    d.misuses.emplace_back("memory is freed that is not held");
    return note(cudaErrorInvalidValue);
  }
  d.memory.erase(found);
  std::free(memory);
  return cudaSuccess;
}

std::optional<Memory> memory_of(const void* address) {
  Device& d = device();
  const std::lock_guard lock(d.mutex);
  const auto* const at = static_cast<const std::uint8_t*>(address);
  for (const auto& [start, allocation] : d.memory)
    if (at >= start && at < start + allocation.bytes) return allocation.kind;
  return std::nullopt;
}

void* make_handle(Handle kind) {
  Device& d = device();
  const std::lock_guard lock(d.mutex);
  void* const handle = std::malloc(1);
  d.of(kind).insert(handle);
  return handle;
}

cudaError_t destroy_handle(const void* handle, Handle kind) {
  Device& d = device();
  const std::lock_guard lock(d.mutex);
  if (d.lost()) return note(d.fault.error);
  if (d.of(kind).erase(handle) == 0) {
    d.misuses.emplace_back("a stream or event is destroyed that is not held");
    return note(cudaErrorInvalidResourceHandle);
  }
  d.looked_at.erase(handle);
  std::free(const_cast<void*>(handle));
  return cudaSuccess;
}

void use_handle(const void* handle, Handle kind) {
  Device& d = device();
  const std::lock_guard lock(d.mutex);
  const bool is_default = kind == Handle::stream && reinterpret_cast<std::uintptr_t>(handle) <= 2;
  if (!is_default && !d.of(kind).contains(handle)) {
    d.misuses.emplace_back("a stream or event is used that is gone");
  }
}

bool first_look(const void* event) {
  const std::lock_guard lock(device().mutex);
  return device().looked_at.insert(event).second;
}

void recorded(const void* event) {
  const std::lock_guard lock(device().mutex);
  device().looked_at.erase(event);
}

}  // namespace equalux::test::fake_cuda

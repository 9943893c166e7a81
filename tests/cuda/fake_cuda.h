#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime_api.h>

/// A CUDA runtime with an invented device: linked in place of the toolkit's, it keeps device
/// memory on the host, runs no kernel, fails where it is asked to, and keeps books of what it hands
/// out. Copies that a stream would do later are done later, when somebody waits for them.
namespace equalux::test::fake_cuda {

enum class Call : std::uint8_t { query, allocation, stream, event, copy, launch };
inline constexpr std::array kCalls{Call::query, Call::allocation, Call::stream,
                                   Call::event, Call::copy,       Call::launch};
[[nodiscard]] std::string_view name_of(Call call);

inline constexpr const char* kDeviceName = "Fake GPU";

/// The at-th call of a kind fails, counted from 1. A sticky error is that of a lost device: every
/// later call fails with it, and nothing can be freed.
struct Fault {
  Call call = Call::query;
  std::uint64_t at = 0;
  cudaError_t error = cudaSuccess;
  bool sticky = false;
};

/// In place of arming a fault, for programs: "launch 5 cudaErrorLaunchFailure", with " sticky"
/// behind it for such an error. Each process counts its own calls.
inline constexpr const char* kVariable = "EQUALUX_FAKE_CUDA";

/// A new device: counts, books and misuses are empty.
void reset(const Fault& fault = {});
/// The function that the fault came in; empty where it has not come.
[[nodiscard]] std::string struck();

/// Several devices, with so much free memory each, in place of the one; until reset().
void set_free_bytes(std::vector<std::size_t> of_each);
[[nodiscard]] std::vector<std::size_t> free_bytes();
/// The devices that have a context: those that a thread has set.
[[nodiscard]] std::set<int> contexts();
void make_context(int device);

/// What was handed out and has not come back.
struct Held {
  std::size_t memory = 0;  ///< allocations on the device, and pinned ones
  std::size_t streams = 0;
  std::size_t events = 0;
  friend bool operator==(const Held&, const Held&) = default;
};
[[nodiscard]] Held held();
/// What a real device would answer with errors: things freed twice or not held, copies beyond what
/// was allocated, streams and events that are gone, launches with more dynamic shared memory than
/// the kernel was allowed, and a kernel that is allowed less than before, as a filter of another
/// thread may be about to launch it with more.
[[nodiscard]] std::vector<std::string> misuses();

/// Launches that may begin before what is ahead of them in their stream has ended.
[[nodiscard]] std::uint64_t early_launches();
/// Launches that met others, on another stream and not waited for, where either may begin before
/// what is ahead of it in its stream has ended.
[[nodiscard]] std::uint64_t meetings();
/// Whether streams say that they are captured.
void set_captures(bool captures);
[[nodiscard]] bool captures();
/// Called where a stream is asked whether it is captured, between a chain's look at who else is
/// there and its launch; nothing after reset().
void set_pause(std::function<void()> pause);

// ---- for the calls themselves

/// Begins a call: counts it, and tells whether it fails.
[[nodiscard]] cudaError_t enter(Call call, const char* function);
/// Notes an error as the thread's last one.
cudaError_t note(cudaError_t error);
[[nodiscard]] cudaError_t last_error(bool clear);

/// Rows of bytes from one place to another; without a source, `value` everywhere.
struct Copy {
  void* to = nullptr;
  std::size_t to_pitch = 0;
  const void* from = nullptr;
  std::size_t from_pitch = 0;
  std::size_t bytes = 0;
  std::size_t rows = 1;
  cudaMemcpyKind kind = cudaMemcpyDefault;
  int value = 0;
};
void copy_now(const Copy& copy);
void copy_later(const Copy& copy);
/// Does what was put off.
void finish_copies();
/// Notes a launch that is under way until its stream, or the device, is waited for.
void launched(const void* stream, bool early);
/// Notes how much dynamic shared memory a kernel may have, and how much a launch of it has.
void allow_shared(const void* kernel, int bytes);
void use_shared(const void* kernel, std::size_t bytes);
void waited_for(const std::optional<const void*>& stream);
void pause();

enum class Memory : std::uint8_t { device, pinned };
[[nodiscard]] cudaError_t allocate(void** memory, std::size_t bytes, Memory kind);
[[nodiscard]] cudaError_t release(void* memory, Memory kind);
/// The kind of the allocation that an address lies in; nothing where it lies in none.
[[nodiscard]] std::optional<Memory> memory_of(const void* address);

enum class Handle : std::uint8_t { stream, event };
[[nodiscard]] void* make_handle(Handle kind);
[[nodiscard]] cudaError_t destroy_handle(const void* handle, Handle kind);
/// Notes a misuse where it is not held.
void use_handle(const void* handle, Handle kind);
/// True for the first look at an event since it was recorded.
[[nodiscard]] bool first_look(const void* event);
void recorded(const void* event);

}  // namespace equalux::test::fake_cuda

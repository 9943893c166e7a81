#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

/// Preloaded into a program: malloc and its like fail at a call that the environment names, counted
/// from the begin of main() on. EQUALUX_MALLOC_FAILS is the number of calls that succeed, with a +
/// behind it where all later ones fail too; EQUALUX_MALLOC_COUNT names a file for the number of
/// calls in all.
extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

using Main = int (*)(int, char**, char**);

Main program_main = nullptr;
std::atomic<bool> counts{false};
std::atomic<long> calls{0};
long fails_at = -1;
bool for_good = false;

bool fails() {
  if (!counts) return false;
  const long call = calls.fetch_add(1);
  if (fails_at < 0 || call < fails_at || (call > fails_at && !for_good)) return false;
  errno = ENOMEM;
  return true;
}

int counting_main(int argc, char** argv, char** environment) {
  if (const char* text = std::getenv("EQUALUX_MALLOC_FAILS")) {
    fails_at = std::strtol(text, nullptr, 10);
    for_good = std::strchr(text, '+') != nullptr;
  }
  counts = true;
  const int code = program_main(argc, argv, environment);
  counts = false;
  if (const char* path = std::getenv("EQUALUX_MALLOC_COUNT")) {
    if (std::FILE* file = std::fopen(path, "we")) {
      std::fprintf(file, "%ld\n", calls.load());
      std::fclose(file);
    }
  }
  return code;
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
  return fails() ? nullptr : __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  return fails() ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  return fails() ? nullptr : __libc_realloc(memory, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return fails() ? nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fails() ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  void* const got = fails() ? nullptr : __libc_memalign(alignment, bytes);
  if (got == nullptr) return ENOMEM;
  *memory = got;
  return 0;
}

/// What begins a program begins ours.
int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  program_main = main;
  const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(counting_main, argc, argv, init, fini, rtld_fini, stack_end);
}
}

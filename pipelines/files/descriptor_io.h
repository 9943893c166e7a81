#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Reading and writing of files and pipes in which another thread can end a wait.
namespace equalux {

/// A file descriptor that is closed by the destructor, unless it was borrowed.
class Descriptor {
 public:
  Descriptor() = default;
  /// Owns what open() and its like return; -1 = none.
  explicit Descriptor(int number) : Descriptor(number, true) {}
  Descriptor(int number, bool owned) : number_(number), owned_(owned) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  [[nodiscard]] int get() const { return number_; }
  /// Returns false, with errno, where the system could not write what the file had taken.
  bool close() noexcept;

 private:
  int number_ = -1;
  bool owned_ = false;
};

/// An event that poll() can wait for and any thread can set, once. It ends the waits below.
class Wakeup {
 public:
  Wakeup();
  void set() noexcept;
  [[nodiscard]] bool is_set() const { return set_.load(); }
  [[nodiscard]] int descriptor() const { return event_.get(); }

 private:
  Descriptor event_;
  std::atomic<bool> set_{false};
};

/// Buffered reading. One thread at a time. Large reads bypass the buffer.
class DescriptorReader {
 public:
  /// `name` is for messages; `cancel` makes a waiting or later read return short.
  DescriptorReader(Descriptor input, std::string name, const Wakeup& cancel);

  /// Fills `data`; returns fewer bytes than asked for only at the end or when cancelled. Throws
  /// Error(bad_input) where reading fails.
  [[nodiscard]] std::size_t read(void* data, std::size_t size);

  /// Reads up to the next newline, which is not part of `line`. Returns false where there is none
  /// within `limit` bytes or before the end; `line` then has what was read.
  [[nodiscard]] bool read_line(std::string& line, std::size_t limit);

 private:
  [[nodiscard]] std::size_t read_some(std::uint8_t* data, std::size_t size);
  [[nodiscard]] bool wait();
  [[nodiscard]] bool refill();

  Descriptor input_;
  std::string name_;
  bool may_wait_;  // a pipe or a device, not a regular file
  const Wakeup& cancel_;
  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// Unbuffered writing. One thread at a time.
class DescriptorWriter {
 public:
  DescriptorWriter(Descriptor output, std::string name, const Wakeup& cancel);

  /// Writes all bytes. Throws Error(write_failed), also where the reader took no byte for a second
  /// after cancellation.
  void write(const void* data, std::size_t size);

 private:
  void wait();

  Descriptor output_;
  std::string name_;
  const Wakeup& cancel_;
};

/// Opens a pipe or terminal a second time, non-blocking; returns `number` itself, borrowed, for
/// other files. Flags of an inherited descriptor must not be changed, since the program at the
/// other end shares them.
[[nodiscard]] Descriptor reopen_nonblocking(int number, int access);

}  // namespace equalux

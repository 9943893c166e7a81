#include "pipelines/files/descriptor_io.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <equalux/error.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/common/system_error.h"

namespace equalux {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;
// Size that an unprivileged process may ask for at most; large pipes need few system calls per
// frame.
constexpr int kPipeBytes = 1 << 20;
constexpr int kPatienceMs = 1000;

bool is_regular(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

void enlarge_pipe(int descriptor) {
  static_cast<void>(::fcntl(descriptor, F_SETPIPE_SZ, kPipeBytes));  // optional: affects speed only
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), owned_(std::exchange(other.owned_, false)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(owned_, other.owned_);
  return *this;
}

bool Descriptor::close() noexcept {
  const int number = std::exchange(number_, -1);
  return !std::exchange(owned_, false) || number < 0 || ::close(number) == 0;
}

Wakeup::Wakeup() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), true) {}

void Wakeup::set() noexcept {
  set_.store(true);
  const std::uint64_t one = 1;
  if (event_.get() >= 0) static_cast<void>(!::write(event_.get(), &one, sizeof one));
}

Descriptor reopen_nonblocking(int number, int access) {
  struct stat status {};
  if (::fstat(number, &status) == 0 && (S_ISFIFO(status.st_mode) || ::isatty(number) == 1)) {
    const std::string path = "/proc/self/fd/" + std::to_string(number);
    const int again = ::open(path.c_str(), access | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (again >= 0) return {again, true};
  }
  return {number, false};
}

// ---- DescriptorReader

DescriptorReader::DescriptorReader(Descriptor input, std::string name, const Wakeup& cancel)
    : input_(std::move(input)),
      name_(std::move(name)),
      may_wait_(!is_regular(input_.get())),
      cancel_(cancel),
      buffer_(kBufferBytes) {
  if (may_wait_) enlarge_pipe(input_.get());
}

bool DescriptorReader::wait() {
  std::array<pollfd, 2> polled{{{input_.get(), POLLIN, 0}, {cancel_.descriptor(), POLLIN, 0}}};
  while (::poll(polled.data(), polled.size(), -1) < 0 && errno == EINTR) {
  }
  return !cancel_.is_set();
}

std::size_t DescriptorReader::read_some(std::uint8_t* data, std::size_t size) {
  for (;;) {
    if (may_wait_ ? !wait() : cancel_.is_set()) return 0;
    const ssize_t got = ::read(input_.get(), data, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EINTR || errno == EAGAIN) continue;
    throw Error(ExitCode::bad_input, name_ + ": read failed: " + system_error_text(errno));
  }
}

bool DescriptorReader::refill() {
  begin_ = 0;
  end_ = read_some(buffer_.data(), buffer_.size());
  return end_ > 0;
}

std::size_t DescriptorReader::read(void* data, std::size_t size) {
  auto* at = static_cast<std::uint8_t*>(data);
  std::size_t done = 0;
  while (done < size) {
    if (begin_ < end_) {
      const std::size_t count = std::min(size - done, end_ - begin_);
      std::memcpy(at + done, buffer_.data() + begin_, count);
      begin_ += count;
      done += count;
    } else if (size - done >= buffer_.size()) {
      const std::size_t count = read_some(at + done, size - done);
      if (count == 0) break;
      done += count;
    } else if (!refill()) {
      break;
    }
  }
  return done;
}

bool DescriptorReader::read_line(std::string& line, std::size_t limit) {
  line.clear();
  while (line.size() < limit) {
    if (begin_ == end_ && !refill()) return false;
    const auto from = buffer_.begin() + static_cast<std::ptrdiff_t>(begin_);
    const std::size_t count = std::min(limit - line.size(), end_ - begin_);
    const auto to = from + static_cast<std::ptrdiff_t>(count);
    const auto newline = std::find(from, to, std::uint8_t{'\n'});
    line.append(from, newline);
    begin_ += static_cast<std::size_t>(newline - from);
    if (newline != to) {
      ++begin_;
      return true;
    }
  }
  return false;
}

// ---- DescriptorWriter

DescriptorWriter::DescriptorWriter(Descriptor output, std::string name, const Wakeup& cancel)
    : output_(std::move(output)), name_(std::move(name)), cancel_(cancel) {
  if (!is_regular(output_.get())) enlarge_pipe(output_.get());
}

/// Waits until the output takes more; once cancelled, kPatienceMs at most.
void DescriptorWriter::wait() {
  std::array<pollfd, 2> polled{{{output_.get(), POLLOUT, 0}, {cancel_.descriptor(), POLLIN, 0}}};
  const bool hurried = cancel_.is_set();
  const int ready = ::poll(polled.data(), hurried ? 1 : 2, hurried ? kPatienceMs : -1);
  if (ready == 0) {
    throw Error(ExitCode::write_failed, name_ + ": write failed: the program that reads it stalls");
  }
}

void DescriptorWriter::write(const void* data, std::size_t size) {
  const auto* at = static_cast<const std::uint8_t*>(data);
  while (size > 0) {
    const ssize_t written = ::write(output_.get(), at, size);
    if (written >= 0) {
      at += written;
      size -= static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      wait();
    } else if (errno == EPIPE) {
      throw Error(ExitCode::write_failed, name_ + ": write failed: nobody reads it any more");
    } else if (errno != EINTR) {
      throw Error(ExitCode::write_failed, name_ + ": write failed: " + system_error_text(errno));
    }
  }
}

}  // namespace equalux

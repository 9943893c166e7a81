#include "python/result_memory.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "src/common/frame_memory.h"

namespace py = pybind11;

namespace equalux::python {
namespace {

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
using Block = std::unique_ptr<void, Free>;

/// Pool of free blocks of one size.
class Store {
 public:
  Block take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes != bytes_) waiting_.clear();
    bytes_ = bytes;
    if (waiting_.empty()) return Block(allocate_frame(bytes));
    Block block = std::move(waiting_.back());
    waiting_.pop_back();
    return block;
  }
  void give_back(Block block, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes == bytes_ && waiting_.size() < kMost) waiting_.push_back(std::move(block));
  }

 private:
  static constexpr std::size_t kMost = 2;  // one block is shown while the next is filtered
  std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::vector<Block> waiting_;
};

/// Block borrowed from a Store, returned at destruction.
class Loan {
 public:
  Loan(std::shared_ptr<Store> store, std::size_t bytes)
      : store_(std::move(store)), bytes_(bytes), block_(store_->take(bytes)) {
    if (!block_) throw std::bad_alloc();
  }
  ~Loan() { store_->give_back(std::move(block_), bytes_); }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  py::buffer_info buffer() {
    return {static_cast<std::uint8_t*>(block_.get()), static_cast<py::ssize_t>(bytes_)};
  }

 private:
  std::shared_ptr<Store> store_;
  std::size_t bytes_;
  Block block_;
};

struct Pool {
  std::shared_ptr<Store> store = std::make_shared<Store>();
};

}  // namespace

void define_result_memory(py::module_& module) {
  py::class_<Loan>(module, "Loan", py::buffer_protocol()).def_buffer(&Loan::buffer);
  py::class_<Pool>(module, "Pool").def(py::init<>()).def("take", [](Pool& pool, std::size_t bytes) {
    return std::make_unique<Loan>(pool.store, bytes);
  });
}

}  // namespace equalux::python

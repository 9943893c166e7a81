#include "src/cpu/convolve/separable.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>

namespace equalux {
namespace {

constexpr std::size_t kLineBytes = 64;
/// Sizes for an L2 cache of 256 KiB, of which the frame's rows need a part, and an L1 cache of 32
/// KiB, for the tile of the ring that results are made of at a time.
constexpr std::size_t kRingBytes = std::size_t{96} << 10;
constexpr std::size_t kTileBytes = std::size_t{24} << 10;
/// Rows of results made from one tile.
constexpr int kBatch = 8;
/// Rows of a piece of a strip, where threads need more pieces than there are strips. Each piece
/// first sums the kernel's rows above it, which is extra work.
constexpr int kBandRows = 128;
/// Rows that are prefetched: the next row of a strip begins in another page, which the hardware
/// prefetcher does not foresee.
constexpr int kAhead = 4;

bool is_box(const ExactKernel& kernel) {
  return std::all_of(kernel.column.begin(), kernel.column.end(),
                     [](std::int32_t weight) { return weight == 1; });
}

/// Zero-initialised array aligned to a cache line.
template <typename T>
class Lines {
 public:
  void allocate(std::size_t n) {
    const std::size_t bytes = convolve_bytes_up(n * sizeof(T));
    memory_.reset(static_cast<T*>(std::aligned_alloc(kLineBytes, bytes)));
    if (memory_ == nullptr) throw std::bad_alloc();
    std::memset(memory_.get(), 0, bytes);
  }
  [[nodiscard]] T* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(T* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<T, Free> memory_;
};

}  // namespace

/// Memory of one thread.
struct SeparableConvolution::Scratch {
  Lines<std::uint8_t> bytes;   // strip of a row with its surroundings
  Lines<std::uint32_t> rows;   // ring of a Gaussian
  Lines<std::uint16_t> boxes;  // ring of a box, and a row of zeros
  Lines<std::uint32_t> sums;   // column sums of a box
  Lines<std::uint8_t> spare;   // results that do not fit in the frame's rows
  std::vector<const std::uint32_t*> taps;
};

SeparableConvolution::SeparableConvolution(const ExactKernel& kernel, RowExecutor& executor,
                                           const ConvolveRows& loops)
    : executor_(executor), loops_(loops), box_(is_box(kernel)) {
  if (box_) {
    radius_ = kernel.radius();
  } else {
    weights_ = gaussian_weights(kernel.row);
    radius_ = weights_.radius;
  }
}

SeparableConvolution::~SeparableConvolution() = default;

void SeparableConvolution::configure(const BorderedRows& rows, const std::uint8_t* copied) {
  rows_ = rows;
  copied_ = copied;
  const std::size_t reach = static_cast<std::size_t>(radius_ * rows.step());
  before_ = box_ ? reach + kBoxReach : reach + static_cast<std::size_t>(rows.step());
  held_ = size() + (box_ ? 1 : kBatch - 1);
  const auto held = static_cast<std::size_t>(held_);
  const std::size_t most = convolve_bytes_down(kRingBytes / (box_ ? 2 * held + 6 : 4 * held));
  tile_ = convolve_bytes_down(kTileBytes / (4 * held));
  const std::size_t strips = (rows.bytes() + most - 1) / most;
  strip_ = convolve_bytes_up((rows.bytes() + strips - 1) / strips);
  // An odd number of cache lines, so that rows below each other do not share cache sets.
  pitch_ = strip_ + (box_ ? kConvolveBytes / 2 : kConvolveBytes / 4);
  strips_ = static_cast<int>((rows.bytes() + strip_ - 1) / strip_);
  const int wanted = executor_.threads() == 1 ? 1 : 4 * executor_.threads();
  bands_ = std::clamp((wanted + strips_ - 1) / strips_, 1, 1 + (rows.height() - 1) / kBandRows);

  scratch_.clear();
  for (int slot = 0; slot < executor_.threads(); ++slot) {
    auto scratch = std::make_unique<Scratch>();
    const std::size_t around = convolve_bytes_up(before_ + strip_ + before_);
    scratch->bytes.allocate(around);
    scratch->spare.allocate(kBatch * strip_);
    if (box_) {
      scratch->boxes.allocate((held + 1) * pitch_);
      scratch->sums.allocate(strip_);
    } else {
      scratch->rows.allocate(held * pitch_);
      scratch->taps.resize(held);
    }
    scratch_.push_back(std::move(scratch));
  }
}

SeparableConvolution::Job SeparableConvolution::job(int index) const {
  const std::size_t first = strip_ * static_cast<std::size_t>(index / bands_);
  const auto row = [&](int band) {
    return static_cast<int>(std::int64_t{rows_.height()} * band / bands_);
  };
  const int band = index % bands_;
  return {first, std::min(strip_, rows_.bytes() - first), row(band), row(band + 1)};
}

void SeparableConvolution::process(const ConstImageView& in, const ImageView& out, Stores stores) {
  const Frame frame{in, out, stores};
  executor_.for_rows(strips_ * bands_, [this, &frame](int begin, int end, int slot) {
    Scratch& scratch = *scratch_[static_cast<std::size_t>(slot)];
    for (int i = begin; i < end; ++i) {
      if (box_) {
        run_box(frame, job(i), scratch);
      } else {
        run_gaussian(frame, job(i), scratch);
      }
    }
    loops_.flush_stores();
  });
}

/// Bytes of row y, from before_ before a strip to whole vectors behind it: directly from the frame
/// where it has them.
const std::uint8_t* SeparableConvolution::samples(const Frame& frame, const Job& job, int y,
                                                  Scratch& scratch) const {
  const std::uint8_t* row = rows_.row(frame.in, y);
  const std::size_t around = convolve_bytes_up(before_ + convolve_bytes_up(job.count) + before_);
  const std::uint8_t* later = rows_.row(frame.in, y + kAhead) + job.first;
  for (std::size_t x = 0; x < job.count; x += kLineBytes)
    __builtin_prefetch(later + x);
  if (job.first >= before_ && job.first - before_ + around <= rows_.bytes())
    return row + (job.first - before_);
  rows_.gather(row, static_cast<std::ptrdiff_t>(job.first) - static_cast<std::ptrdiff_t>(before_),
               before_ + job.count + before_, scratch.bytes.data());
  return scratch.bytes.data();
}

/// Target of row y of a strip. `spare` takes strips that end within a vector, and the row below the
/// last, which nobody reads.
RowOut SeparableConvolution::result(const Frame& frame, const Job& job, int y,
                                    std::uint8_t* spare) const {
  const std::size_t n = convolve_bytes_up(job.count);
  if (y >= job.end || n != job.count) return {spare, n, Stores::cached, nullptr, nullptr};
  return {frame.out.row(0, y) + job.first, n, frame.stores, copied_,
          frame.in.row(0, y) + job.first};
}

void SeparableConvolution::finish(const Frame& frame, const Job& job, int y,
                                  const RowOut& to) const {
  if (y >= job.end || to.n == job.count) return;
  const std::uint8_t* centre = frame.in.row(0, y) + job.first;
  for (std::size_t x = 0; copied_ != nullptr && x < job.count; ++x) {
    if (copied_[x % kConvolveBytes] != 0) to.out[x] = centre[x];
  }
  std::memcpy(frame.out.row(0, y) + job.first, to.out, job.count);
}

void SeparableConvolution::run_gaussian(const Frame& frame, const Job& job,
                                        Scratch& scratch) const {
  const int radius = radius_;
  const std::size_t n = convolve_bytes_up(job.count);
  const auto sums_of = [&](int y) {
    return scratch.rows.data() +
           static_cast<std::size_t>((y - job.begin + radius) % held_) * pitch_;
  };
  const auto enter = [&](int y) {
    loops_.weigh_row(weights_, rows_.step(), samples(frame, job, y, scratch) + before_, n,
                     sums_of(y));
  };
  for (int y = job.begin - radius; y < job.begin + radius; ++y)
    enter(y);
  for (int y = job.begin; y < job.end; y += kBatch) {
    const int rows = std::min(kBatch, job.end - y + (job.end - y) % 2);
    for (int i = 0; i < rows; ++i)
      enter(y + radius + i);
    for (int k = 0; k < 2 * radius + rows; ++k)
      scratch.taps[static_cast<std::size_t>(k)] = sums_of(y - radius + k);
    std::array<RowOut, kBatch> results;
    for (int i = 0; i < rows; ++i)
      results[static_cast<std::size_t>(i)] =
          result(frame, job, y + i, scratch.spare.data() + static_cast<std::size_t>(i) * strip_);
    for (std::size_t x = 0; x < n; x += tile_) {
      const std::size_t end = std::min(n, x + tile_);
      for (std::size_t i = 0; i < static_cast<std::size_t>(rows); i += 2)
        loops_.weigh_columns(weights_, scratch.taps.data() + i, x, end, results[i], results[i + 1]);
    }
    for (int i = 0; i < rows; ++i)
      finish(frame, job, y + i, results[static_cast<std::size_t>(i)]);
  }
}

void SeparableConvolution::run_box(const Frame& frame, const Job& job, Scratch& scratch) const {
  const int radius = radius_;
  const std::size_t n = convolve_bytes_up(job.count);
  const auto sums_of = [&](int y) {
    return scratch.boxes.data() +
           static_cast<std::size_t>((y - job.begin + radius) % held_) * pitch_;
  };
  // Row that leaves before the kernel is full: the zeros behind the ring.
  const std::uint16_t* nothing = scratch.boxes.data() + static_cast<std::size_t>(held_) * pitch_;
  std::uint32_t* sums = scratch.sums.data();
  std::memset(sums, 0, n * sizeof *sums);
  const auto enter = [&](int y) {
    const std::uint8_t* bytes = samples(frame, job, y, scratch) + before_;
    loops_.box_row(size(), rows_.step(), bytes, n, sums_of(y));
  };
  for (int y = job.begin - radius; y < job.begin + radius; ++y) {
    enter(y);
    loops_.box_columns(size(), sums_of(y), nothing, sums, {nullptr, n});
  }
  for (int y = job.begin; y < job.end; ++y) {
    enter(y + radius);
    const RowOut to = result(frame, job, y, scratch.spare.data());
    const std::uint16_t* leaving = y == job.begin ? nothing : sums_of(y - radius - 1);
    loops_.box_columns(size(), sums_of(y + radius), leaving, sums, to);
    finish(frame, job, y, to);
  }
}

}  // namespace equalux

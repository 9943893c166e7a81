#include "src/cpu/convolve/convolve.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace equalux {
namespace {

/// Largest reach of a kernel to the side: 15 samples of four bytes, in whole vectors.
constexpr std::size_t kReach = kConvolveBytes;
/// Width in bytes up to which a row is convolved as one strip.
constexpr std::size_t kStrip = 3 * kConvolveBytes;
constexpr std::size_t kStripStride = kReach + kStrip + kReach;

bool fits_short(const ExactKernel& kernel) {
  std::int64_t positive = 0;
  std::int64_t negative = 0;
  for (const std::int32_t weight : kernel.weights) {
    if (weight < -127 || weight > 127) return false;
    (weight > 0 ? positive : negative) += weight;
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int16_t>::max();
  return positive <= 128 && negative >= -128 && kernel.bias + 255 * positive <= kMost &&
         kernel.bias + 255 * negative >= -kMost && kernel.bias <= kMost && kernel.bias >= -kMost &&
         kernel.divisor <= 65535;
}

bool fits_16(const std::vector<Tap>& taps) {
  return std::all_of(taps.begin(), taps.end(), [](const Tap& tap) {
    return tap.weight >= std::numeric_limits<std::int16_t>::min() &&
           tap.weight <= std::numeric_limits<std::int16_t>::max();
  });
}

}  // namespace

/// Memory of one thread. A strip holds a piece of all rows under the kernel with its surroundings,
/// border included; the piece begins kReach bytes into each of its rows.
struct Convolution::Scratch {
  std::vector<const std::uint8_t*> rows;  // rows under the kernel
  std::vector<std::uint8_t> strip;        // size rows of kStripStride bytes
  std::vector<const std::uint8_t*> strip_rows;
  std::array<std::uint8_t, kStrip> levels{};
};

Convolution::Convolution(ExactKernel kernel, const BorderRule& border, RowExecutor& executor,
                         const ConvolveRows& loops)
    : kernel_(std::move(kernel)), border_(border), executor_(executor), loops_(loops) {
  if (kernel_.separable) {
    separable_.emplace(kernel_, executor, loops);
    return;
  }
  sums_ = fits_short(kernel_) ? Sums::short_taps : Sums::long_taps;
}

Convolution::~Convolution() = default;

void Convolution::make_taps() {
  std::vector<Tap> taps;
  for (int j = 0; j < kernel_.size; ++j) {
    for (int i = 0; i < kernel_.size; ++i) {
      const std::int32_t weight = kernel_.weights[static_cast<std::size_t>(j * kernel_.size + i)];
      if (weight != 0) taps.push_back({j, (i - kernel_.radius()) * rows_.step(), weight});
    }
  }
  while (taps.empty() || taps.size() % 2 != 0)
    taps.push_back({kernel_.radius(), 0, 0});
  if (sums_ == Sums::short_taps) {
    short_taps_ = {taps, static_cast<std::int16_t>(kernel_.bias),
                   short_division(static_cast<std::uint32_t>(kernel_.divisor))};
  } else {
    long_taps_ = {taps, static_cast<std::int32_t>(kernel_.bias), fits_16(taps),
                  long_division(static_cast<std::uint32_t>(kernel_.divisor))};
  }
}

void Convolution::configure(const ImageDesc& desc) {
  const FormatTraits& t = traits(desc.format);
  rows_ = BorderedRows(desc, border_);
  copied_.clear();
  if (t.alpha_offset >= 0) {
    copied_.assign(kConvolveBytes, 0);
    for (std::size_t i = 0; i < kConvolveBytes; ++i) {
      if (i % 4 == static_cast<std::size_t>(t.alpha_offset)) copied_[i] = 255;
    }
  }
  if (separable_) {
    separable_->configure(rows_, copied());
    return;
  }
  make_taps();
  const auto size = static_cast<std::size_t>(kernel_.size);
  scratch_.clear();
  for (int slot = 0; slot < executor_.threads(); ++slot) {
    auto scratch = std::make_unique<Scratch>();
    scratch->rows.resize(size);
    scratch->strip.resize(size * kStripStride);
    for (std::size_t j = 0; j < size; ++j)
      scratch->strip_rows.push_back(scratch->strip.data() + j * kStripStride + kReach);
    scratch_.push_back(std::move(scratch));
  }
}

void Convolution::process(const ConstImageView& in, const ImageView& out) {
  const std::size_t bytes = rows_.bytes();
  const Stores stores = bytes * static_cast<std::size_t>(rows_.height()) > kStreamingBytes
                            ? Stores::streaming
                            : Stores::cached;
  if (separable_) {
    separable_->process(in, out, stores);
    return;
  }
  executor_.for_rows(rows_.height(), [&](int begin, int end, int slot) {
    Scratch& scratch = *scratch_[static_cast<std::size_t>(slot)];
    for (int y = begin; y < end; ++y) {
      for (int j = 0; j < kernel_.size; ++j)
        scratch.rows[static_cast<std::size_t>(j)] = rows_.row(in, y + j - kernel_.radius());
      direct_row(scratch, {out.row(0, y), bytes, stores, copied(), in.row(0, y)});
    }
    loops_.flush_stores();
  });
}

void Convolution::run_taps(const std::uint8_t* const* rows, const RowOut& to) const {
  if (sums_ == Sums::short_taps) {
    loops_.short_taps(short_taps_, rows, to);
  } else {
    loops_.long_taps(long_taps_, rows, to);
  }
}

/// Convolves a row: its middle from the frame directly, its ends, which need the border, from
/// strips.
void Convolution::direct_row(Scratch& scratch, const RowOut& to) const {
  if (rows_.bytes() <= kStrip) {
    direct_strip(scratch, 0, rows_.bytes(), to);
    return;
  }
  constexpr std::size_t kFirst = kConvolveBytes;
  const std::size_t last = convolve_bytes_down(rows_.bytes() - kConvolveBytes);
  direct_strip(scratch, 0, kFirst, to);
  std::vector<const std::uint8_t*>& rows = scratch.rows;
  for (const std::uint8_t*& row : rows)
    row += kFirst;
  RowOut middle = to;
  middle.out += kFirst;
  middle.centre += kFirst;
  middle.n = last - kFirst;
  run_taps(rows.data(), middle);
  for (const std::uint8_t*& row : rows)
    row -= kFirst;
  direct_strip(scratch, last, rows_.bytes() - last, to);
}

void Convolution::direct_strip(Scratch& scratch, std::size_t first, std::size_t count,
                               const RowOut& to) const {
  const std::ptrdiff_t reach = kernel_.radius() * rows_.step();
  const auto size = static_cast<std::size_t>(kernel_.size);
  for (std::size_t j = 0; j < size; ++j) {
    rows_.gather(scratch.rows[j], static_cast<std::ptrdiff_t>(first) - reach,
                 count + 2 * static_cast<std::size_t>(reach),
                 scratch.strip.data() + j * kStripStride + kReach - reach);
  }
  // The middle row of the strip is the row itself.
  const RowOut strip{scratch.levels.data(), convolve_bytes_up(count), Stores::cached, to.copied,
                     scratch.strip_rows[size / 2]};
  run_taps(scratch.strip_rows.data(), strip);
  std::memcpy(to.out + first, scratch.levels.data(), count);
}

}  // namespace equalux

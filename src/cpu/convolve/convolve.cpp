#include "src/cpu/convolve/convolve.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace equalux {
namespace {

/// Bytes by which a kernel reaches sideways at most: 15 samples of four bytes, in whole vectors.
constexpr std::size_t kReach = kConvolveBytes;
/// Rows up to this many bytes are convolved as one strip.
constexpr std::size_t kStrip = 3 * kConvolveBytes;
constexpr std::size_t kStripStride = kReach + kStrip + kReach;

constexpr std::size_t round_down(std::size_t n) {
  return n / kConvolveBytes * kConvolveBytes;
}
constexpr std::size_t round_up(std::size_t n) {
  return round_down(n + kConvolveBytes - 1);
}

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

/// What one thread owns. A strip is a piece of all rows under the kernel with what lies beside it,
/// the border included: it begins kReach bytes into each of its rows.
struct Convolution::Scratch {
  std::vector<const std::uint8_t*> rows;  // under the kernel, of the row at work
  std::vector<std::uint8_t> strip;        // size rows of kStripStride bytes
  std::vector<const std::uint8_t*> strip_rows;
  std::vector<std::uint32_t> sums;  // of columns, from kReach samples before the row on
  std::array<std::uint8_t, kStrip> levels{};
};

Convolution::Convolution(ExactKernel kernel, const BorderRule& border, RowExecutor& executor,
                         const ConvolveKernels& kernels)
    : kernel_(std::move(kernel)), border_(border), executor_(executor), kernels_(kernels) {
  division_ = long_division(static_cast<std::uint32_t>(kernel_.divisor));
  if (kernel_.separable) {
    slides_ = std::all_of(kernel_.column.begin(), kernel_.column.end(),
                          [](std::int32_t weight) { return weight == 1; });
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
      if (weight != 0) taps.push_back({j, (i - kernel_.radius()) * step_, weight});
    }
  }
  while (taps.empty() || taps.size() % 2 != 0)
    taps.push_back({kernel_.radius(), 0, 0});
  if (sums_ == Sums::short_taps) {
    short_taps_ = {taps, static_cast<std::int16_t>(kernel_.bias),
                   short_division(static_cast<std::uint32_t>(kernel_.divisor))};
  } else {
    long_taps_ = {taps, static_cast<std::int32_t>(kernel_.bias), fits_16(taps), division_};
  }
}

void Convolution::configure(const ImageDesc& desc) {
  const FormatTraits& t = traits(desc.format);
  desc_ = desc;
  step_ = t.step[0];
  bytes_ = row_bytes(desc, 0);
  constant_row_.assign(bytes_, border_.value);
  copied_.clear();
  if (t.alpha_offset >= 0) {
    copied_.assign(kConvolveBytes, 0);
    for (std::size_t i = 0; i < kConvolveBytes; ++i) {
      if (i % 4 == static_cast<std::size_t>(t.alpha_offset)) copied_[i] = 255;
    }
  }
  if (sums_ != Sums::separable) make_taps();
  const auto size = static_cast<std::size_t>(kernel_.size);
  scratch_.clear();
  for (int slot = 0; slot < executor_.threads(); ++slot) {
    auto scratch = std::make_unique<Scratch>();
    scratch->rows.resize(size);
    scratch->strip.resize(size * kStripStride);
    for (std::size_t j = 0; j < size; ++j)
      scratch->strip_rows.push_back(scratch->strip.data() + j * kStripStride + kReach);
    if (sums_ == Sums::separable) scratch->sums.resize(kReach + round_up(bytes_) + kReach);
    scratch_.push_back(std::move(scratch));
  }
}

void Convolution::process(const ConstImageView& in, const ImageView& out) {
  const Stores stores = bytes_ * static_cast<std::size_t>(desc_.height) > kStreamingBytes
                            ? Stores::streaming
                            : Stores::cached;
  executor_.for_rows(desc_.height, [this, &in, &out, stores](int begin, int end, int slot) {
    Scratch& scratch = *scratch_[static_cast<std::size_t>(slot)];
    for (int y = begin; y < end; ++y) {
      const std::uint8_t* leaving = y == begin ? nullptr : scratch.rows.front();
      rows_of(in, y, scratch);
      const RowOut to{out.row(0, y), bytes_, stores, copied_.empty() ? nullptr : copied_.data(),
                      in.row(0, y)};
      if (sums_ == Sums::separable) {
        separable_row(scratch, leaving, to);
      } else {
        direct_row(scratch, to);
      }
    }
    kernels_.flush_stores();
  });
}

void Convolution::rows_of(const ConstImageView& in, int y, Scratch& scratch) const {
  for (int j = 0; j < kernel_.size; ++j) {
    const int line = border_index(y + j - kernel_.radius(), desc_.height, border_.border);
    scratch.rows[static_cast<std::size_t>(j)] = line < 0 ? constant_row_.data() : in.row(0, line);
  }
}

/// Bytes first to first + count - 1 of a row, which may lie outside it.
void Convolution::gather(const std::uint8_t* row, std::ptrdiff_t first, std::size_t count,
                         std::uint8_t* to) const {
  const auto end = first + static_cast<std::ptrdiff_t>(count);
  const std::ptrdiff_t inside = std::clamp<std::ptrdiff_t>(0, first, end);
  const std::ptrdiff_t behind = std::clamp(static_cast<std::ptrdiff_t>(bytes_), inside, end);
  const auto outside = [&](std::ptrdiff_t from, std::ptrdiff_t until) {
    for (std::ptrdiff_t x = from; x < until; ++x) {
      const std::ptrdiff_t pixel = x >= 0 ? x / step_ : (x + 1) / step_ - 1;
      const int index = border_index(static_cast<int>(pixel), desc_.width, border_.border);
      to[x - first] = index < 0 ? border_.value : row[index * step_ + (x - pixel * step_)];
    }
  };
  outside(first, inside);
  std::memcpy(to + (inside - first), row + inside, static_cast<std::size_t>(behind - inside));
  outside(behind, end);
}

void Convolution::run_taps(const std::uint8_t* const* rows, const RowOut& to) const {
  if (sums_ == Sums::short_taps) {
    kernels_.short_taps(short_taps_, rows, to);
  } else {
    kernels_.long_taps(long_taps_, rows, to);
  }
}

/// The middle of a row is read where it lies; its ends, where the border is, in strips.
void Convolution::direct_row(Scratch& scratch, const RowOut& to) const {
  if (bytes_ <= kStrip) {
    direct_strip(scratch, 0, bytes_, to);
    return;
  }
  constexpr std::size_t kFirst = kConvolveBytes;
  const std::size_t last = round_down(bytes_ - kConvolveBytes);
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
  direct_strip(scratch, last, bytes_ - last, to);
}

void Convolution::direct_strip(Scratch& scratch, std::size_t first, std::size_t count,
                               const RowOut& to) const {
  const std::ptrdiff_t reach = kernel_.radius() * step_;
  const auto size = static_cast<std::size_t>(kernel_.size);
  for (std::size_t j = 0; j < size; ++j) {
    gather(scratch.rows[j], static_cast<std::ptrdiff_t>(first) - reach,
           count + 2 * static_cast<std::size_t>(reach),
           scratch.strip.data() + j * kStripStride + kReach - reach);
  }
  // The row itself is the middle one.
  const RowOut strip{scratch.levels.data(), round_up(count), Stores::cached, to.copied,
                     scratch.strip_rows[size / 2]};
  run_taps(scratch.strip_rows.data(), strip);
  std::memcpy(to.out + first, scratch.levels.data(), count);
}

/// Sums of columns under the kernel; `leaving` is the row that was its first for the output row
/// above, whose sums are still there, or null.
void Convolution::sum_columns(Scratch& scratch, const std::uint8_t* leaving) const {
  const std::size_t whole = round_down(bytes_);
  const std::size_t rest = bytes_ - whole;
  std::uint32_t* sums = scratch.sums.data() + kReach;
  for (std::size_t j = 0; rest > 0 && j < scratch.rows.size(); ++j)
    std::memcpy(scratch.strip.data() + j * kStripStride + kReach, scratch.rows[j] + whole, rest);
  if (slides_ && leaving != nullptr) {
    kernels_.slide_sums(scratch.rows.back(), leaving, whole, sums);
    if (rest == 0) return;
    std::memcpy(scratch.levels.data(), leaving + whole, rest);
    kernels_.slide_sums(scratch.strip_rows.back(), scratch.levels.data(), kConvolveBytes,
                        sums + whole);
    return;
  }
  const SymmetricWeights column{kernel_.column.data(), kernel_.size};
  kernels_.column_sums(column, scratch.rows.data(), whole, sums);
  if (rest == 0) return;
  kernels_.column_sums(column, scratch.strip_rows.data(), kConvolveBytes, sums + whole);
}

/// Sums of columns first, which the border's columns have in common with the frame's; then along
/// the row.
void Convolution::separable_row(Scratch& scratch, const std::uint8_t* leaving,
                                const RowOut& to) const {
  const std::size_t whole = round_down(bytes_);
  const std::size_t rest = bytes_ - whole;
  std::uint32_t* sums = scratch.sums.data() + kReach;
  sum_columns(scratch, leaving);
  extend(sums);

  const SymmetricWeights row{kernel_.row.data(), kernel_.size};
  const auto bias = static_cast<std::uint32_t>(kernel_.bias);
  RowOut part = to;
  part.n = whole;
  kernels_.row_sums(row, step_, bias, division_, sums, part);
  if (rest == 0) return;
  part = {scratch.levels.data(), kConvolveBytes, Stores::cached, to.copied,
          scratch.strip_rows[scratch.strip_rows.size() / 2]};
  kernels_.row_sums(row, step_, bias, division_, sums + whole, part);
  std::memcpy(to.out + whole, scratch.levels.data(), rest);
}

/// Sums of the columns beside the frame.
void Convolution::extend(std::uint32_t* sums) const {
  std::uint32_t constant = 0;
  for (const std::int32_t weight : kernel_.column)
    constant += static_cast<std::uint32_t>(weight) * border_.value;
  const auto set = [&](int pixel) {
    const int index = border_index(pixel, desc_.width, border_.border);
    for (std::ptrdiff_t channel = 0; channel < step_; ++channel)
      sums[pixel * step_ + channel] = index < 0 ? constant : sums[index * step_ + channel];
  };
  for (int i = 1; i <= kernel_.radius(); ++i) {
    set(-i);
    set(desc_.width - 1 + i);
  }
}

}  // namespace equalux

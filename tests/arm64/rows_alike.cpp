// Compares the vectors' row kernels with plain C++, byte by byte, on machines that the suite does
// not run on: built for another processor and run under an emulator by scripts/check-arm64. Needs
// nothing but the kernels' own sources. Ends with 1 and a line for each kernel that differs.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "src/cpu/common/simd_targets.h"
#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/cpu/equalize/fused/gain_tables.h"

namespace equalux {

// Of simd_targets.h, without Highway's library: this build has one target.
std::string_view simd_target() {
  return "";
}
void simd_detail::visit_targets(void (*visit)(void* context), void* context) {
  visit(context);
}

namespace {

using Bytes = std::vector<std::uint8_t>;

int comparisons = 0;
int differences = 0;

void expect_same(const Bytes& a, const Bytes& b, const char* kernel, std::size_t n) {
  ++comparisons;
  if (a == b) return;
  ++differences;
  std::printf("%s differs from plain C++ in a row of %zu\n", kernel, n);
}

std::mt19937 random_bits(1);

/// Noise, or levels near one that changes slowly.
Bytes some_bytes(std::size_t n, bool noise) {
  Bytes bytes(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto r = static_cast<std::uint8_t>(random_bits());
    bytes[i] = noise ? r : static_cast<std::uint8_t>(100 + i / 9 % 60 + r % 8);
  }
  return bytes;
}

struct Curve {
  GainTables gains;
  GainTables luma_gains;
  MixedLevels left, right;
  TileLevels above, below;
};

/// Gains of a random histogram with maximum `most`, and two tiles' levels.
void make_curve(const RowKernels& kernels, std::int32_t most, Curve& curve) {
  ValueHistogram counts{};
  for (std::int32_t v = 0; v <= most; ++v)
    counts[static_cast<std::size_t>(v)] = 1 + random_bits() % 5000;
  make_gains(counts, Scaler::max_abs, 256, most, most == 255 ? 255 : 239, kernels, curve.gains);
  std::array<std::uint32_t, 256> levels{};
  for (std::uint32_t& level : levels)
    level = static_cast<std::uint32_t>(random_bits()) % (255U << 22);
  make_luma_gains(counts, levels, kernels, curve.luma_gains);
  for (TileLevels* tile : {&curve.above, &curve.below}) {
    for (std::size_t v = 0; v < 256; ++v)
      tile->level[v] = static_cast<std::uint16_t>(random_bits() % 16320);
    std::sort(std::begin(tile->level), std::end(tile->level));
    tile->level[0] = 64;
  }
}

/// What a kernel counts, by value.
template <typename Count>
Bytes counted(const RowKernels& kernels, bool pairs, const Count& count) {
  auto single = std::make_unique<SingleTables>();
  auto both = std::make_unique<PairTables>();
  for (auto& table : *single)
    table.fill(0);
  for (auto& table : *both)
    table.fill(0);
  const Counters counters{*single, pairs ? both.get() : nullptr};
  count(counters);
  ValueHistogram sums{};
  kernels.fold(counters, sums);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(sums.data());
  return Bytes(bytes, bytes + sizeof sums);
}

class Comparison {
 public:
  Comparison(const RowKernels& tested, std::size_t n, bool noise)
      : tested_(tested),
        n_(n),
        in_(some_bytes(4 * n, noise)),
        second_(some_bytes(n, noise)),
        cb_(some_bytes(n + 1, noise)),
        cr_(some_bytes(n + 1, noise)) {}

  void run() {
    gray_and_rgb();
    for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
      for (const Sampling sampling : {Sampling::s420, Sampling::s422, Sampling::s444})
        yuv(sampling, yuv_weights(ColorMatrix::bt709, range));
    }
    pairs();
  }

 private:
  template <typename Apply>
  void same(const char* kernel, std::size_t bytes, const Apply& apply) {
    Bytes got(bytes);
    Bytes wanted(bytes);
    apply(tested_, tested_curve_, got.data());
    apply(scalar_row_kernels(), plain_curve_, wanted.data());
    expect_same(got, wanted, kernel, n_);
  }
  template <typename Count>
  void same_counts(const char* kernel, const Count& count) {
    for (const bool in_pairs : {false, true}) {
      const auto of = [&](const RowKernels& k, bool two) {
        return counted(k, two, [&](const Counters& counters) { count(k, counters); });
      };
      expect_same(of(tested_, in_pairs), of(scalar_row_kernels(), false), kernel, n_);
    }
  }

  /// The same curve for both, the mixes and weights by each one's own kernels.
  void make_curves(std::int32_t most, WeightOrder order) {
    make_curve(scalar_row_kernels(), most, plain_curve_);
    tested_curve_ = plain_curve_;
    std::vector<std::uint16_t> of_right(n_);
    for (std::uint16_t& w : of_right)
      w = static_cast<std::uint16_t>(random_bits() % 257);
    const auto prepare = [&](const RowKernels& k, Curve& curve, std::vector<std::uint32_t>& w) {
      k.tiles.mix(curve.above, curve.below, 77, curve.left);
      k.tiles.mix(curve.below, curve.above, 200, curve.right);
      w.assign(weight_room(n_), 0);
      k.tiles.order_weights(order, of_right.data(), n_, w.data());
    };
    prepare(tested_, tested_curve_, tested_weights_);
    prepare(scalar_row_kernels(), plain_curve_, plain_weights_);
  }
  const std::uint32_t* weights_of(const RowKernels& k) const {
    return (&k == &tested_ ? tested_weights_ : plain_weights_).data();
  }

  void gray_and_rgb() {
    const std::uint8_t* in = in_.data();
    same_counts("count_gray",
                [&](const RowKernels& k, const Counters& c) { k.count_gray(in, n_, in, c); });
    same_counts("count_rgb3",
                [&](const RowKernels& k, const Counters& c) { k.count_rgb3(in, n_, in, c); });
    make_curves(255, WeightOrder::packed3);
    same("apply_rgb3", 3 * n_, [&](const RowKernels& k, const Curve& curve, std::uint8_t* out) {
      k.apply_rgb3(curve.gains, Stores::streaming, in, n_, out);
    });
    same("tiles.apply_rgb3", 3 * n_,
         [&](const RowKernels& k, const Curve& curve, std::uint8_t* out) {
           k.tiles.apply_rgb3(curve.left, curve.right, weights_of(k), in, n_, out);
         });
    make_curves(255, WeightOrder::others);
    same("apply_gray", n_, [&](const RowKernels& k, const Curve& curve, std::uint8_t* out) {
      k.apply_gray(curve.gains, Stores::streaming, in, n_, out);
    });
    same("tiles.apply_gray", n_, [&](const RowKernels& k, const Curve& curve, std::uint8_t* out) {
      k.tiles.apply_gray(curve.left, curve.right, weights_of(k), in, n_, out);
    });
    for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::rgba, PixelFormat::xrgb}) {
      const RgbLayout at = rgb_layout(format);
      same_counts("count_luma",
                  [&](const RowKernels& k, const Counters& c) { k.count_luma(at, in, n_, in, c); });
      same("apply_luma", static_cast<std::size_t>(at.step) * n_,
           [&](const RowKernels& k, const Curve& curve, std::uint8_t* out) {
             k.apply_luma(curve.luma_gains, Stores::streaming, at, in, n_, out);
           });
    }
    for (const int color : {0, 1}) {
      same_counts("count_rgb4", [&](const RowKernels& k, const Counters& c) {
        k.count_rgb4(in, n_, color, in, c);
      });
      same("apply_rgb4", 4 * n_, [&](const RowKernels& k, const Curve& curve, std::uint8_t* out) {
        k.apply_rgb4(curve.gains, Stores::streaming, in, n_, color, out);
      });
      same("tiles.apply_rgb4", 4 * n_,
           [&](const RowKernels& k, const Curve& curve, std::uint8_t* out) {
             k.tiles.apply_rgb4(curve.left, curve.right, weights_of(k), in, n_, color, out);
           });
    }
  }

  void yuv(Sampling sampling, const YuvWeights& weights) {
    const YuvRowIn in{{in_.data(), second_.data()}, cb_.data(), cr_.data()};
    same_counts("count_yuv", [&](const RowKernels& k, const Counters& c) {
      k.count_yuv(sampling, weights, in, n_, in, c);
    });
    make_curves(weights.luma_max, WeightOrder::others);
    const std::size_t chroma = sampling == Sampling::s444 ? n_ : (n_ + 1) / 2;
    const std::size_t rows = sampling == Sampling::s420 ? 2 : 1;
    const auto planes = [&](std::uint8_t* out) {
      std::uint8_t* cb = out + rows * n_;
      return YuvRowOut{{out, out + (rows - 1) * n_}, cb, cb + chroma};
    };
    same("apply_yuv", rows * n_ + 2 * chroma,
         [&](const RowKernels& k, const Curve& curve, std::uint8_t* out) {
           k.apply_yuv(sampling, weights, curve.gains, Stores::streaming, in, n_, planes(out));
         });
    same("tiles.apply_yuv", rows * n_ + 2 * chroma,
         [&](const RowKernels& k, const Curve& curve, std::uint8_t* out) {
           k.tiles.apply_yuv(sampling, weights, curve.left, curve.right, weights_of(k), in, n_,
                             planes(out));
         });
  }

  void pairs() {
    same("split", 2 * n_, [&](const RowKernels& k, const Curve&, std::uint8_t* out) {
      k.split(in_.data(), n_, out, out + n_);
    });
    same("merge", 2 * n_, [&](const RowKernels& k, const Curve&, std::uint8_t* out) {
      k.merge(in_.data(), second_.data(), n_, out);
    });
    same("stream_row", n_, [&](const RowKernels& k, const Curve&, std::uint8_t* out) {
      k.tiles.stream_row(in_.data(), n_, out);
    });
  }

  const RowKernels& tested_;
  std::size_t n_;
  Bytes in_, second_, cb_, cr_;
  Curve tested_curve_{}, plain_curve_{};
  std::vector<std::uint32_t> tested_weights_, plain_weights_;
};

/// The search of gains that round wrong, over gains near the fractions where a result changes.
void compare_first_parted(const RowKernels& tested) {
  for (std::int32_t c = 1; c <= 255; ++c) {
    const auto k = static_cast<double>(random_bits() % 255);
    for (const double off : {-1e-6, -1e-9, 0.0, 1e-9, 1e-6}) {
      const double exact = (2 * k + 1) / (2 * c) + off;
      const double margin = (exact + 1) / 4194304;
      const GainBounds bounds{exact, exact - margin, exact + margin};
      ++comparisons;
      if (tested.first_parted(bounds, 255) == scalar_row_kernels().first_parted(bounds, 255)) {
        continue;
      }
      ++differences;
      std::printf("first_parted differs from plain C++ at c = %d\n", c);
    }
  }
}

}  // namespace
}  // namespace equalux

int main() {
  using namespace equalux;
  const std::vector<RowKernels> all = all_row_kernels();
  const RowKernels& tested = all.front();
  if (tested.target == kScalarTarget) {
    std::puts("this build has no vectors to compare with plain C++");
    return 1;
  }
  for (const std::size_t n : {1, 2, 15, 16, 17, 31, 33, 64, 129, 130, 257, 1023}) {
    for (const bool noise : {true, false})
      Comparison(tested, n, noise).run();
  }
  compare_first_parted(tested);
  std::printf("%s: %d comparisons with plain C++, %d differ\n", std::string(tested.target).c_str(),
              comparisons, differences);
  return differences == 0 ? 0 : 1;
}

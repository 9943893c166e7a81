// Compares the vectors' loops over rows with plain C++, byte by byte, on machines that the suite
// does not run on: built for another processor and run under an emulator by scripts/check-arm64.
// Needs nothing but the loops' own sources. Ends with 1 and a line for each loop that differs.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "src/cpu/clahe/deep_tile_rows.h"
#include "src/cpu/clahe/opencv_rows.h"
#include "src/cpu/common/round_rows.h"
#include "src/cpu/common/simd_targets.h"
#include "src/cpu/convolve/convolve_rows.h"
#include "src/cpu/denoise/denoise_rows.h"
#include "src/cpu/denoise/plane.h"
#include "src/cpu/equalize/deep/deep_rows.h"
#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/cpu/equalize/fused/gain_tables.h"
#include "src/cpu/equalize/saturated_rows.h"
#include "src/cpu/equalize/space/hue_rows.h"
#include "src/cpu/hessian/hessian_rows.h"
#include "src/cpu/hessian/vessel_rows.h"
#include "src/denoise/noise_estimate.h"

namespace equalux {

// Of simd_targets.h, without Highway's library: this build has one target.
std::string_view simd_target() {
  return "";
}
void simd_detail::visit_targets(void (*visit)(void* context, std::string_view target),
                                void* context) {
  visit(context, hwy::TargetName(HWY_STATIC_TARGET));
}

namespace {

using Bytes = std::vector<std::uint8_t>;

int comparisons = 0;
int differences = 0;

void expect_same(const Bytes& a, const Bytes& b, const char* loop, std::size_t n) {
  ++comparisons;
  if (a == b) return;
  ++differences;
  std::printf("%s differs from plain C++ in a row of %zu\n", loop, n);
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
  ValueHistogram counts{};
  GainTables shaped;  ///< of the curve of `saturated`
  SaturatedGains saturated;
  MixedLevels left, right;
  TileLevels above, below;
};

/// Gains of a random histogram with maximum `most`, and two tiles' levels.
void make_curve(const FusedRows& loops, std::int32_t most, Curve& curve) {
  ValueHistogram& counts = curve.counts;
  counts.fill(0);
  for (std::int32_t v = 0; v <= most; ++v)
    counts[static_cast<std::size_t>(v)] = 1 + random_bits() % 5000;
  make_gains(counts, Scaler::max_abs, 256, most, most == 255 ? 255 : 239, loops, curve.gains);
  std::array<std::uint32_t, 256> levels{};
  for (std::uint32_t& level : levels)
    level = static_cast<std::uint32_t>(random_bits()) % (255U << 22);
  make_luma_gains(counts, levels, loops, curve.luma_gains);
  const std::uint32_t white = static_cast<std::uint32_t>(most) << tone::kCurveBits;
  for (std::uint32_t& level : levels)
    level = static_cast<std::uint32_t>(random_bits()) % (white + 1);
  std::sort(levels.begin(), levels.begin() + most + 1);
  make_gains(counts, levels, most, most == 255 ? 255 : 239, loops, curve.shaped);
  // Another factor each time, in half of them by level.
  const auto factor = static_cast<std::uint32_t>(random_bits() % (saturation::kMost + 1));
  const saturation::Rule rule = random_bits() % 2 == 0
                                    ? saturation::Rule{factor, saturation::kOne}
                                    : saturation::Rule{saturation::kOne, saturation::kMost};
  make_saturated(rule, levels, most, curve.saturated);
  for (TileLevels* tile : {&curve.above, &curve.below}) {
    for (std::size_t v = 0; v < 256; ++v)
      tile->level[v] = static_cast<std::uint16_t>(random_bits() % 16320);
    std::sort(std::begin(tile->level), std::end(tile->level));
    tile->level[0] = 64;
  }
}

/// What a loop counts, by value.
template <typename Count>
Bytes counted(const FusedRows& loops, bool pairs, const Count& count) {
  auto single = std::make_unique<SingleTables>();
  auto both = std::make_unique<PairTables>();
  for (auto& table : *single)
    table.fill(0);
  for (auto& table : *both)
    table.fill(0);
  const Counters counters{*single, pairs ? both.get() : nullptr};
  count(counters);
  ValueHistogram sums{};
  loops.fold(counters, sums);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(sums.data());
  return Bytes(bytes, bytes + sizeof sums);
}

class Comparison {
 public:
  Comparison(const FusedRows& tested, std::size_t n, bool noise)
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
  void same(const char* loop, std::size_t bytes, const Apply& apply) {
    Bytes got(bytes);
    Bytes wanted(bytes);
    apply(tested_, tested_curve_, got.data());
    apply(scalar_fused_rows(), plain_curve_, wanted.data());
    expect_same(got, wanted, loop, n_);
  }
  template <typename Count>
  void same_counts(const char* loop, const Count& count) {
    for (const bool in_pairs : {false, true}) {
      const auto of = [&](const FusedRows& k, bool two) {
        return counted(k, two, [&](const Counters& counters) { count(k, counters); });
      };
      expect_same(of(tested_, in_pairs), of(scalar_fused_rows(), false), loop, n_);
    }
  }

  /// The same curve for both, the mixes and weights by each one's own loops.
  void make_curves(std::int32_t most, WeightOrder order) {
    make_curve(scalar_fused_rows(), most, plain_curve_);
    tested_curve_ = plain_curve_;
    std::vector<std::uint16_t> of_right(n_);
    for (std::uint16_t& w : of_right)
      w = static_cast<std::uint16_t>(random_bits() % 257);
    const auto prepare = [&](const FusedRows& k, Curve& curve, std::vector<std::uint32_t>& w) {
      make_vectors(curve.counts, most, most == 255 ? 255 : 239, k, curve.saturated);
      k.tiles.mix(curve.above, curve.below, 77, curve.left);
      k.tiles.mix(curve.below, curve.above, 200, curve.right);
      w.assign(weight_room(n_), 0);
      k.tiles.order_weights(order, of_right.data(), n_, w.data());
    };
    prepare(tested_, tested_curve_, tested_weights_);
    prepare(scalar_fused_rows(), plain_curve_, plain_weights_);
  }
  const std::uint32_t* weights_of(const FusedRows& k) const {
    return (&k == &tested_ ? tested_weights_ : plain_weights_).data();
  }

  void gray_and_rgb() {
    const std::uint8_t* in = in_.data();
    same_counts("count_gray",
                [&](const FusedRows& k, const Counters& c) { k.count_gray(in, n_, in, c); });
    same_counts("count_rgb3",
                [&](const FusedRows& k, const Counters& c) { k.count_rgb3(in, n_, in, c); });
    make_curves(255, WeightOrder::packed3);
    same("apply_rgb3", 3 * n_, [&](const FusedRows& k, const Curve& curve, std::uint8_t* out) {
      k.apply_rgb3(curve.gains, Stores::streaming, in, n_, out);
    });
    same("tiles.apply_rgb3", 3 * n_,
         [&](const FusedRows& k, const Curve& curve, std::uint8_t* out) {
           k.tiles.apply_rgb3(curve.left, curve.right, weights_of(k), in, n_, out);
         });
    make_curves(255, WeightOrder::others);
    same("apply_gray", n_, [&](const FusedRows& k, const Curve& curve, std::uint8_t* out) {
      k.apply_gray(curve.gains, Stores::streaming, in, n_, out);
    });
    same("tiles.apply_gray", n_, [&](const FusedRows& k, const Curve& curve, std::uint8_t* out) {
      k.tiles.apply_gray(curve.left, curve.right, weights_of(k), in, n_, out);
    });
    for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::rgba, PixelFormat::xrgb}) {
      const RgbLayout at = rgb_layout(format);
      same_counts("count_luma",
                  [&](const FusedRows& k, const Counters& c) { k.count_luma(at, in, n_, in, c); });
      same("saturate_rgb", static_cast<std::size_t>(at.step) * n_,
           [&](const FusedRows& k, const Curve& curve, std::uint8_t* out) {
             k.saturate_rgb(curve.saturated, Stores::streaming, at, in, n_, out);
           });
      same("apply_luma", static_cast<std::size_t>(at.step) * n_,
           [&](const FusedRows& k, const Curve& curve, std::uint8_t* out) {
             k.apply_luma(curve.luma_gains, Stores::streaming, at, in, n_, out);
           });
    }
    for (const int color : {0, 1}) {
      same_counts("count_rgb4", [&](const FusedRows& k, const Counters& c) {
        k.count_rgb4(in, n_, color, in, c);
      });
      same("apply_rgb4", 4 * n_, [&](const FusedRows& k, const Curve& curve, std::uint8_t* out) {
        k.apply_rgb4(curve.gains, Stores::streaming, in, n_, color, out);
      });
      same("tiles.apply_rgb4", 4 * n_,
           [&](const FusedRows& k, const Curve& curve, std::uint8_t* out) {
             k.tiles.apply_rgb4(curve.left, curve.right, weights_of(k), in, n_, color, out);
           });
    }
  }

  void yuv(Sampling sampling, const YuvWeights& weights) {
    const YuvRowIn in{{in_.data(), second_.data()}, cb_.data(), cr_.data()};
    same_counts("count_yuv", [&](const FusedRows& k, const Counters& c) {
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
         [&](const FusedRows& k, const Curve& curve, std::uint8_t* out) {
           k.apply_yuv(sampling, weights, curve.gains, Stores::streaming, in, n_, planes(out));
         });
    same("saturate_yuv", rows * n_ + 2 * chroma,
         [&](const FusedRows& k, const Curve& curve, std::uint8_t* out) {
           k.saturate_yuv(curve.saturated, curve.shaped.gain48.data(), sampling, weights,
                          Stores::streaming, in, n_, planes(out));
         });
    same("tiles.apply_yuv", rows * n_ + 2 * chroma,
         [&](const FusedRows& k, const Curve& curve, std::uint8_t* out) {
           k.tiles.apply_yuv(sampling, weights, curve.left, curve.right, weights_of(k), in, n_,
                             planes(out));
         });
  }

  void pairs() {
    same("split", 2 * n_, [&](const FusedRows& k, const Curve&, std::uint8_t* out) {
      k.split(in_.data(), n_, out, out + n_);
    });
    same("merge", 2 * n_, [&](const FusedRows& k, const Curve&, std::uint8_t* out) {
      k.merge(in_.data(), second_.data(), n_, out);
    });
    same("stream_row", n_, [&](const FusedRows& k, const Curve&, std::uint8_t* out) {
      k.tiles.stream_row(in_.data(), n_, out);
    });
  }

  const FusedRows& tested_;
  std::size_t n_;
  Bytes in_, second_, cb_, cr_;
  Curve tested_curve_{}, plain_curve_{};
  std::vector<std::uint32_t> tested_weights_, plain_weights_;
};

/// The search of gains that round wrong, over gains near the fractions where a result changes.
void compare_first_parted(const FusedRows& tested) {
  for (std::int32_t c = 1; c <= 255; ++c) {
    const auto k = static_cast<double>(random_bits() % 255);
    for (const double off : {-1e-6, -1e-9, 0.0, 1e-9, 1e-6}) {
      const double exact = (2 * k + 1) / (2 * c) + off;
      const double margin = (exact + 1) / 4194304;
      const GainBounds bounds{exact, exact - margin, exact + margin};
      ++comparisons;
      if (tested.first_parted(bounds, 255) == scalar_fused_rows().first_parted(bounds, 255)) {
        continue;
      }
      ++differences;
      std::printf("first_parted differs from plain C++ at c = %d\n", c);
    }
  }
}

/// Rows of more than 8 bits: a random curve whose gains are a half and a whole number in turn, so
/// that many codes land on a half.
class DeepComparison {
 public:
  DeepComparison(const DeepRows& tested, PixelFormat format, std::size_t n, bool noise)
      : tested_(tested),
        format_(format),
        form_(deep_samples({format, 1, 1, ColorMatrix::bt2020, ColorRange::limited})),
        n_(n),
        in_(some_bytes(8 * n + 8, noise)),
        second_(some_bytes(2 * n, noise)),
        cb_(some_bytes(4 * n + 4, noise)),
        cr_(some_bytes(2 * n + 2, noise)) {
    gains_.resize(form_);
    const auto most = static_cast<std::uint64_t>(form_.weights.luma_max) << kDeepCurveBits;
    for (std::size_t v = 0; v < gains_.curve.size(); ++v) {
      const std::uint64_t half = static_cast<std::uint64_t>(v) << (kDeepCurveBits - 1);
      const std::uint64_t level = v % 3 == 0 ? random_bits() % most : half * (random_bits() % 5);
      gains_.curve[v] = static_cast<std::uint32_t>(std::min(level, most));
    }
    const std::vector<std::uint32_t> all(gains_.curve.size(), 1);
    tested.make_gains(form_, all, gains_);
    scalar_deep_rows().make_gains(form_, all, gains_);
    make_gray_words(form_, gains_);
    saturation_.resize(form_);
    // Another factor each time, in half of them by level.
    std::vector<std::uint32_t> factors(
        coarse_max(form_) + 1, static_cast<std::uint32_t>(random_bits() % (saturation::kMost + 1)));
    for (std::uint32_t& each : factors) {
      if (random_bits() % 2 == 0) break;
      each = static_cast<std::uint32_t>(random_bits() % (saturation::kMost + 1));
    }
    saturation_.set_factors(form_, factors.data());
    make_lines(form_, traits(format).model, all, gains_.curve, saturation_);
  }

  void run() const {
    same("counts", 4 * gains_.curve.size(), [&](const DeepRows& k, std::uint8_t* out) {
      std::vector<std::uint32_t> even(gains_.curve.size());
      std::vector<std::uint32_t> odd(gains_.curve.size());
      count(k, {{even.data(), odd.data()}});
      for (std::size_t v = 0; v < even.size(); ++v)
        even[v] += odd[v];
      std::memcpy(out, even.data(), 4 * even.size());
    });
    same("apply", 16 * n_ + 16, [&](const DeepRows& k, std::uint8_t* out) { apply(k, out); });
    if (traits(format_).model == ColorModel::gray) return;
    same("saturate", 16 * n_ + 16, [&](const DeepRows& k, std::uint8_t* out) { saturate(k, out); });
  }

 private:
  template <typename Make>
  void same(const char* what, std::size_t bytes, const Make& make) const {
    Bytes got(bytes);
    Bytes wanted(bytes);
    make(tested_, got.data());
    make(scalar_deep_rows(), wanted.data());
    expect_same(got, wanted, (std::string(to_string(format_)) + " " + what).c_str(), n_);
  }
  DeepYuvForm yuv_form() const {
    return {form_, deep_chroma_of(traits(format_)), cell_rows(sampling_of(format_))};
  }
  bool pairs() const { return yuv_form().chroma == DeepChroma::pairs; }
  YuvRowIn row() const {
    const bool two = yuv_form().rows == 2;
    return {{in_.data(), two ? second_.data() : in_.data()},
            cb_.data(),
            pairs() ? cb_.data() + 2 : cr_.data()};
  }
  void count(const DeepRows& k, const DeepCounters& counters) const {
    if (traits(format_).model == ColorModel::yuv) {
      k.count_yuv(yuv_form(), row(), n_, counters);
    } else if (traits(format_).model == ColorModel::gray) {
      k.count_gray(form_, in_.data(), n_, counters);
    } else {
      k.count_rgb(form_, rgb_layout(format_), in_.data(), n_, counters);
    }
  }
  void apply(const DeepRows& k, std::uint8_t* out) const {
    if (traits(format_).model == ColorModel::gray) {
      return k.apply_gray(form_, gains_, Stores::streaming, in_.data(), n_, out);
    }
    if (traits(format_).model == ColorModel::rgb) {
      return k.apply_rgb(form_, rgb_layout(format_), gains_, Stores::streaming, in_.data(), n_,
                         out);
    }
    k.apply_yuv(yuv_form(), gains_, Stores::streaming, row(), n_, rows(out));
  }
  void saturate(const DeepRows& k, std::uint8_t* out) const {
    if (traits(format_).model == ColorModel::rgb) {
      return k.saturate_rgb(form_, rgb_layout(format_), gains_, saturation_, Stores::streaming,
                            in_.data(), n_, out);
    }
    k.saturate_yuv(yuv_form(), gains_, saturation_, Stores::streaming, row(), n_, rows(out));
  }
  YuvRowOut rows(std::uint8_t* out) const {
    std::uint8_t* cb = out + 4 * n_;
    return {{out, yuv_form().rows == 2 ? out + 2 * n_ : out}, cb, pairs() ? cb + 2 : cb + 4 * n_};
  }

  const DeepRows& tested_;
  PixelFormat format_;
  DeepSamples form_;
  std::size_t n_;
  Bytes in_, second_, cb_, cr_;
  DeepGains gains_;
  DeepSaturation saturation_;
};

void compare_deep(const DeepRows& tested, std::size_t n, bool noise) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    if (has_deep_samples(format)) DeepComparison(tested, format, n, noise).run();
  }
}

/// Rows of more than 8 bits between tiles of random curves that rise.
class DeepTileComparison {
 public:
  DeepTileComparison(const DeepTileRows& tested, PixelFormat format, std::size_t n, bool noise)
      : tested_(tested),
        format_(format),
        form_(deep_tiles::form_of({format, 1, 1, ColorMatrix::bt2020, ColorRange::limited})),
        n_(n),
        in_(some_bytes(8 * n + 8, noise)),
        second_(some_bytes(2 * n, noise)),
        cb_(some_bytes(4 * n + 4, noise)),
        cr_(some_bytes(2 * n + 2, noise)) {
    for (DeepTileLevels* tile : {&above_, &below_}) {
      const std::uint32_t last = coarse_max(form_.samples);
      for (std::uint32_t i = 0; i <= last; ++i)
        tile->level[i] = static_cast<std::uint16_t>(i == 0 ? 0 : random_bits() % (256 * last + 1));
      std::sort(tile->level, tile->level + last + 1);
    }
    for (std::size_t x = 0; x < n; ++x)
      of_right_.push_back(static_cast<std::uint16_t>(random_bits() % 257));
  }

  void run() const {
    const bool yuv = traits(format_).model == ColorModel::yuv;
    same("tiles.mix", sizeof(DeepTileLevels), [&](const DeepTileRows& k, std::uint8_t* out) {
      const DeepTileLevels levels = mixed(k, 77);
      std::memcpy(out, levels.level, sizeof levels.level);
    });
    same("tiles.coarse", 2 * n_, [&](const DeepTileRows& k, std::uint8_t* out) {
      std::uint8_t* const levels[2] = {out, out + n_};
      if (yuv) return k.coarse_yuv(yuv_form(), row(), n_, levels);
      k.coarse_pixels(form_.samples, rgb_layout(format_), in_.data(), n_, out);
    });
    same("tiles.apply", 16 * n_ + 16, [&](const DeepTileRows& k, std::uint8_t* out) {
      const DeepTileLevels left = mixed(k, 77);
      const DeepTileLevels right = mixed(k, 200);
      std::vector<std::uint32_t> weights(deep_weight_room(n_));
      k.order_weights(of_right_.data(), n_, weights.data());
      const DeepTileSpan span{left, right, weights.data()};
      if (!yuv) return k.apply_pixels(form_, rgb_layout(format_), span, in_.data(), n_, out);
      const bool two = yuv_form().rows == 2;
      std::uint8_t* cb = out + 4 * n_;
      k.apply_yuv(form_, yuv_form().chroma, yuv_form().rows, span, row(), n_,
                  {{out, two ? out + 2 * n_ : out}, cb, pairs() ? cb + 2 : cb + 4 * n_});
    });
  }

 private:
  template <typename Make>
  void same(const char* what, std::size_t bytes, const Make& make) const {
    Bytes got(bytes);
    Bytes wanted(bytes);
    make(tested_, got.data());
    make(scalar_deep_tile_rows(), wanted.data());
    expect_same(got, wanted, (std::string(to_string(format_)) + " " + what).c_str(), n_);
  }
  DeepTileLevels mixed(const DeepTileRows& k, std::uint32_t of_below) const {
    DeepTileLevels levels;
    k.mix(above_, below_, of_below, levels);
    return levels;
  }
  DeepYuvForm yuv_form() const {
    return {form_.samples, deep_chroma_of(traits(format_)), cell_rows(sampling_of(format_))};
  }
  bool pairs() const { return yuv_form().chroma == DeepChroma::pairs; }
  YuvRowIn row() const {
    return {{in_.data(), yuv_form().rows == 2 ? second_.data() : in_.data()},
            cb_.data(),
            pairs() ? cb_.data() + 2 : cr_.data()};
  }

  const DeepTileRows& tested_;
  PixelFormat format_;
  deep_tiles::Form form_;
  std::size_t n_;
  Bytes in_, second_, cb_, cr_;
  DeepTileLevels above_{}, below_{};
  std::vector<std::uint16_t> of_right_;
};

void compare_deep_tiles(const DeepTileRows& tested, std::size_t n, bool noise) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    if (has_deep_samples(format)) DeepTileComparison(tested, format, n, noise).run();
  }
}

/// Colours of another lightness, within sRGB and outside.
void compare_hues(std::size_t n) {
  std::uniform_real_distribution<float> light(0, 1);
  std::vector<std::vector<float>> rows(4, std::vector<float>(n + kRowSlack));
  for (std::vector<float>& row : rows) {
    for (float& x : row)
      x = light(random_bits);
  }
  for (float& gain : rows[3])
    gain *= 3;
  const auto mapped = [&](const HueRows& k) {
    std::vector<std::vector<float>> r = rows;
    k.map(r[0].data(), r[1].data(), r[2].data(), r[3].data(), n);
    Bytes bytes;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto* begin = reinterpret_cast<const std::uint8_t*>(r[i].data());
      bytes.insert(bytes.end(), begin, begin + n * sizeof(float));
    }
    return bytes;
  };
  expect_same(mapped(all_hue_rows().front()), mapped(scalar_hue_rows()), "map of hues", n);
}

/// Rows of noise reduction over random samples.
class DenoiseComparison {
 public:
  DenoiseComparison(const denoise::DenoiseRows& tested, std::size_t n)
      : tested_(tested),
        plain_(denoise::scalar_denoise_rows()),
        n_(n),
        samples_(plane<std::int16_t>(0, denoise::kSampleMost)),
        near_(plane<std::int16_t>(5000, 5200)),
        weights_(plane<std::uint8_t>(0, denoise::kWeights - 1)),
        changes_(plane<std::uint8_t>(0, 255)),
        small_changes_(plane<std::uint8_t>(0, 2)),
        deviations_(plane<std::int8_t>(-denoise::kMostDeviation, denoise::kMostDeviation)),
        small_deviations_(plane<std::int8_t>(-8, 8)),
        gains_(plane<std::int16_t>(-denoise::kMostGain, denoise::kMostGain)) {}

  void run() {
    compare_frames();
    compare_motion();
    compare_estimates();
  }

 private:
  static constexpr int kRows = denoise::SampleWindow::kAll;
  using Rows = denoise::DenoiseRows;

  template <typename Sample>
  [[nodiscard]] denoise::Plane<Sample> plane(int least, int most) const {
    // Chroma looks at twice as much luma.
    denoise::Plane<Sample> made(2 * static_cast<int>(n_) + 2, kRows);
    std::uniform_int_distribution<int> any(least, most);
    for (int y = 0; y < kRows; ++y)
      for (int x = -denoise::kMargin; x < made.width() + denoise::kMargin; ++x)
        made.row(y)[x] = static_cast<Sample>(any(random_bits));
    return made;
  }

  /// What `run` writes to a row of n samples.
  template <typename Sample, typename Run>
  void same(const char* what, Run run) {
    const auto bytes_of = [&](const Rows& rows) {
      denoise::Plane<Sample> out(static_cast<int>(n_), 1);
      run(rows, out.row(0));
      const auto* const begin = reinterpret_cast<const std::uint8_t*>(out.row(0));
      return Bytes(begin, begin + n_ * sizeof(Sample));
    };
    expect_same(bytes_of(tested_), bytes_of(plain_), what, n_);
  }

  template <typename Sample>
  static denoise::Rows5<Sample> five(const denoise::Plane<Sample>& plane) {
    return {plane.row(0), plane.row(1), plane.row(2), plane.row(3), plane.row(4)};
  }

  void compare_frames() {
    struct Form {
      int step, depth, shift;
    };
    for (const Form& form : {Form{1, 8, 0}, Form{2, 8, 0}, Form{3, 8, 0}, Form{4, 8, 0},
                             Form{2, 10, 6}, Form{2, 12, 0}, Form{4, 10, 6}, Form{6, 12, 0}}) {
      const Bytes frame = some_bytes(n_ * 8 + 8, true);
      same<std::int16_t>("load", [&](const Rows& rows, std::int16_t* out) {
        rows.load(frame.data(), form.step, form.depth, form.shift, n_, out);
      });
      Bytes written[2] = {frame, frame};
      tested_.store(samples_.row(0), form.step, form.depth, form.shift, n_, written[0].data());
      plain_.store(samples_.row(0), form.step, form.depth, form.shift, n_, written[1].data());
      expect_same(written[0], written[1], "store", n_);
    }
  }

  void compare_motion() {
    same<std::int16_t>("halve", [&](const Rows& rows, std::int16_t* out) {
      rows.halve(samples_.row(0), samples_.row(1), n_, out);
    });
    const denoise::NoiseBlock blocks[2] = {tested_.noise_block(samples_.row(0), samples_.stride()),
                                           plain_.noise_block(samples_.row(0), samples_.stride())};
    expect_same(bytes_of(blocks[0]), bytes_of(blocks[1]), "noise_block", n_);
    for (const int gain : {0, denoise::kMostGain, -denoise::kMostGain}) {
      const auto noise_sums = [&](const Rows& rows) {
        return bytes_of(rows.noise_sums(samples_.row(0), samples_.stride(), blocks[1].level,
                                        near_.row(0), near_.stride(), gain));
      };
      expect_same(noise_sums(tested_), noise_sums(plain_), "noise_sums", n_);
    }
    const denoise::Taps* const none = nullptr;
    const denoise::Taps* const some = &denoise::taps_of(5);
    const denoise::Taps* const others = &denoise::taps_of(12);
    const auto window = [](const denoise::Plane<std::int16_t>& plane) {
      return denoise::SampleWindow{plane.row(denoise::SampleWindow::kAbove), plane.stride()};
    };
    for (const denoise::Plane<std::int16_t>* then : {&samples_, &near_}) {
      const denoise::SampleWindow a = window(samples_);
      denoise::SampleWindow b = window(*then);
      b.first += 3;
      const denoise::SlopeSums sums[2] = {tested_.slopes(a, b), plain_.slopes(a, b)};
      expect_same(bytes_of(sums[0]), bytes_of(sums[1]), "slopes", n_);
      expect_same(bytes_of(tested_.difference(a, b)), bytes_of(plain_.difference(a, b)),
                  "difference", n_);
      for (const auto& taps :
           {std::pair(some, none), {none, others}, {some, others}, {none, none}}) {
        const denoise::Taps* const across = taps.first;
        const denoise::Taps* const down = taps.second;
        constexpr int kLimit = 150;
        expect_same(bytes_of(tested_.moved_differences(a, b, across, down, kLimit)),
                    bytes_of(plain_.moved_differences(a, b, across, down, kLimit)),
                    "moved_differences", n_);
        same<std::int16_t>("interpolate", [&](const Rows& rows, std::int16_t* out) {
          rows.interpolate(b.first, b.stride, across, down, n_, 1, out, 0);
        });
      }
    }
    for (const bool between : {false, true}) {
      same<std::uint8_t>("move_weights", [&](const Rows& rows, std::uint8_t* out) {
        rows.move_weights(weights_.row(0), 0, between, n_, 1, out, 0);
      });
    }
  }

  void compare_estimates() {
    for (const int sigma : {3, 18, 40, 150, 3000}) {
      const denoise::NoiseCurves curves = denoise::constant_noise(sigma);
      for (denoise::Plane<std::int16_t>* plane : {&samples_, &near_}) {
        same<std::int8_t>("deviations", [&](const Rows& rows, std::int8_t* out) {
          rows.deviations(plane->row(0), plane->row(1), weights_.row(0), curves.inverse, n_, out);
        });
        same<std::int16_t>("smooth", [&](const Rows& rows, std::int16_t* out) {
          rows.smooth(five(*plane), weights_.row(0), curves.sigma, denoise::kMostSpatial, n_, out);
        });
      }
    }
    for (const bool chroma : {false, true}) {
      for (const denoise::Plane<std::int8_t>* deviations : {&deviations_, &small_deviations_}) {
        same<std::uint8_t>("changes", [&](const Rows& rows, std::uint8_t* out) {
          rows.changes(five(*deviations), chroma, n_, out);
        });
      }
    }
    same<std::int16_t>("lighten", [&](const Rows& rows, std::int16_t* out) {
      rows.lighten(samples_.row(0), gains_.row(0), n_, out);
    });
    for (const int shift : {0, 1}) {
      same<std::uint8_t>("join", [&](const Rows& rows, std::uint8_t* out) {
        rows.join(changes_.row(0), changes_.row(1), shift, n_, out);
      });
    }
    denoise::Plane<std::uint8_t> weight(static_cast<int>(n_), 1);
    denoise::Plane<std::int16_t> estimate(static_cast<int>(n_), 1);
    for (const denoise::WeightRule rule : {denoise::WeightRule{24, false}, {24, true}}) {
      for (const denoise::Plane<std::uint8_t>* changes : {&changes_, &small_changes_}) {
        const auto update = [&](const Rows& rows, std::int16_t* to, std::uint8_t* to_weight) {
          rows.update(near_.row(0), near_.row(1), weights_.row(0), changes->row(0), rule, n_, to,
                      to_weight);
        };
        same<std::int16_t>("update", [&](const Rows& rows, std::int16_t* out) {
          update(rows, out, weight.row(0));
        });
        same<std::uint8_t>("update", [&](const Rows& rows, std::uint8_t* out) {
          update(rows, estimate.row(0), out);
        });
      }
    }
    same<std::int16_t>("blend", [&](const Rows& rows, std::int16_t* out) {
      std::copy_n(near_.row(2), n_, out);
      rows.blend(samples_.row(0), 20000, n_, out);
    });
  }

  template <typename Value>
  static Bytes bytes_of(const Value& value) {
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(&value);
    return Bytes(begin, begin + sizeof value);
  }

  const Rows tested_;
  const Rows& plain_;
  std::size_t n_;
  denoise::Plane<std::int16_t> samples_;
  denoise::Plane<std::int16_t> near_;
  denoise::Plane<std::uint8_t> weights_;
  denoise::Plane<std::uint8_t> changes_;
  denoise::Plane<std::uint8_t> small_changes_;  // as where a codec repeats chroma
  denoise::Plane<std::int8_t> deviations_;
  denoise::Plane<std::int8_t> small_deviations_;
  denoise::Plane<std::int16_t> gains_;
};

/// Bytes of values.
template <typename Value>
Bytes bytes_of(const Value* first, std::size_t n) {
  Bytes bytes(n * sizeof(Value));
  std::memcpy(bytes.data(), first, bytes.size());
  return bytes;
}

/// Rounding of fractions and packing of 4:2:2.
void compare_rounding(std::size_t n) {
  const RoundRows tested = all_round_rows().front();
  const RoundRows& plain = scalar_round_rows();
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgb, PixelFormat::rgba,
                                   PixelFormat::nv12, PixelFormat::yuy2}) {
    const FractionRounder by_vectors(format, tested);
    const FractionRounder by_plain(format, plain);
    const Bytes in = some_bytes(2 * n, true);
    const auto rounded = [&](const FractionRounder& rounder, Dither dither) {
      Bytes out(n);
      rounder.round(0, 5, in.data(), n, dither, Stores::cached, out.data());
      return out;
    };
    for (const Dither dither : {Dither::none, Dither::ordered})
      expect_same(rounded(by_vectors, dither), rounded(by_plain, dither), "rounding", n);
  }
  const Bytes y = some_bytes(n, true);
  const Bytes cb = some_bytes(n, true);
  const Bytes cr = some_bytes(n, true);
  for (const int luma : {0, 1}) {
    const auto packed = [&](const RoundRows& rows) {
      Bytes out(4 * ((n + 1) / 2));
      rows.pack(y.data(), cb.data(), cr.data(), luma, n, out.data());
      return out;
    };
    expect_same(packed(tested), packed(plain), "packing of 4:2:2", n);
  }
}

/// Tiles with OpenCV's bytes.
void compare_opencv_tiles(std::size_t n) {
  const OpencvRows tested = all_opencv_rows().front();
  const OpencvRows& plain = scalar_opencv_rows();
  std::uniform_real_distribution<float> part(0, 1);
  std::vector<float> of_right(n);
  std::generate(of_right.begin(), of_right.end(), [&] { return part(random_bits); });
  const float of_below = part(random_bits);
  std::array<Bytes, 4> bytes;
  std::array<std::vector<std::uint16_t>, 4> words;
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[i] = some_bytes(256, true);
    words[i].resize(65537);
    for (std::uint16_t& level : words[i])
      level = static_cast<std::uint16_t>(random_bits());
  }
  const Bytes in = some_bytes(2 * n, true);
  const auto mixed_bytes = [&](const OpencvRows& rows) {
    std::vector<std::uint32_t> quads(256);
    rows.join(bytes[0].data(), bytes[1].data(), bytes[2].data(), bytes[3].data(), quads.data());
    Bytes out(n);
    rows.mix_bytes(quads.data(), of_right.data(), of_below, in.data(), n, out.data());
    return out;
  };
  const auto mixed_words = [&](const OpencvRows& rows) {
    Bytes out(2 * n);
    rows.mix_words({words[0].data(), words[1].data(), words[2].data(), words[3].data()},
                   of_right.data(), of_below, in.data(), n, out.data());
    return out;
  };
  expect_same(mixed_bytes(tested), mixed_bytes(plain), "OpenCV's tiles of bytes", n);
  expect_same(mixed_words(tested), mixed_words(plain), "OpenCV's tiles of words", n);
}

/// Memory that begins with a cache line.
template <typename Value>
class Lines {
 public:
  explicit Lines(std::size_t n) : memory_(n + 64 / sizeof(Value)) {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_.data());
    first_ = memory_.data() + (64 - at % 64) % 64 / sizeof(Value);
  }
  [[nodiscard]] Value* data() const { return first_; }

 private:
  std::vector<Value> memory_;
  Value* first_;
};

/// Convolutions: taps of any weights, Gaussians and boxes.
class ConvolutionComparison {
 public:
  explicit ConvolutionComparison(std::size_t n) : n_(convolve_bytes_up(n)) {
    for (Bytes& row : rows_)
      row = some_bytes(n_ + 2 * kReach, true);
    for (const Bytes& row : rows_)
      at_.push_back(row.data() + kReach);
  }

  void run() {
    for (const int most : {14, 32767, 400000}) {
      for (const std::uint32_t divisor : {1U, 64U, 7U, 54321U})
        compare_taps(most, divisor);
    }
    for (const std::ptrdiff_t step : {1, 3, 4}) {
      for (int size = 3; size <= 31; size += 4) {
        same("Gaussian", [&](const ConvolveRows& rows) { return gaussian(rows, size, step); });
        same("box", [&](const ConvolveRows& rows) { return box(rows, size, step); });
      }
    }
  }

 private:
  static constexpr std::size_t kReach = 2 * kConvolveBytes;
  static constexpr std::size_t kRows = 33;

  template <typename Run>
  void same(const char* what, Run run) {
    expect_same(run(all_convolve_rows().front()), run(scalar_convolve_rows()), what, n_);
  }

  void compare_taps(int most, std::uint32_t divisor) {
    std::uniform_int_distribution<int> weight(-most, most);
    std::vector<Tap> taps;
    for (int i = 0; i < 9; ++i)
      taps.push_back({i / 3, 3 * (i % 3 - 1), weight(random_bits)});
    taps.push_back({1, 0, 0});
    const auto bias = static_cast<std::int32_t>(divisor / 2);
    same("taps of 32 bits", [&](const ConvolveRows& rows) {
      Bytes out(n_);
      rows.long_taps({taps, bias, most < 32768, long_division(divisor)}, at_.data(),
                     {out.data(), n_});
      return out;
    });
    if (most > 14 || divisor > 64) return;
    same("taps of 16 bits", [&](const ConvolveRows& rows) {
      Bytes out(n_);
      rows.short_taps({taps, static_cast<std::int16_t>(bias), short_division(divisor)}, at_.data(),
                      {out.data(), n_});
      return out;
    });
  }

  [[nodiscard]] Bytes gaussian(const ConvolveRows& rows, int size, std::ptrdiff_t step) const {
    std::vector<std::int32_t> all(static_cast<std::size_t>(size), 4096 / size / 2);
    all[all.size() / 2] += 4096 - size * (4096 / size / 2);
    const GaussianWeights weights = gaussian_weights(all);
    std::vector<Lines<std::uint32_t>> sums;
    std::vector<const std::uint32_t*> down;
    for (int i = 0; i < 2 * weights.radius + 2; ++i) {
      sums.emplace_back(n_);
      rows.weigh_row(weights, step, at_[static_cast<std::size_t>(i)], n_, sums.back().data());
    }
    for (const Lines<std::uint32_t>& each : sums)
      down.push_back(each.data());
    Bytes first(n_);
    Bytes below(n_);
    rows.weigh_columns(weights, down.data(), 0, n_, {first.data(), n_}, {below.data(), n_});
    first.insert(first.end(), below.begin(), below.end());
    return first;
  }

  [[nodiscard]] Bytes box(const ConvolveRows& rows, int size, std::ptrdiff_t step) const {
    std::vector<Lines<std::uint16_t>> along;
    const Lines<std::uint16_t> nothing(n_);
    const Lines<std::uint32_t> sums(n_);
    for (int i = 0; i <= size; ++i) {
      along.emplace_back(n_);
      rows.box_row(size, step, at_[static_cast<std::size_t>(i)], n_, along.back().data());
    }
    for (int i = 0; i + 1 < size; ++i) {
      rows.box_columns(size, along[static_cast<std::size_t>(i)].data(), nothing.data(), sums.data(),
                       {nullptr, n_});
    }
    Bytes first(n_);
    Bytes below(n_);
    rows.box_columns(size, along[static_cast<std::size_t>(size - 1)].data(), nothing.data(),
                     sums.data(), {first.data(), n_});
    rows.box_columns(size, along[static_cast<std::size_t>(size)].data(), along[0].data(),
                     sums.data(), {below.data(), n_});
    first.insert(first.end(), below.begin(), below.end());
    return first;
  }

  std::size_t n_;
  std::array<Bytes, kRows> rows_;
  std::vector<const std::uint8_t*> at_;
};

/// Eigenvalues, and what `vessel` and `shapes` make of them, infinite and undefined ones included.
class HessianComparison {
 public:
  explicit HessianComparison(std::size_t n) : n_(n), levels_(kRows * kPitch) {
    std::uniform_real_distribution<float> level(0, 255);
    for (std::size_t i = 0; i < kRows * kPitch; ++i)
      levels_.data()[i] = level(random_bits);
  }

  void run() {
    for (const double sigma : {1.0, 2.5}) {
      for (const HessianDerivative derivative :
           {HessianDerivative::gaussian, HessianDerivative::gradient,
            HessianDerivative::sobel_laplacian}) {
        const HessianWeights weights = hessian_weights(derivative, sigma, 4);
        same("eigenvalues", [&](const HessianRows& rows) { return eigenvalues(rows, weights); });
      }
    }
    compare_levels();
    compare_measures();
  }

 private:
  static constexpr std::size_t kRows = 32;
  static constexpr std::size_t kLeft = 64;  // columns before the first
  static constexpr std::size_t kPitch = 2 * kSecondCopy;

  template <typename Run>
  void same(const char* what, Run run) {
    expect_same(run(all_hessian_rows().front()), run(scalar_hessian_rows()), what, n_);
  }

  [[nodiscard]] Bytes eigenvalues(const HessianRows& rows, const HessianWeights& weights) const {
    std::vector<const float*> taps;
    for (int k = 0; k <= 2 * weights.radius + 1; ++k)
      taps.push_back(levels_.data() + static_cast<std::size_t>(k) * kPitch);
    const Lines<float> derived(6 * kPitch);
    const auto three = [&](std::size_t first) {
      float* const at = derived.data() + first * kPitch;
      return DerivativeRows{at, at + kPitch, at + 2 * kPitch};
    };
    rows.vertical_pair(weights, taps.data(), kLeft + n_ + kLeft, three(0), three(3));
    rows.vertical(weights, taps.data(), kLeft + n_ + kLeft, three(0));
    const Lines<float> first(n_ + kRowSlack);
    const Lines<float> second(n_ + kRowSlack);
    const Lines<float> smooth(n_ + kRowSlack);
    Bytes all;
    for (const std::size_t row : {0, 3}) {
      const DerivativeRows in = three(row);
      rows.eigenvalues(weights, {in.smooth + kLeft, in.slope + kLeft, in.curve + kLeft}, n_,
                       {first.data(), second.data(), false});
      rows.smooth(weights, in.smooth + kLeft, n_, smooth.data());
      for (const Lines<float>* each : {&first, &second, &smooth}) {
        const Bytes bytes = bytes_of(each->data(), n_);
        all.insert(all.end(), bytes.begin(), bytes.end());
      }
    }
    return all;
  }

  void compare_levels() {
    const Bytes in = some_bytes(4 * n_, true);
    const auto levels = [&](const auto& run) {
      return [&](const HessianRows& rows) {
        const Lines<float> out(n_ + kRowSlack);
        run(rows, out.data());
        return bytes_of(out.data(), n_);
      };
    };
    same("levels of gray", levels([&](const HessianRows& rows, float* out) {
           rows.gray_levels(in.data(), n_, out);
         }));
    for (const PixelFormat format : {PixelFormat::rgb, PixelFormat::bgrx, PixelFormat::argb}) {
      for (const HessianChannel channel : {HessianChannel::luma, HessianChannel::value,
                                           HessianChannel::red, HessianChannel::blue}) {
        same("levels of RGB", levels([&](const HessianRows& rows, float* out) {
               rows.rgb_levels(channel, rgb_layout(format), in.data(), n_, out);
             }));
      }
    }
  }

  void compare_measures() {
    constexpr float kInfinite = std::numeric_limits<float>::infinity();
    const std::array<float, 9> odd{0.0F,  -0.0F,   kInfinite, -kInfinite, std::nanf(""),
                                   1e38F, -1e-38F, 1e-40F,    -3e38F};
    std::normal_distribution<float> near(0, 30);
    const auto some = [&] {
      Lines<float> row(n_ + kRowSlack);
      for (std::size_t i = 0; i < n_; ++i)
        row.data()[i] =
            random_bits() % 5 == 0 ? odd[random_bits() % odd.size()] : near(random_bits);
      return row;
    };
    const Lines<float> first = some();
    const Lines<float> second = some();
    const Lines<float> light = some();
    const auto run = [&](const VesselRows& rows) {
      Bytes all;
      const auto keep = [&](const Bytes& bytes) {
        all.insert(all.end(), bytes.begin(), bytes.end());
      };
      for (const float sign : {1.0F, -1.0F}) {
        const Lines<float> gain(n_ + kRowSlack);
        rows.contrast_gains(light.data(), n_, gain.data());
        const Lines<float> best(n_ + kRowSlack);
        for (const bool frangi : {false, true}) {
          std::fill_n(best.data(), n_, 0.0F);
          if (frangi) {
            rows.add_frangi(sign, first.data(), second.data(), gain.data(), n_, best.data());
          } else {
            rows.add_ridge(sign, second.data(), n_, best.data());
            rows.scale(gain.data(), n_, best.data());
          }
          rows.keep_within(sign, light.data(), first.data(), n_, best.data());
          Bytes out(n_);
          rows.classify(best.data(), 0.1F, 0.4F, n_, out.data());
          keep(out);
          rows.heat(best.data(), 300.0F, n_, out.data());
          keep(out);
        }
      }
      Bytes out(n_);
      rows.shapes(first.data(), second.data(), 8, 0.3F, 0.6F, n_, out.data());
      keep(out);
      return all;
    };
    expect_same(run(all_vessel_rows().front()), run(scalar_vessel_rows()), "measures", n_);
  }

  std::size_t n_;
  Lines<float> levels_;
};

}  // namespace
}  // namespace equalux

int main() {
  using namespace equalux;
  const std::vector<FusedRows> all = all_fused_rows();
  const std::vector<DeepRows> all_deep = all_deep_rows();
  const FusedRows& tested = all.front();
  const DeepRows& deep = all_deep.front();
  const DeepTileRows deep_tiles = all_deep_tile_rows().front();
  const denoise::DenoiseRows denoising = denoise::all_denoise_rows().front();
  if (tested.target == kScalarTarget || deep.target == kScalarTarget ||
      deep_tiles.target == kScalarTarget || denoising.target == kScalarTarget ||
      all_hessian_rows().size() == 1 || all_vessel_rows().size() == 1) {
    std::puts("this build has no vectors to compare with plain C++");
    return 1;
  }
  for (const std::size_t n : {1, 2, 15, 16, 17, 31, 33, 64, 129, 130, 257, 1023}) {
    for (const bool noise : {true, false}) {
      Comparison(tested, n, noise).run();
      compare_deep(deep, n, noise);
      compare_deep_tiles(deep_tiles, n, noise);
    }
    compare_hues(n);
    DenoiseComparison(denoising, n).run();
    compare_rounding(n);
    compare_opencv_tiles(n);
    ConvolutionComparison(n).run();
    if (n <= 256) HessianComparison(n).run();
  }
  compare_first_parted(tested);
  std::printf("%s: %d comparisons with plain C++, %d differ\n", std::string(tested.target).c_str(),
              comparisons, differences);
  return differences == 0 ? 0 : 1;
}

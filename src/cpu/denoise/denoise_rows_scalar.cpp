#include <algorithm>
#include <cstdlib>

#include "src/cpu/common/simd_targets.h"
#include "src/cpu/common/stores.h"
#include "src/cpu/denoise/denoise_rows.h"

namespace equalux::denoise {
namespace {

void load(const std::uint8_t* in, int step, int depth, int shift, std::size_t n,
          std::int16_t* out) {
  const int up = kSampleBits - depth;
  for (std::size_t i = 0; i < n; ++i, in += step) {
    std::uint16_t code = *in;
    if (depth > 8) {
      // Saturates: words of a file may hold more bits than their depth.
      code = static_cast<std::uint16_t>(std::min(load_word(in) >> shift, (1 << depth) - 1));
    }
    out[i] = static_cast<std::int16_t>(code << up);
  }
}

void store(const std::int16_t* in, int step, int depth, int shift, std::size_t n,
           std::uint8_t* out) {
  const int up = kSampleBits - depth;
  const int most = (1 << depth) - 1;
  for (std::size_t i = 0; i < n; ++i, out += step) {
    const auto code = static_cast<std::uint16_t>(clamp((in[i] + (1 << up) / 2) >> up, 0, most));
    if (depth > 8) {
      store_word(out, static_cast<std::uint16_t>(code << shift));
    } else {
      *out = static_cast<std::uint8_t>(code);
    }
  }
}

NoiseBlock noise_block(const std::int16_t* first, std::ptrdiff_t stride) {
  return {block_level(first, stride), block_texture(first, stride)};
}

NoiseSums sums_of_block(const std::int16_t* first, std::ptrdiff_t stride, int level,
                        const std::int16_t* then, std::ptrdiff_t then_stride, int gain) {
  return noise_sums(first, stride, level, then, then_stride, gain);
}

void halve(const std::int16_t* above, const std::int16_t* below, std::size_t n, std::int16_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const int sum = above[2 * i] + above[2 * i + 1] + below[2 * i] + below[2 * i + 1];
    out[i] = static_cast<std::int16_t>((sum + 2) >> 2);
  }
}

void copy_rows(const std::int16_t* first, std::ptrdiff_t stride, int height, int y, int rows,
               std::int16_t* out) {
  for (int k = 0; k < rows; ++k)
    std::copy_n(first + clamp(y + k, 0, height - 1) * stride, kCopied, out + k * kCopied);
}

int difference(SampleWindow a, SampleWindow b) {
  int sum = 0;
  for (int y = 0; y < SampleWindow::kSide; ++y)
    for (int x = 0; x < SampleWindow::kSide; ++x)
      sum += std::abs(a.row(y)[x] - b.row(y)[x]);
  return sum;
}

WindowDifference differences(SampleWindow a, SampleWindow b, int limit) {
  WindowDifference sums{0, 0};
  for (int y = 0; y < SampleWindow::kSide; ++y) {
    for (int x = 0; x < SampleWindow::kSide; ++x) {
      const int difference = a.row(y)[x] - b.row(y)[x];
      sums.magnitudes += std::abs(difference);
      sums.drift += clamp(difference, -limit, limit);
    }
  }
  return sums;
}

WindowDifference moved_differences(SampleWindow a, SampleWindow b, const Taps* across,
                                   const Taps* down, int limit) {
  constexpr int kSide = SampleWindow::kSide;
  constexpr int kAbove = SampleWindow::kAbove;
  std::int16_t rows[SampleWindow::kAll][kSide];
  // Rows above and below are needed only for interpolation down.
  const int begin = down == nullptr ? kAbove : 0;
  const int end = down == nullptr ? kAbove + kSide : SampleWindow::kAll;
  for (int y = begin; y < end; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const std::int16_t* const at = b.row(y - kAbove) + x;
      rows[y][x] =
          across == nullptr ? *at : static_cast<std::int16_t>(interpolated(at - 2, 1, *across));
    }
  }
  std::int16_t moved[kSide][kSide];
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      moved[y][x] = down == nullptr
                        ? rows[y + kAbove][x]
                        : static_cast<std::int16_t>(interpolated(&rows[y][x], kSide, *down));
    }
  }
  return differences(a, {moved[0], kSide}, limit);
}

SlopeSums slopes(SampleWindow now, SampleWindow then) {
  SlopeSums sums;
  for (int y = 0; y < SampleWindow::kSide; ++y) {
    const std::int16_t* const row = then.row(y);
    for (std::ptrdiff_t x = 0; x < SampleWindow::kSide; ++x)
      add_slopes(now.row(y)[x], row[x], row[x - 1], row[x + 1], then.row(y - 1)[x],
                 then.row(y + 1)[x], sums);
  }
  return sums;
}

void interpolate(const std::int16_t* in, std::ptrdiff_t stride, const Taps* across,
                 const Taps* down, std::size_t n, int rows, std::int16_t* out,
                 std::ptrdiff_t out_stride) {
  const auto between = [&](const std::int16_t* at) {
    return across == nullptr ? *at : static_cast<std::int16_t>(interpolated(at - 2, 1, *across));
  };
  for (int y = 0; y < rows; ++y, in += stride, out += out_stride) {
    for (std::size_t i = 0; i < n; ++i) {
      if (down == nullptr) {
        out[i] = between(in + i);
        continue;
      }
      std::int16_t samples[kTaps];
      for (int k = 0; k < kTaps; ++k)
        samples[k] = between(in + i + (k - 2) * stride);
      out[i] = static_cast<std::int16_t>(interpolated(samples, 1, *down));
    }
  }
}

void move_weights(const std::uint8_t* weight, std::ptrdiff_t stride, bool between, std::size_t n,
                  int rows, std::uint8_t* out, std::ptrdiff_t out_stride) {
  for (int y = 0; y < rows; ++y, weight += stride, out += out_stride)
    for (std::size_t i = 0; i < n; ++i)
      out[i] = between ? static_cast<std::uint8_t>(weight_between(weight[i])) : weight[i];
}

void lighten(const std::int16_t* estimate, const std::int16_t* gain, std::size_t n,
             std::int16_t* out) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = static_cast<std::int16_t>(lightened(estimate[i], gain[i]));
}

void deviations(const std::int16_t* sample, const std::int16_t* estimate,
                const std::uint8_t* weight, const LevelCurve& inverse, std::size_t n,
                std::int8_t* out) {
  const WeightTables& tables = weight_tables();
  for (std::size_t i = 0; i < n; ++i) {
    const int certainty = fraction(tables.certainty[weight[i]]);
    out[i] = static_cast<std::int8_t>(
        deviation(sample[i], estimate[i], inverse.at(estimate[i]), certainty));
  }
}

void changes(const Rows5<std::int8_t>& rows, bool chroma, std::size_t n, std::uint8_t* out) {
  for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(n); ++i) {
    int sum = 0;
    int magnitudes = 0;
    for (const std::int8_t* row : rows) {
      for (std::ptrdiff_t k = -2; k <= 2; ++k) {
        sum += row[i + k];
        magnitudes += row[i + k] < 0 ? -row[i + k] : row[i + k];
      }
    }
    out[i] = static_cast<std::uint8_t>(change_or_repeated(sum, magnitudes, rows[2][i], chroma));
  }
}

void join(const std::uint8_t* above, const std::uint8_t* below, int shift_x, std::size_t n,
          std::uint8_t* change) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = i << shift_x;
    const int covered = shift_x == 0
                            ? (above[at] + below[at] + 1) >> 1
                            : (above[at] + above[at + 1] + below[at] + below[at + 1] + 2) >> 2;
    change[i] = std::max(change[i], static_cast<std::uint8_t>(covered));
  }
}

void update(const std::int16_t* sample, const std::int16_t* estimate, const std::uint8_t* weight,
            const std::uint8_t* change, WeightRule rule, std::size_t n, std::int16_t* new_estimate,
            std::uint8_t* new_weight) {
  const WeightTables& tables = weight_tables();
  for (std::size_t i = 0; i < n; ++i) {
    const int left = weight_after(weight[i], change[i]);
    new_estimate[i] =
        static_cast<std::int16_t>(estimate_of(sample[i], estimate[i], fraction(tables.keep[left])));
    const bool repeated = rule.chroma && change[i] == kRepeated;
    new_weight[i] = static_cast<std::uint8_t>(next_weight(left, repeated, rule.most));
  }
}

void smooth(const Rows5<std::int16_t>& rows, const std::uint8_t* weight, const LevelCurve& sigma,
            int spatial, std::size_t n, std::int16_t* out) {
  const WeightTables& tables = weight_tables();
  for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(n); ++i) {
    const int own = rows[2][i];
    const int far = reach(sigma.at(own), fraction(tables.left[weight[i]]), spatial);
    int sum = 0;
    for (std::ptrdiff_t y = -2; y <= 2; ++y) {
      for (std::ptrdiff_t x = -2; x <= 2; ++x) {
        if (is_neighbour(static_cast<int>(x), static_cast<int>(y)))
          sum += pull(rows[static_cast<std::size_t>(y + 2)][i + x] - own, far);
      }
    }
    out[i] = static_cast<std::int16_t>(own + times(sum, kNeighbourShare));
  }
}

void blend(const std::int16_t* sample, int strength, std::size_t n, std::int16_t* out) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = static_cast<std::int16_t>(sample[i] + times(out[i] - sample[i], strength));
}

}  // namespace

const DenoiseRows& scalar_denoise_rows() {
  static const DenoiseRows rows{
      kScalarTarget, load,        store,        noise_block, sums_of_block,
      halve,         copy_rows,   difference,   differences, moved_differences,
      slopes,        interpolate, move_weights, lighten,     deviations,
      changes,       join,        update,       smooth,      blend};
  return rows;
}

}  // namespace equalux::denoise

#include <algorithm>
#include <cmath>

#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/cpu/equalize/saturated_rows.h"
#include "src/equalize/space.h"
#include "src/equalize/tone/tone_curve.h"

namespace equalux {
namespace {

/// Counts v of pixel i.
void count(std::uint8_t v, std::size_t i, const Counters& counters) {
  ++counters.single[i % counters.single.size()][v];
}

void count_gray(const std::uint8_t* in, std::size_t n, const std::uint8_t*,
                const Counters& counters) {
  for (std::size_t i = 0; i < n; ++i)
    count(in[i], i, counters);
}

void count_rgb3(const std::uint8_t* in, std::size_t n, const std::uint8_t*,
                const Counters& counters) {
  for (std::size_t i = 0; i < n; ++i) {
    count(std::max({in[3 * i], in[3 * i + 1], in[3 * i + 2]}), i, counters);
  }
}

void count_rgb4(const std::uint8_t* in, std::size_t n, int color, const std::uint8_t*,
                const Counters& counters) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint8_t* c = in + 4 * i + color;
    count(std::max({c[0], c[1], c[2]}), i, counters);
  }
}

std::uint8_t luma_at(const RgbLayout& at, const std::uint8_t* pixel) {
  return static_cast<std::uint8_t>(rgb_luma(pixel[at.r], pixel[at.g], pixel[at.b]));
}

void count_luma(const RgbLayout& at, const std::uint8_t* in, std::size_t n, const std::uint8_t*,
                const Counters& counters) {
  for (std::size_t i = 0; i < n; ++i, in += at.step)
    count(luma_at(at, in), i, counters);
}

void count_yuv(Sampling sampling, const YuvWeights& weights, const YuvRowIn& in, std::size_t n,
               const YuvRowIn&, const Counters& counters) {
  const auto columns = static_cast<std::size_t>(cell_columns(sampling));
  const auto rows = static_cast<std::size_t>(cell_rows(sampling));
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t c = i / columns;
    const std::int32_t above = value_above_luma(weights, in.cb[c], in.cr[c]);
    for (std::size_t r = 0; r < rows; ++r) {
      count(byte_of(yuv_value(weights, in.luma[r][i], above)), 2 * i + r, counters);
    }
  }
}

void fold(const Counters& counters, ValueHistogram& counts) {
  for (ValueHistogram& table : counters.single) {
    for (std::size_t v = 0; v < table.size(); ++v)
      counts[v] += table[v];
    table.fill(0);
  }
}

void apply_gray(const GainTables& gains, Stores, const std::uint8_t* in, std::size_t n,
                std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = gains.gray[in[i]];
}

void apply_rgb3(const GainTables& gains, Stores, const std::uint8_t* in, std::size_t n,
                std::uint8_t* out) {
  for (std::size_t i = 0; i < 3 * n; i += 3) {
    const std::uint64_t gain = gains.gain48[std::max({in[i], in[i + 1], in[i + 2]})];
    for (std::size_t k = i; k < i + 3; ++k)
      out[k] = byte_of(scale_exact(in[k], gain));
  }
}

void apply_rgb4(const GainTables& gains, Stores, const std::uint8_t* in, std::size_t n, int color,
                std::uint8_t* out) {
  const int alpha = color == 0 ? 3 : 0;
  for (std::size_t i = 0; i < n; ++i, in += 4, out += 4) {
    const std::uint8_t* c = in + color;
    const std::uint64_t gain = gains.gain48[std::max({c[0], c[1], c[2]})];
    for (int k = color; k < color + 3; ++k)
      out[k] = byte_of(scale_exact(in[k], gain));
    out[alpha] = in[alpha];
  }
}

void apply_luma(const GainTables& gains, Stores, const RgbLayout& at, const std::uint8_t* in,
                std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i, in += at.step, out += at.step) {
    const std::uint64_t gain = gains.gain48[luma_at(at, in)];
    if (at.alpha >= 0) out[at.alpha] = in[at.alpha];
    for (const int k : {at.first(), at.g, at.r + at.b - at.first()})
      out[k] = byte_of(std::min(scale_exact(in[k], gain), 255));
  }
}

/// Scales the luma samples that one chroma sample covers, then the chroma sample.
void apply_yuv(Sampling sampling, const YuvWeights& weights, const GainTables& gains, Stores,
               const YuvRowIn& in, std::size_t n, const YuvRowOut& out) {
  const auto columns = static_cast<std::size_t>(cell_columns(sampling));
  const auto rows = static_cast<std::size_t>(cell_rows(sampling));
  for (std::size_t first = 0, c = 0; first < n; first += columns, ++c) {
    const std::int32_t cb = in.cb[c];
    const std::int32_t cr = in.cr[c];
    const std::int32_t above = value_above_luma(weights, cb, cr);
    std::uint64_t sum = 0;
    int count = 0;
    std::array<std::array<std::uint8_t, 2>, 2> luma{};
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t i = first; i < std::min(first + columns, n); ++i, ++count) {
        const std::int32_t y = in.luma[r][i] - weights.luma_offset;
        const std::int32_t v = y < 0 ? 0 : yuv_value(weights, in.luma[r][i], above);
        const std::uint64_t gain = gains.gain48[static_cast<std::size_t>(v)];
        sum += gain >> 8;
        luma[r][i - first] =
            y < 0 ? in.luma[r][i] : byte_of(weights.luma_offset + scale_exact(y, gain));
      }
    }
    // Stored at the end, as luma[0] and luma[1] may be the same row, and `in` and `out` the same
    // memory.
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t i = first; i < std::min(first + columns, n); ++i) {
        out.luma[r][i] = luma[r][i - first];
      }
    }
    out.cb[c] = byte_of(scale_chroma_exact(cb, sum, count));
    out.cr[c] = byte_of(scale_chroma_exact(cr, sum, count));
  }
}

void saturate_rgb_row(const SaturatedGains& gains, Stores, const RgbLayout& at,
                      const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  saturate_rgb(gains, at, in, n, out);
}

void saturate_yuv_row(const SaturatedGains& gains, const std::uint64_t* gain48, Sampling sampling,
                      const YuvWeights& weights, Stores, const YuvRowIn& in, std::size_t n,
                      const YuvRowOut& out) {
  saturate_yuv(gains, gain48, sampling, weights, in, n, out);
}

bool saturates_exactly(const SaturatedLevel& level) {
  const auto rounded = [](const ChannelLine& line, std::int32_t d) {
    return std::floor(std::max(line.at_value - line.step * d, 0.0) + 0.5);
  };
  for (std::int32_t d = 0; d <= level.v; ++d) {
    const double part = std::max(256 * level.v - level.factor * d, 0);
    const double exact = std::floor(part * level.scale + kHalfOrMore);
    if (rounded(level.low, d) != exact || rounded(level.high, d) != exact) return false;
  }
  return true;
}

WordRange word_range(std::uint32_t at, std::uint32_t step, std::int32_t n) {
  WordRange range{at, at};
  for (std::int32_t i = 1; i < n; ++i) {
    at -= step;
    range = {std::min(range.least, at), std::max(range.most, at)};
  }
  return range;
}

void split_pairs(const std::uint8_t* in, std::size_t n, std::uint8_t* a, std::uint8_t* b) {
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = in[2 * i];
    b[i] = in[2 * i + 1];
  }
}

void merge_pairs(const std::uint8_t* a, const std::uint8_t* b, std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    out[2 * i] = a[i];
    out[2 * i + 1] = b[i];
  }
}

std::int32_t first_parted(const GainBounds& bounds, std::int32_t max_c) {
  for (std::int32_t c = 1; c <= max_c; ++c) {
    if (parted(bounds, c)) return c;
  }
  return 0;
}

}  // namespace

const FusedRows& scalar_fused_rows() {
  static const FusedRows kLoops{"scalar",
                                count_gray,
                                count_rgb3,
                                count_rgb4,
                                count_luma,
                                count_yuv,
                                fold,
                                apply_gray,
                                apply_rgb3,
                                apply_rgb4,
                                apply_luma,
                                apply_yuv,
                                saturate_rgb_row,
                                saturate_yuv_row,
                                flush_no_stores,
                                first_parted,
                                saturates_exactly,
                                word_range,
                                WordLines::never,
                                0,
                                split_pairs,
                                merge_pairs,
                                scalar_tile_rows()};
  return kLoops;
}

}  // namespace equalux

// Packed RGB of fused_rows.h with changed saturation; included once for each target.
#if defined(EQUALUX_FUSED_SATURATE_RGB_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_FUSED_SATURATE_RGB_INL_H
#undef EQUALUX_FUSED_SATURATE_RGB_INL_H
#else
#define EQUALUX_FUSED_SATURATE_RGB_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

/// Planes of a vector of pixels of kStep bytes; the fourth is alpha.
template <std::size_t kStep>
struct ColorPlanes {
  V8 plane[4];

  HWY_INLINE void load(int color, const std::uint8_t* in) {
    if constexpr (kStep == 3) {
      load_triples(in, plane[0], plane[1], plane[2]);
      plane[3] = plane[0];
    } else if (color == 0) {
      hn::LoadInterleaved4(D8(), in, plane[0], plane[1], plane[2], plane[3]);
    } else {
      hn::LoadInterleaved4(D8(), in, plane[3], plane[0], plane[1], plane[2]);
    }
  }
  HWY_INLINE void save(int color, std::uint8_t* out) const {
    if constexpr (kStep == 3) {
      store_triples(plane[0], plane[1], plane[2], out);
    } else if (color == 0) {
      hn::StoreInterleaved4(plane[0], plane[1], plane[2], plane[3], D8(), out);
    } else {
      hn::StoreInterleaved4(plane[3], plane[0], plane[1], plane[2], D8(), out);
    }
  }
  template <Stores kStores>
  HWY_INLINE void write(int color, std::uint8_t* out) const {
    if constexpr (kStores == Stores::cached) {
      save(color, out);
    } else {
      alignas(64) std::uint8_t bytes[kStep * kBytes];
      save(color, bytes);
      stream_bytes<static_cast<int>(kStep)>(bytes, out);
    }
  }
  HWY_INLINE V8 most() const { return max3(plane[0], plane[1], plane[2]); }
};

/// Vector of pixels in flight. Planes are kept, as look-ups take several steps.
template <std::size_t kStep, bool kUniform>
struct StartedPixels {
  ColorPlanes<kStep> planes;
  V8 v;
  typename LevelLookup<kUniform>::Numbers gains;
};

/// Returns true where S may reach 1 in a vector.
template <std::size_t kStep, bool kUniform>
HWY_INLINE bool may_reach_one(const MayReachOne& may,
                              const StartedPixels<kStep, kUniform>& pixels) {
  const V8* plane = pixels.planes.plane;
  const V8 below = hn::Sub(pixels.v, hn::Min(hn::Min(plane[0], plane[1]), plane[2]));
  return !hn::AllTrue(D8(),
                      hn::Eq(may.template operator()<kUniform>(pixels.v, below), hn::Zero(D8())));
}

/// Lines of channels: start, which is v or W, and what is subtracted for each code below v.
struct ChannelSlopes {
  Floats start;  ///< v or W
  VF step[4];

  HWY_INLINE ChannelSlopes(const LevelGains& g, V8 v)
      : start(to_floats(v)), step{g.factor, g.factor, g.factor, g.factor} {}
  HWY_INLINE ChannelSlopes(const LevelLines& lines, V8)
      : start(lines.value), step{lines.slope.f0, lines.slope.f1, lines.slope.f2, lines.slope.f3} {}
  HWY_INLINE VF at(std::size_t i, VF under) const {
    return hn::NegMulAdd(step[i], under, part_of(start, i));
  }
};
/// Result of a channel after its gain, or of its line.
HWY_INLINE Scaled finished(const LevelGains& g, std::size_t i, VF part) {
  return scaled_part(part, part_of(g.gain, i));
}
HWY_INLINE Scaled finished(const LevelLines&, std::size_t, VF result) {
  return rounded(result);
}

/// Results of one vector; kLimits where S may reach 1.
template <bool kLimits, std::size_t kStep, bool kUniform, typename Levels>
HWY_INLINE ColorPlanes<kStep> saturated_planes(const Levels& g,
                                               const StartedPixels<kStep, kUniform>& pixels,
                                               FloatMask (&bad)[4]) {
  const V8* plane = pixels.planes.plane;
  const V8 v = pixels.v;
  ChannelSlopes slopes(g, v);
  if constexpr (kLimits) {
    const V8 low = hn::Min(plane[0], plane[1]);
    const V8 high = hn::Max(plane[0], plane[1]);
    const V8 one = hn::Set(D8(), std::uint8_t{1});
    const V8 below = hn::Sub(v, hn::Min(low, plane[2]));
    const Floats spread = to_floats(hn::Max(below, one));
    const Floats middle = to_floats(hn::Sub(v, hn::Max(low, hn::Min(high, plane[2]))));
    for (std::size_t i = 0; i < 4; ++i) {
      const VF limit = hn::Mul(part_of(slopes.start, i), reciprocal_of(part_of(spread, i)));
      // Negated comparison, true for NaN too.
      const FloatMask reaches = hn::Not(hn::Ge(limit, slopes.step[i]));
      slopes.step[i] = hn::Min(slopes.step[i], limit);
      bad[i] = doubtful(reaches, finished(g, i, slopes.at(i, part_of(middle, i))).distance);
    }
  } else {
    (void)bad;
  }
  ColorPlanes<kStep> result;
  for (std::size_t c = 0; c < 3; ++c) {
    const Floats d = to_floats(hn::Sub(v, plane[c]));
    V32 lanes[4];
    for (std::size_t i = 0; i < 4; ++i) {
      const VF shifted = finished(g, i, slopes.at(i, part_of(d, i))).shifted;
      lanes[i] = kLimits ? sure_bits(bad[i], shifted) : hn::BitCast(D32(), shifted);
    }
    result.plane[c] = join_bytes(lanes[0], lanes[1], lanes[2], lanes[3]);
  }
  result.plane[3] = plane[3];
  return result;
}

/// Redoes the flagged pixels of a vector; `in` is a copy of it.
template <std::size_t kStep>
HWY_NOINLINE void redo_pixels(const SaturatedGains& gains, const RgbLayout& at,
                              const std::uint8_t (&flags)[kBytes], const std::uint8_t* in,
                              std::uint8_t* out) {
  for_flagged(flags,
              [&](std::size_t i) { saturate_rgb(gains, at, in + kStep * i, 1, out + kStep * i); });
}

/// Scales a row, three vectors in flight. Vectors in which S cannot reach 1 take the short body,
/// those with a doubtful pixel are corrected by redo_pixels().
template <std::size_t kStep, bool kUniform, bool kLimits>
void saturate_pixels(const SaturatedGains& gains, Stores stores, const RgbLayout& at,
                     const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  using Pixels = StartedPixels<kStep, kUniform>;
  const LevelLookup<kUniform> lookup(gains);
  const MayReachOne may(gains);
  const int color = at.first();
  const auto start = [&](Pixels& pixels, const std::uint8_t* from) HWY_ATTR {
    pixels.planes.load(color, from);
    pixels.v = pixels.planes.most();
  };
  const auto finish = [&](auto kind, const Pixels& pixels, const std::uint8_t* from,
                          std::uint8_t* to) HWY_ATTR {
    FloatMask bad[4];
    if constexpr (kLimits) {
      if (!gains.undone && !may_reach_one(may, pixels)) {
        saturated_planes<false>(lookup.finish(pixels.v, pixels.gains), pixels, bad)
            .template write<kind()>(color, to);
        return;
      }
    }
    const ColorPlanes<kStep> result =
        saturated_planes<kLimits>(lookup.finish(pixels.v, pixels.gains), pixels, bad);
    if constexpr (kLimits) {
      if (HWY_UNLIKELY(any_of(bad))) {
        alignas(64) std::uint8_t before[kStep * kBytes];
        alignas(64) std::uint8_t flags[kBytes];
        std::memcpy(before, from, sizeof before);
        hn::Store(flags_of(bad), D8(), flags);
        result.template write<Stores::cached>(color, to);
        redo_pixels<kStep>(gains, at, flags, before, to);
        return;
      }
    }
    result.template write<kind()>(color, to);
  };
  const std::size_t vectors = n / kBytes;
  const auto all = [&](auto kind) HWY_ATTR {
    // Pipeline: vector i + 2 is loaded, i + 1 looked up, i scaled.
    Pixels ring[4];
    const auto start_at = [&](std::size_t i) HWY_ATTR {
      if (i < vectors) start(ring[i % 4], in + kStep * kBytes * i);
    };
    const auto look_up = [&](std::size_t i) HWY_ATTR {
      if (i < vectors) lookup.look_up(ring[i % 4].v, ring[i % 4].gains);
    };
    start_at(0);
    start_at(1);
    look_up(0);
    for (std::size_t i = 0; i < vectors; ++i) {
      const std::uint8_t* from = in + kStep * kBytes * i;
      prefetch_ahead(from, kStep * kBytes);
      start_at(i + 2);
      look_up(i + 1);
      finish(kind, ring[i % 4], from, out + kStep * kBytes * i);
    }
  };
  if (stores == Stores::streaming && aligned(out, kBytes)) {
    all(std::integral_constant<Stores, Stores::streaming>());
  } else {
    all(std::integral_constant<Stores, Stores::cached>());
  }
  const std::size_t done = vectors * kBytes;
  if (done == n) return;
  alignas(64) std::uint8_t rest_in[kStep * kBytes] = {};
  alignas(64) std::uint8_t rest_out[kStep * kBytes];
  std::memcpy(rest_in, in + kStep * done, kStep * (n - done));
  Pixels last;
  start(last, rest_in);
  lookup.look_up(last.v, last.gains);
  finish(std::integral_constant<Stores, Stores::cached>(), last, rest_in, rest_out);
  std::memcpy(out + kStep * done, rest_out, kStep * (n - done));
}

/// saturate_pixels() by layout and kind of gains.
void saturate_floats(const SaturatedGains& gains, Stores stores, const RgbLayout& at,
                     const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
  with_kinds(gains, [&](auto uniform, auto limits) {
    if (at.step == 3) {
      saturate_pixels<3, uniform(), limits()>(gains, stores, at, in, n, out);
    } else {
      saturate_pixels<4, uniform(), limits()>(gains, stores, at, in, n, out);
    }
  });
}

#if EQUALUX_VBMI
/// Scales pixels of four bytes with a common k in their own lanes, as scale_quads(); kColor is the
/// first colour byte. With kLimits it stops before the first vector in which S would pass 1, which
/// a negative channel shows. Returns the number of pixels done.
template <int kColor, Stores kStores, bool kLimits>
HWY_NOINLINE std::size_t saturate_quads(const SaturatedGains& tables, const std::uint8_t* in,
                                        std::size_t n, std::uint8_t* out) {
  const D8 d8;
  const D32 d;
  const LevelLookup<true> lookup(tables);
  const VF factor = hn::Set(DF(), tables.factor);
  const VF rest = hn::Set(DF(), 1 - tables.factor);
  const auto to_float = [](V32 lanes)
                            HWY_ATTR { return hn::ConvertTo(DF(), hn::BitCast(DI32(), lanes)); };
  std::size_t x = 0;
  for (; x + kBytes <= n; x += kBytes) {
    const std::uint8_t* from = in + 4 * x;
    std::uint8_t* to = out + 4 * x;
    prefetch_ahead(from, 4 * kBytes);
    V32 pixels[4];
    V32 v[4];
    for (std::size_t i = 0; i < 4; ++i) {
      pixels[i] = hn::BitCast(d, hn::LoadU(d8, from + kBytes * i));
      v[i] = quad_values<kColor>(pixels[i]);
    }
    const auto levels = lookup.finish(join_bytes(v[0], v[1], v[2], v[3]), {});
    V8 result[4];
    V32 least = hn::Zero(d);  // negative where a channel is
    for (std::size_t i = 0; i < 4; ++i) {
      // v - k (v - c) = (1 - k) v + k c; products and sum are exact.
      const VF of_value = hn::Mul(to_float(v[i]), rest);
      const auto channel = [&](V32 lanes) HWY_ATTR {
        const VF code = to_float(hn::And(lanes, hn::Set(d, 0xFFU)));
        const VF part = hn::MulAdd(code, factor, of_value);
        if constexpr (kLimits) least = hn::Or(least, hn::BitCast(d, part));
        return scale_lanes<Clip::nowhere>(part, part_of(levels.gain, i));
      };
      const V32 first = channel(hn::ShiftRight<8 * kColor>(pixels[i]));
      const V32 second = channel(hn::ShiftRight<8 * kColor + 8>(pixels[i]));
      const V32 third = channel(hn::ShiftRight<8 * kColor + 16>(pixels[i]));
      result[i] = kColor == 0 ? join_bytes(first, second, third, hn::ShiftRight<24>(pixels[i]))
                              : join_bytes(pixels[i], first, second, third);
    }
    if (kLimits && HWY_UNLIKELY(_mm512_movepi32_mask(least.raw) != 0)) return x;
    for (std::size_t i = 0; i < 4; ++i)
      store<kStores>(result[i], d8, to + kBytes * i);
  }
  return x;
}

/// saturate_quads() for pixels of three bytes, by planes.
template <Stores kStores, bool kLimits>
HWY_NOINLINE std::size_t saturate_triples(const SaturatedGains& tables, const std::uint8_t* in,
                                          std::size_t n, std::uint8_t* out) {
  const D32 d;
  const LevelLookup<true> lookup(tables);
  const VF factor = hn::Set(DF(), tables.factor);
  const VF rest = hn::Set(DF(), 1 - tables.factor);
  // Pipeline: planes and v of vector i + 2 while i is scaled.
  struct Started {
    ColorPlanes<3> planes;
    V8 v;
  } ring[4];
  const std::size_t vectors = n / kBytes;
  const auto start = [&](std::size_t i) HWY_ATTR {
    if (i >= vectors) return;
    ring[i % 4].planes.load(0, in + 3 * kBytes * i);
    ring[i % 4].v = ring[i % 4].planes.most();
  };
  start(0);
  start(1);
  for (std::size_t vector = 0; vector < vectors; ++vector) {
    prefetch_ahead(in + 3 * kBytes * vector, 3 * kBytes);
    start(vector + 2);
    const ColorPlanes<3>& planes = ring[vector % 4].planes;
    const V8 v = ring[vector % 4].v;
    const auto levels = lookup.finish(v, {});
    ColorPlanes<3> result;
    VF of_value[4];
    const Floats values = to_floats(v);
    for (std::size_t i = 0; i < 4; ++i)
      of_value[i] = hn::Mul(part_of(values, i), rest);
    V32 least = hn::Zero(d);
    for (std::size_t c = 0; c < 3; ++c) {
      const Floats codes = to_floats(planes.plane[c]);
      V32 lanes[4];
      VF part[4];
      for (std::size_t i = 0; i < 4; ++i) {
        part[i] = hn::MulAdd(part_of(codes, i), factor, of_value[i]);
        lanes[i] = scale_lanes<Clip::nowhere>(part[i], part_of(levels.gain, i));
      }
      if constexpr (kLimits) {
        // One ternary operation for three terms, which GCC cannot delay until all channels are
        // there.
        const auto any = [](V32 so_far, VF a, VF b) HWY_ATTR {
          return V32{_mm512_ternarylogic_epi32(so_far.raw, _mm512_castps_si512(a.raw),
                                               _mm512_castps_si512(b.raw), 0xFE)};
        };
        least = any(any(least, part[0], part[1]), part[2], part[3]);
      }
      result.plane[c] = join_bytes(lanes[0], lanes[1], lanes[2], lanes[3]);
    }
    if (kLimits && HWY_UNLIKELY(_mm512_movepi32_mask(least.raw) != 0)) return kBytes * vector;
    result.template write<kStores>(0, out + 3 * kBytes * vector);
  }
  return kBytes * vectors;
}

using SaturateSome = std::size_t (*)(const SaturatedGains& tables, const std::uint8_t* in,
                                     std::size_t n, std::uint8_t* out);

/// Runs `some` over a row; where it stops, saturate_floats() does that vector and a span behind it.
HWY_INLINE void saturate_row_by(SaturateSome some, const SaturatedGains& gains, Stores stores,
                                const RgbLayout& at, const std::uint8_t* in, std::size_t n,
                                std::uint8_t* out) {
  const auto step = static_cast<std::size_t>(at.step);
  for (std::size_t done = 0; done < n;) {
    done += some(gains, in + step * done, n - done, out + step * done);
    const std::size_t span = std::min(4 * kBytes, n - done);
    if (span != 0) saturate_floats(gains, stores, at, in + step * done, span, out + step * done);
    done += span;
  }
}
#endif

/// Calls body(stores, limits), both as constants: how a row is stored, and whether S may come to 1.
template <typename Body>
HWY_INLINE void with_row_kinds(const SaturatedGains& gains, Stores stores, const std::uint8_t* out,
                               const Body& body) {
  const auto stored = [&](auto kind) HWY_ATTR {
    if (gains.limits) return body(kind, std::true_type());
    body(kind, std::false_type());
  };
  if (stores == Stores::streaming && aligned(out, kBytes))
    return stored(std::integral_constant<Stores, Stores::streaming>());
  stored(std::integral_constant<Stores, Stores::cached>());
}

/// Saturates a row by the fastest loop that the target has for these gains: words, lines, lanes,
/// else floats.
void saturate_rgb_row(const SaturatedGains& gains, Stores stores, const RgbLayout& at,
                      const std::uint8_t* in, std::size_t n, std::uint8_t* out) {
#if EQUALUX_SATURATED_LINES
  if (gains.has_words || gains.has_word_lines) {
    const auto other = [&](const std::uint8_t* from, std::size_t count, std::uint8_t* to) {
      saturate_floats(gains, stores, at, from, count, to);
    };
    return with_row_kinds(gains, stores, out, [&](auto kind, auto limits) HWY_ATTR {
#if EQUALUX_SATURATED_WORDS
      if (gains.has_words) {
        return saturate_steps_of<kind(), 3, kBlock>(
            in, n, out,
            [&](auto stores_of, auto... arguments) {
              return saturate_blocks<stores_of(), limits()>(gains, arguments...);
            },
            other);
      }
#endif
      const auto by_lines = [&](auto form) HWY_ATTR {
        using Form = decltype(form);
        saturate_steps_of<kind(), Form::kStep, kLineBytes>(
            in, n, out,
            [&](auto stores_of, auto... arguments) {
              return saturate_steps<stores_of(), limits(), Form>(gains.word_lines, arguments...);
            },
            other);
      };
      if (at.step == 3) return by_lines(TripleLines());
      if (at.first() == 0) return by_lines(QuadLines<0>());
      by_lines(QuadLines<1>());
    });
  }
#endif
#if EQUALUX_VBMI
  if (gains.uniform && !gains.undone) {
    return with_row_kinds(gains, stores, out, [&](auto kind, auto limits) {
      const SaturateSome some = at.step == 3      ? saturate_triples<kind(), limits()>
                                : at.first() == 0 ? saturate_quads<0, kind(), limits()>
                                                  : saturate_quads<1, kind(), limits()>;
      saturate_row_by(some, gains, stores, at, in, n, out);
    });
  }
#endif
  saturate_floats(gains, stores, at, in, n, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#endif  // include guard

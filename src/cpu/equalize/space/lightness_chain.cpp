#include "src/cpu/equalize/space/lightness_chain.h"

#include <algorithm>
#include <cstring>

#include <hwy/cache_control.h>

#include "src/common/stage_clock.h"
#include "src/cpu/hessian/hessian_rows.h"
#include "src/equalize/fixed_curve.h"

namespace equalux {
namespace {

/// Marks codes that need more than the table; no 8-bit code.
constexpr std::uint16_t kOther = 256;

/// Stores one byte. The barrier keeps the compiler from combining bytes in registers first, which
/// is slower.
inline void store_byte(std::uint16_t byte, std::uint8_t* out) {
  *out = static_cast<std::uint8_t>(byte);
  asm volatile("" : : : "memory");
}

/// Codes of a pixel, in the order of bytes in memory.
struct Codes {
  std::uint8_t c0, c1, c2;
};

/// Layout of a pixel as compile-time constants.
template <std::size_t kStep, std::size_t kFirst>
struct Form {
  static constexpr std::size_t step = kStep;
  static constexpr std::size_t first = kFirst;
  static constexpr std::size_t alpha = kFirst == 0 ? 3 : 0;
};

/// Calls body(form) with the layout of packed RGB.
template <typename Body>
inline void with_form(const RgbLayout& at, const Body& body) {
  if (at.step == 3) return body(Form<3, 0>());
  if (at.first() == 0) return body(Form<4, 0>());
  body(Form<4, 1>());
}

/// Calls body(x, codes, form) for each pixel of a row. The body is passed by value, so that its
/// members stay in registers whatever bytes it writes.
template <typename Form, typename Body>
inline void for_pixels(Form form, const std::uint8_t* in, int width, Body body) {
  const std::uint8_t* p = in + form.first;
  for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x, p += form.step)
    body(x, Codes{p[0], p[1], p[2]});
}

Stores stores_of(const ConstImageView& in, const ImageView& out) {
  const bool in_place = in.data[0] == out.data[0];
  return !in_place && tight_bytes(in.desc) > kStreamingBytes ? Stores::streaming : Stores::cached;
}

/// Prefetches the next row. The hardware prefetcher stops at the ends of pages, which every row or
/// two of video crosses.
inline void prefetch_row(const std::uint8_t* row, std::size_t bytes) {
  for (std::size_t line = 0; line < bytes; line += 64)
    hwy::Prefetch(row + line);
}

}  // namespace

/// Memory of one thread. Rows have the frame's width; those of floats are padded to whole vectors.
struct LightnessChain::Scratch {
  alignas(64) SingleTables single{};
  std::unique_ptr<PairTables> pairs;  // null for small frames
  ValueHistogram folded{};

  std::vector<std::uint8_t> levels;     // used where the curve is given
  std::vector<std::uint8_t> row;        // result of a row
  std::vector<std::uint32_t> others;    // positions of pixels that need more than the table
  std::vector<float> red, green, blue;  // linear light of these
  std::vector<float> gain;              // gains of their luminance

  Counters counters() { return {single, pairs.get()}; }
};

LightnessChain::LightnessChain(const EqualizeParams& params, RowExecutor& executor,
                               const FusedRows& loops, const HueRows& hue)
    : CurveChain(params),
      executor_(executor),
      loops_(loops),
      hue_(hue),
      tables_(std::make_unique<const SpaceTables>(make_space_tables(Space::lightness))),
      levels_(std::make_unique<Levels>()),
      scaled_(std::make_unique<Scaled>()),
      gray_(std::make_unique<GainTables>()),
      colours_(loops) {
  for (std::uint32_t code = 0; code < 256; ++code) {
    light_[code] = light_of_code(*tables_, code);
    level_of_gray_[code] =
        static_cast<std::uint8_t>(space_level(Space::lightness, *tables_, code, code, code));
  }
}

LightnessChain::~LightnessChain() = default;

void LightnessChain::configure(const ImageDesc& desc) {
  desc_ = desc;
  layout_ = rgb_layout(desc.format);
  colours_.configure(desc);
  prepare_colours();
  make_levels();
  const auto width = static_cast<std::size_t>(desc.width);
  const std::size_t pixels = width * static_cast<std::size_t>(desc.height);
  const auto threads = static_cast<std::size_t>(executor_.threads());
  level_of_.assign(is_gray() ? 0 : pixels, 0);
  scratch_.clear();
  for (std::size_t slot = 0; slot < threads; ++slot) {
    auto scratch = std::make_unique<Scratch>();
    if (pixels / threads >= kPairsFrom) scratch->pairs = std::make_unique<PairTables>();
    if (!is_gray()) {
      scratch->levels.resize(width);
      scratch->row.resize(row_bytes(desc, 0));
      scratch->others.resize(width);
      for (auto* floats : {&scratch->red, &scratch->green, &scratch->blue, &scratch->gain})
        floats->resize(width + kRowSlack);
    }
    scratch_.push_back(std::move(scratch));
  }
  start_curves(255);
}

void LightnessChain::update(const EqualizeParams& params) {
  CurveChain::update(params);
  prepare_colours();
}

/// Allocates for the second step of saturation, before frames need it.
void LightnessChain::prepare_colours() {
  if (params_.saturation != 1) colours_.prepare();
}

void LightnessChain::make_levels() {
  const auto* parts = tables_->part;
  std::array<const std::uint32_t*, 3> by_place{parts[0], parts[1], parts[2]};
  if (layout_.b < layout_.r) std::swap(by_place[0], by_place[2]);
  for (std::size_t place = 0; place < 3; ++place)
    std::copy_n(by_place[place], 256, levels_->part[place]);
  for (std::uint32_t& part : levels_->part[0])
    part += 32768;
  std::copy(std::begin(tables_->levels.base), std::end(tables_->levels.base), levels_->base);
  for (std::size_t i = 0; i < 256; ++i)
    levels_->from[i] = tables_->levels.from[i] << 16;
  levels_->from[256] = ~std::uint32_t{0};  // above any sum
}

void LightnessChain::fix_curve() {
  const auto curve = curve_table(*params_.curve, 255);
  colours_.set({});
  counts_.fill(1);
  for (std::uint32_t v = 0; v < 256; ++v)
    make_table(v, curve[v]);
  make_gray();
}

void LightnessChain::process(const ConstImageView& in, const ImageView& out,
                             const FrameContext& context) {
  StageClock clock(context.timings);
  if (!params_.curve) {
    count(in);
    clock.lap("histogram");
    const tone::Frame frame = control_.next(context);
    const CurveTable& curve = curves_.make(counts_, frame);
    colours_.set(frame.saturation, curve.data(), level_of_gray_.data());
    if (collector_.active()) collector_.add(curve);
    executor_.for_rows(256, [&](int begin, int end, int) {
      for (auto v = static_cast<std::size_t>(begin); v < static_cast<std::size_t>(end); ++v) {
        if (counts_[v] != 0) make_table(static_cast<std::uint32_t>(v), curve[v]);
      }
    });
    make_gray();
    clock.lap("curve");
  }
  executor_.for_rows(desc_.height, [&](int begin, int end, int slot) {
    if (is_gray()) return apply_gray_rows(in, out, begin, end);
    apply_rows(in, out, begin, end, *scratch_[static_cast<std::size_t>(slot)]);
  });
  clock.lap("apply");
}

void LightnessChain::count(const ConstImageView& in) {
  executor_.for_rows(desc_.height, [&](int begin, int end, int slot) {
    count_rows(in, begin, end, *scratch_[static_cast<std::size_t>(slot)]);
  });
  counts_.fill(0);
  for (const auto& scratch : scratch_) {
    loops_.fold(scratch->counters(), scratch->folded);
    for (std::size_t v = 0; v < counts_.size(); ++v)
      counts_[v] += scratch->folded[v];
    scratch->folded.fill(0);
  }
  if (!is_gray()) return;
  ValueHistogram of_levels{};
  for (std::uint32_t code = 0; code < 256; ++code)
    of_levels[space_level(Space::lightness, *tables_, code, code, code)] += counts_[code];
  counts_ = of_levels;
}

void LightnessChain::count_rows(const ConstImageView& in, int begin, int end, Scratch& scratch) {
  const auto width = static_cast<std::size_t>(desc_.width);
  for (int y = begin; y < end; ++y) {
    const std::uint8_t* row = in.row(0, y);
    const std::uint8_t* next = in.row(0, std::min(y + 1, end - 1));
    if (is_gray()) {
      loops_.count_gray(row, width, next, scratch.counters());
      continue;
    }
    std::uint8_t* levels = level_of_.data() + width * static_cast<std::size_t>(y);
    prefetch_row(next, row_bytes(desc_, 0));
    find_levels(row, levels);
    loops_.count_gray(levels, width, levels, scratch.counters());
  }
}

void LightnessChain::make_table(std::uint32_t v, std::uint32_t curve) {
  const std::uint64_t gain = space_gain(Space::lightness, v, curve);
  const SpaceCodes codes = space_codes(Space::lightness, *tables_, gain);
  gains_[v] = gain;
  light_gain_[v] = light_gain(gain);
  auto& scaled = (*scaled_)[v];
  scaled.fill(kOther);
  for (std::uint32_t code = codes.least; code <= codes.most; ++code)
    scaled[code] = space_scaled(Space::lightness, *tables_, code, gain);
}

void LightnessChain::make_gray() {
  for (std::uint32_t code = 0; code < 256; ++code) {
    const std::uint32_t v = space_level(Space::lightness, *tables_, code, code, code);
    const bool seen = counts_[v] != 0;
    gray_->gray[code] =
        seen ? space_scaled(Space::lightness, *tables_, code, gains_[v]) : std::uint8_t{0};
  }
  gray_->step_gray();
}

void LightnessChain::apply_gray_rows(const ConstImageView& in, const ImageView& out, int begin,
                                     int end) const {
  const auto width = static_cast<std::size_t>(desc_.width);
  for (int y = begin; y < end; ++y)
    loops_.apply_gray(*gray_, stores_of(in, out), in.row(0, y), width, out.row(0, y));
  loops_.flush_stores();
}

void LightnessChain::apply_rows(const ConstImageView& in, const ImageView& out, int begin, int end,
                                Scratch& scratch) const {
  const auto width = static_cast<std::size_t>(desc_.width);
  const std::size_t bytes = row_bytes(desc_, 0);
  const bool stream = stores_of(in, out) == Stores::streaming;
  for (int y = begin; y < end; ++y) {
    const std::uint8_t* row = in.row(0, y);
    const std::uint8_t* levels = level_of_.data() + width * static_cast<std::size_t>(y);
    prefetch_row(in.row(0, std::min(y + 1, end - 1)), bytes);
    if (params_.curve) {
      find_levels(row, scratch.levels.data());
      levels = scratch.levels.data();
    }
    const std::size_t n = look_up(row, levels, scratch.row.data(), scratch.others.data());
    map_others(row, levels, n, scratch);
    if (colours_.active()) {
      colours_.apply_rgb(stores_of(in, out), scratch.row.data(), width, out.row(0, y));
    } else if (stream) {
      loops_.tiles.stream_row(scratch.row.data(), bytes, out.row(0, y));
    } else {
      std::memcpy(out.row(0, y), scratch.row.data(), bytes);
    }
  }
  loops_.flush_stores();
}

void LightnessChain::find_levels(const std::uint8_t* in, std::uint8_t* levels) const {
  with_form(layout_, [&](auto form) {
    for_pixels(form, in, desc_.width, [levels, &t = *levels_](std::size_t x, const Codes& codes) {
      const std::uint32_t sum = t.part[0][codes.c0] + t.part[1][codes.c1] + t.part[2][codes.c2];
      const std::uint32_t low = t.base[sum >> 20];
      levels[x] = static_cast<std::uint8_t>(low + (sum >= t.from[low + 1] ? 1U : 0U));
    });
  });
}

std::size_t LightnessChain::look_up(const std::uint8_t* in, const std::uint8_t* levels,
                                    std::uint8_t* out, std::uint32_t* others) const {
  std::size_t found = 0;
  with_form(layout_, [&](auto form) {
    for_pixels(form, in, desc_.width,
               [=, &found, table = scaled_->data()](std::size_t x, const Codes& codes) {
                 const auto& scaled = table[levels[x]];
                 const std::uint16_t c0 = scaled[codes.c0];
                 const std::uint16_t c1 = scaled[codes.c1];
                 const std::uint16_t c2 = scaled[codes.c2];
                 std::uint8_t* q = out + form.step * x;
                 if constexpr (form.step == 4) q[form.alpha] = in[4 * x + form.alpha];
                 store_byte(c0, q + form.first);
                 store_byte(c1, q + form.first + 1);
                 store_byte(c2, q + form.first + 2);
                 others[found] = static_cast<std::uint32_t>(x);
                 found += static_cast<std::size_t>(c0 | c1 | c2) / kOther;
               });
  });
  return found;
}

void LightnessChain::map_others(const std::uint8_t* in, const std::uint8_t* levels, std::size_t n,
                                Scratch& scratch) const {
  std::uint8_t* row = scratch.row.data();
  std::uint32_t* others = scratch.others.data();
  float* red = scratch.red.data();
  float* green = scratch.green.data();
  float* blue = scratch.blue.data();
  float* gain = scratch.gain.data();
  const bool red_first = layout_.r < layout_.b;
  float* first = red_first ? red : blue;
  float* third = red_first ? blue : red;
  with_form(layout_, [=, this](auto form) {
    std::size_t coloured = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t x = others[i];
      const std::uint8_t* p = in + form.step * x + form.first;
      const Codes codes{p[0], p[1], p[2]};
      if (codes.c0 == codes.c1 && codes.c1 == codes.c2) {
        std::memset(row + form.step * x + form.first, gray_->gray[codes.c0], 3);
        continue;
      }
      others[coloured] = static_cast<std::uint32_t>(x);
      first[coloured] = light_[codes.c0];
      green[coloured] = light_[codes.c1];
      third[coloured] = light_[codes.c2];
      gain[coloured] = light_gain_[levels[x]];
      ++coloured;
    }
    hue_.map(red, green, blue, gain, coloured);
    const auto code = [&steps = tables_->codes](float light) {
      return static_cast<std::uint8_t>(steps.at(static_cast<std::uint32_t>(light)));
    };
    for (std::size_t i = 0; i < coloured; ++i) {
      const Codes codes{code(first[i]), code(green[i]), code(third[i])};
      std::uint8_t* q = row + form.step * others[i] + form.first;
      store_byte(codes.c0, q);
      store_byte(codes.c1, q + 1);
      store_byte(codes.c2, q + 2);
    }
  });
}

}  // namespace equalux

// Measures what saturation costs per frame beyond the curve alone, even while other work runs:
// frames are processed in pieces of ten lines, each many times, and the least times of the pieces
// are added up.
//
//    bench_saturated_rows [REPEATS [FORMAT]]
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <equalux/filter.h>

#include "bench/support/bench_frames.h"
#include "src/cpu/equalize/curve_maker.h"
#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/cpu/equalize/fused/gain_tables.h"
#include "src/cpu/equalize/saturated_rows.h"
#include "src/format/layout.h"

namespace equalux::bench {
namespace {

constexpr int kWidth = 1920;
constexpr int kHeight = 1080;
constexpr int kPiece = 10;

/// Returns the least milliseconds of `run`.
double least_ms(int repeats, const std::function<void()>& run) {
  double least = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count());
  }
  return least;
}

/// One frame and the loops over its lines: rows of pixels, or of chroma with their luma.
class Lines {
 public:
  Lines(PixelFormat format, int repeats)
      : desc_{format, kWidth, kHeight},
        yuv_(traits(format).model == ColorModel::yuv),
        weights_(yuv_ ? yuv_weights(desc_.matrix, desc_.range) : YuvWeights{0, 255, 0, 0, 0, 0}),
        frame_(std::move(natural_frames(desc_, 1)[0])),
        out_(std::size_t{kWidth} * 4 * kPiece),
        repeats_(repeats) {
    count_ms_ = over_pieces([this](int line) { count(line); });
    loops_.fold({single_, pairs_.get()}, counts_);
  }

  [[nodiscard]] double count_ms() const { return count_ms_; }

  /// Returns the milliseconds of the tables and of the lines with saturation k.
  std::pair<double, double> with(double k) {
    EqualizeParams params;
    params.clip_limit = 3;
    params.saturation = k;
    CurveMaker maker;
    maker.configure(weights_.luma_max);
    maker.set_bins(256);
    tone::Control control(params);
    const tone::Frame frame = control.next({});
    const CurveTable curve = maker.make(counts_, frame);
    const bool saturates = saturation::changes(frame.saturation);
    const double tables = least_ms(repeats_, [&] { make_tables(frame, curve, saturates); });
    return {tables, over_pieces([&](int line) { apply(line, saturates); })};
  }

 private:
  double over_pieces(const std::function<void(int)>& line) const {
    double sum = 0;
    for (int first = 0; first < lines(); first += kPiece) {
      sum += least_ms(repeats_, [&] {
        for (int i = first; i < first + kPiece; ++i)
          line(i);
      });
    }
    return sum;
  }
  [[nodiscard]] int lines() const { return yuv_ ? kHeight / 2 : kHeight; }
  [[nodiscard]] YuvRowIn yuv_line(int line) const {
    const ConstImageView in = frame_.view();
    return {{in.row(0, 2 * line), in.row(0, 2 * line + 1)}, in.row(1, line), in.row(2, line)};
  }

  void count(int line) {
    const Counters counters{single_, pairs_.get()};
    const int next = std::min(line + 1, lines() - 1);
    const ConstImageView in = std::as_const(frame_).view();
    if (yuv_) {
      loops_.count_yuv(Sampling::s420, weights_, yuv_line(line), kWidth, yuv_line(next), counters);
    } else {
      loops_.count_pixels(at(), in.row(0, line), kWidth, in.row(0, next), counters);
    }
  }

  void make_tables(const tone::Frame& frame, const CurveTable& curve, bool saturates) {
    const std::int32_t max_code = 255 - weights_.luma_offset;
    if (!saturates) return make_gains(counts_, curve, weights_.luma_max, max_code, loops_, gains_);
    make_saturated_frame(frame.saturation, curve, counts_, weights_.luma_max, max_code, at().step,
                         loops_, saturated_, yuv_ ? &gains_ : nullptr);
  }

  void apply(int line, bool saturates) {
    constexpr std::size_t kRow = kWidth;
    std::uint8_t* to = out_.data() + 4 * kRow * static_cast<std::size_t>(line % kPiece);
    if (yuv_) {
      const YuvRowOut out{{to, to + kRow}, to + 2 * kRow, to + 3 * kRow};
      if (saturates) {
        loops_.saturate_yuv(saturated_, gains_.gain48.data(), Sampling::s420, weights_,
                            Stores::cached, yuv_line(line), kRow, out);
      } else {
        loops_.apply_yuv(Sampling::s420, weights_, gains_, Stores::cached, yuv_line(line), kRow,
                         out);
      }
      return;
    }
    const std::uint8_t* in = std::as_const(frame_).view().row(0, line);
    if (saturates) {
      loops_.saturate_rgb(saturated_, Stores::cached, at(), in, kRow, to);
    } else if (at().step == 3) {
      loops_.apply_rgb3(gains_, Stores::cached, in, kRow, to);
    } else {
      loops_.apply_rgb4(gains_, Stores::cached, in, kRow, at().first(), to);
    }
  }
  [[nodiscard]] RgbLayout at() const { return rgb_layout(desc_.format); }

  const FusedRows& loops_ = fused_rows();
  ImageDesc desc_;
  bool yuv_;
  YuvWeights weights_;
  Image frame_;
  std::vector<std::uint8_t> out_;
  int repeats_;
  double count_ms_ = 0;
  alignas(64) SingleTables single_{};
  std::unique_ptr<PairTables> pairs_ = std::make_unique<PairTables>();
  ValueHistogram counts_{};
  GainTables gains_{};
  SaturatedGains saturated_;
};

void measure(PixelFormat format, int repeats) {
  Lines lines(format, repeats);
  double alone = 0;
  for (const double k : {1.0, 0.5, 1.5, 2.0, kAutoSaturation}) {
    const auto [tables, applied] = lines.with(k);
    const double all = lines.count_ms() + tables + applied;
    if (k == 1) alone = all;
    std::array<char, 8> name{"auto"};
    if (k != kAutoSaturation) std::snprintf(name.data(), name.size(), "%.1f", k);
    std::printf(
        "%-5s %-8s saturation %-4s: count %.3f, tables %.4f, apply %.3f, all %.3f ms, %+.1f %%\n",
        std::string(to_string(format)).c_str(), cpu_simd_target().c_str(), name.data(),
        lines.count_ms(), tables, applied, all, 100 * (all / alone - 1));
  }
}

}  // namespace
}  // namespace equalux::bench

int main(int argc, char** argv) {
  using equalux::PixelFormat;
  constexpr std::array kFormats{PixelFormat::i420, PixelFormat::bgr, PixelFormat::bgrx};
  const auto usage = [] {
    std::fputs(
        "bench_saturated_rows: takes [REPEATS [FORMAT]], REPEATS from 1 to 100000 and FORMAT i420, "
        "bgr or bgrx\n",
        stderr);
    return 2;
  };
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.size() > 2) return usage();
  int repeats = 30;
  if (!arguments.empty()) {
    const std::string_view text = arguments[0];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), repeats);
    if (error != std::errc() || end != text.data() + text.size() || repeats < 1 || repeats > 100000)
      return usage();
  }
  const auto wanted = [&](PixelFormat format) {
    return arguments.size() < 2 || equalux::to_string(format) == arguments[1];
  };
  if (std::none_of(kFormats.begin(), kFormats.end(), wanted)) return usage();
  for (const PixelFormat format : kFormats) {
    if (wanted(format)) equalux::bench::measure(format, repeats);
  }
}

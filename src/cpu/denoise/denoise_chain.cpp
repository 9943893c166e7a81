#include "src/cpu/denoise/denoise_chain.h"

#include <algorithm>
#include <utility>

#include "src/format/rounding.h"

namespace equalux::denoise {
namespace {

/// Shares of a picture for each thread: few, as rows at their ends are done twice, but enough for
/// load balancing.
constexpr int kShares = 4;
/// Rows around the seam of two shares that both read.
constexpr int kSeamRows = 4;

std::size_t count_of(int n) {
  return static_cast<std::size_t>(n);
}

/// Adds the thresholds of a dither to samples of row y of a frame, relative to the half that is
/// added anyway. `in` may be `out`.
void add_thresholds(Dither dither, int y, int bits, std::size_t n, const std::int16_t* in,
                    std::int16_t* out) {
  std::array<std::int16_t, 8> above;
  for (int x = 0; x < 8; ++x) {
    above[count_of(x)] = static_cast<std::int16_t>(rounding_threshold(dither, x, y, bits) -
                                                   rounding_threshold(Dither::none, x, y, bits));
  }
  for (std::size_t x = 0; x < n; ++x)
    out[x] = static_cast<std::int16_t>(in[x] + above[x % 8]);
}

}  // namespace

PictureSequence::PictureSequence(std::span<const ComponentShape> components, Words words,
                                 Words out_words, RowExecutor& executor, const DenoiseRows& loops)
    : executor_(executor),
      loops_(loops),
      taps_(all_taps()),
      components_(components.begin(), components.end()),
      words_(words),
      out_words_(out_words),
      motion_(components[0].columns, components[0].rows, executor, loops),
      noise_(components.size()),
      counted_(components.size()) {
  const int widest = components[0].columns;
  for (const ComponentShape& each : components) {
    const bool is_first = known_.empty();
    const RowsBeyond beyond = is_first ? luma_estimate_rows_beyond(each.rows) : kMovedRowsBeyond;
    for (std::vector<Knowledge>* list : {&known_, &spare_}) {
      list->push_back({Plane<std::int16_t>(each.columns, each.rows, beyond),
                       Plane<std::uint8_t>(each.columns, each.rows),
                       NoiseEstimate(each.columns, each.rows, each.chroma),
                       {}});
    }
    if (!each.chroma) known_.back().trends.resize(count_of(noise_blocks(each.columns, each.rows)));
    if (executor.threads() > 1) {
      const int rows = kShares * executor.threads() * kSeamRows;
      at_seams_.push_back({Plane<std::int16_t>(each.columns, rows),
                           Plane<std::uint8_t>(each.columns, rows),
                           {},
                           {}});
    }
  }
  for (int slot = 0; slot < executor.threads(); ++slot) {
    Scratch& scratch = scratch_.emplace_back();
    scratch.written = Plane<std::int16_t>(widest, 2);
    scratch.gain = Plane<std::int16_t>(widest, 1);
    for (const ComponentShape& each : components) {
      scratch.components.push_back({Plane<std::int16_t>(each.columns, kRing),
                                    Plane<std::uint8_t>(each.columns, kRing),
                                    Plane<std::int16_t>(each.columns, kRing),
                                    Plane<std::int8_t>(each.columns, kRing),
                                    Plane<std::uint8_t>(each.columns, kRing),
                                    {},
                                    {},
                                    0});
    }
  }
  field_ = motion_.no_motion();
  for (std::vector<std::uint8_t>* rows : {&seams_, &moves_, &lights_})
    rows->resize(count_of(block_rows()));
  seam_of_.resize(count_of(block_rows()));
}

void PictureSequence::reset() {
  pictures_ = 0;
  std::fill(field_.vectors.begin(), field_.vectors.end(), Vector{});
  for (std::size_t c = 0; c < components_.size(); ++c) {
    known_[c].noise =
        NoiseEstimate(components_[c].columns, components_[c].rows, components_[c].chroma);
    std::ranges::fill(known_[c].trends, Trend::none);
  }
}

int PictureSequence::side(std::size_t component) const {
  return kBlock >> components_[component].shift_y;
}

/// Rows of blocks, the same for every component.
int PictureSequence::block_rows() const {
  return (components_[0].rows + kBlock - 1) / kBlock;
}

void PictureSequence::process(std::span<const Samples<const std::uint8_t>> in,
                              std::span<const Samples<std::uint8_t>> out,
                              const DenoiseParams& params, FrameRows rows, StageClock& clock) {
  const Picture picture{in, out, params, rows};
  for (std::size_t c = 0; c < components_.size(); ++c)
    halve_and_measure(picture, c);
  clock.lap("noise");
  if (pictures_ != 0) {
    for (Knowledge& each : known_)
      each.estimate.repeat_end_rows();
    const auto load_luma = [&](int y, std::int16_t* row) { load_row(picture, 0, y, row); };
    motion_.search(load_luma, known_[0].estimate, known_[0].weight, noise_[0].sigma, field_);
  }
  clock.lap("motion");
  for (std::size_t c = 0; c < components_.size(); ++c)
    if (counted_[c] != 0) count_noise(picture, c);
  clock.lap("noise");
  if (pictures_ == 0) {
    start(picture);
  } else {
    go_on(picture);
  }
  clock.lap("estimate");
  ++pictures_;
  if (pictures_ == 0) pictures_ = 1;  // 0 means no state
}

/// Halves luma, and measures the noise of all rows of a component where none is known. Its rows are
/// loaded again where they are needed: that takes less time than to store all of them and to read
/// them from memory.
void PictureSequence::halve_and_measure(const Picture& picture, std::size_t component) {
  static_assert(kNoiseBlock == MotionSearch::kUnit);
  const int height = components_[component].rows;
  NoiseEstimate& noise = known_[component].noise;
  const bool measured = picture.params.noise == 0;
  const bool alone = measured && !noise.known();
  counted_[component] = measured && !alone ? 1 : 0;
  const int units = (height + kNoiseBlock - 1) / kNoiseBlock;
  executor_.for_rows(units, [&](int begin, int end, int slot) {
    Scratch& scratch = scratch_[count_of(slot)];
    Plane<std::int16_t>& samples = scratch.components[component].samples;
    for (int unit = begin; unit < end; ++unit) {
      const int first = unit * kNoiseBlock;
      const bool counts = alone && first + kNoiseBlock <= height;
      if (component != 0 && !counts) continue;
      load_unit(picture, component, first, samples);
      if (component == 0) motion_.shrink_luma(samples, unit);
      if (counts) count_blocks(component, first, samples, scratch.noise);
    }
  });
  if (alone) finish_noise(component);
  noise_[component] = measured
                          ? noise.curves()
                          : constant_noise(static_cast<int>(picture.params.noise * kLevel + 0.5));
}

/// Counts the noise of a component's rows of blocks whose turn it is, beside what is known along
/// the vectors of the picture, and the trends of the rows before them. The next picture's curves
/// are made from them.
void PictureSequence::count_noise(const Picture& picture, std::size_t component) {
  constexpr auto kTurns = static_cast<int>(kNoiseTurns);
  const int first = first_noise_row(pictures_);
  const int again = (first + 1) % kTurns;  // first row of the picture before
  const int units = components_[component].rows / kNoiseBlock;
  const auto rows_from = [&](int row) { return units <= row ? 0 : (units - row - 1) / kTurns + 1; };
  const int counted = rows_from(first);
  const int all = counted + (components_[component].chroma ? 0 : rows_from(again));
  executor_.for_rows(all, [&](int begin, int end, int slot) {
    Scratch& scratch = scratch_[count_of(slot)];
    Plane<std::int16_t>& samples = scratch.components[component].samples;
    for (int i = begin; i < end; ++i) {
      const int row = i < counted ? first + i * kTurns : again + (i - counted) * kTurns;
      const int y = row * kNoiseBlock;
      load_unit(picture, component, y, samples);
      if (i < counted) {
        count_blocks(component, y, samples, scratch.noise);
      } else {
        count_trends(component, y, samples, scratch.noise);
      }
    }
  });
  finish_noise(component);
}

/// Makes curves of what threads have counted.
void PictureSequence::finish_noise(std::size_t component) {
  NoiseEstimate& noise = known_[component].noise;
  for (Scratch& each : scratch_) {
    noise.add(each.noise);
    each.noise.clear();
  }
  noise.finish_frame();
}

/// Loads the kNoiseBlock rows from row y of a component on, with which `rows` then begins.
void PictureSequence::load_unit(const Picture& picture, std::size_t component, int y,
                                Plane<std::int16_t>& rows) const {
  for (int k = 0; k < kNoiseBlock; ++k) {
    load_row(picture, component, std::min(y + k, components_[component].rows - 1), rows.row(k));
    rows.pad(k);
  }
}

/// Loads row y of a component.
void PictureSequence::load_row(const Picture& picture, std::size_t component, int y,
                               std::int16_t* out) const {
  const Samples<const std::uint8_t>& in = picture.in[component];
  loops_.load(in.row(y), in.step, words_.depth, words_.shift,
              count_of(components_[component].columns), out);
}

/// Place of the noise block at column x and row y of a component in what is known, where the
/// picture's vectors point, and the light there.
PictureSequence::NoiseBefore PictureSequence::before(std::size_t component, int x, int y) const {
  const ComponentShape& at = components_[component];
  const Knowledge& known = known_[component];
  const int column = (x << at.shift_x) / kBlock;
  const int row = (y << at.shift_y) / kBlock;
  const Vector vector = field_.at(column, row);
  const int then_x = block_before(x, phases_of(vector.x, at.shift_x), at.columns);
  const int then_y = block_before(y, phases_of(vector.y, at.shift_y), at.rows);
  return {known.estimate.row(then_y) + then_x,
          known.weight.row(then_y + kNoiseBlock / 2)[then_x + kNoiseBlock / 2],
          component == 0 ? field_.gains_of(row)[count_of(column)] : 0};
}

/// Trends of a component's noise blocks from row y on.
Trend* PictureSequence::trends(std::size_t component, int y) {
  const int across = noise_blocks_across(components_[component].columns);
  return known_[component].trends.data() + count_of(y / kNoiseBlock) * count_of(across);
}

/// Counts the noise blocks from row y of a component on, with which `rows` begins: alone, or beside
/// what is known, one by one and in pairs.
void PictureSequence::count_blocks(std::size_t component, int y, const Plane<std::int16_t>& rows,
                                   NoiseEstimate& noise) {
  const ComponentShape& at = components_[component];
  const std::ptrdiff_t stride = known_[component].estimate.stride();
  Trend* const row_trends = at.chroma ? nullptr : trends(component, y);
  int first_level = 0;  // of the first block of a pair
  int first_sum = 0;
  std::uint8_t first_weight = 0;
  for (int i = 0; i < noise_blocks_across(at.columns); ++i) {
    const int x = kNoiseLeft + i * kNoiseStep;
    const std::int16_t* const first = rows.row(0) + x;
    const NoiseBlock block = loops_.noise_block(first, rows.stride());
    noise.add(block);
    if (counted_[component] == 0) continue;
    const auto [then, weight, gain] = before(component, x, y);
    const NoiseSums sums = loops_.noise_sums(first, rows.stride(), block.level, then, stride, gain);
    const auto& certainty = weight_tables().certainty;
    noise.add(block, sums, certainty[weight], at.chroma);
    if (row_trends != nullptr) row_trends[i] = trend_of(sums.sum);
    if (i % 2 == 1) {
      noise.add_swing(first_level, swing_texture(first_sum, sums.sum,
                                                 certainty[std::min(first_weight, weight)]));
    }
    first_level = block.level;
    first_sum = sums.sum;
    first_weight = weight;
  }
}

/// Counts the trends of the noise blocks from row y of a component on, with which `rows` begins,
/// beside those in the picture before.
void PictureSequence::count_trends(std::size_t component, int y, const Plane<std::int16_t>& rows,
                                   NoiseEstimate& noise) {
  const std::ptrdiff_t stride = known_[component].estimate.stride();
  const Trend* const last = trends(component, y);
  for (int i = 0; i < noise_blocks_across(components_[component].columns); ++i) {
    if (last[i] == Trend::none) continue;
    const int x = kNoiseLeft + i * kNoiseStep;
    const std::int16_t* const first = rows.row(0) + x;
    const auto [then, weight, gain] = before(component, x, y);
    const Trend now = trend_of(change_sum(first, rows.stride(), then, stride, gain));
    if (now != Trend::none) noise.add_trends(block_level(first, rows.stride()), last[i], now);
  }
}

/// Starts from the first picture.
void PictureSequence::start(const Picture& picture) {
  for (std::size_t c = 0; c < components_.size(); ++c) {
    Knowledge& known = known_[c];
    for (int y = 0; y < components_[c].rows; ++y) {
      load_row(picture, c, y, known.estimate.row(y));
      std::fill_n(known.weight.row(y), known.weight.width(), std::uint8_t{1});
    }
  }
  pad_all();
  motion_.shrink_estimate(known_[0].estimate);
  executor_.for_rows(block_rows(), [&](int begin, int end, int slot) {
    for (std::size_t c = 0; c < components_.size(); ++c)
      write(picture, known_[c], c, begin * side(c), end * side(c), scratch_[count_of(slot)]);
  });
}

/// Makes the next state from the picture and known_, and writes the result. Where nothing moves,
/// the state changes in place: less memory to read and write, which limits the speed of large
/// frames.
void PictureSequence::go_on(const Picture& picture) {
  const int rows = block_rows();
  const int shares = executor_.threads() == 1 ? 1 : std::min(rows, kShares * executor_.threads());
  std::fill(seams_.begin(), seams_.end(), std::uint8_t{0});
  for (int row = 0; row < rows; ++row) {
    moves_[count_of(row)] = field_.still(row) ? 0 : 1;
    lights_[count_of(row)] = field_.steady(row) ? 0 : 1;
  }
  in_place_ =
      std::all_of(moves_.begin(), moves_.end(), [](std::uint8_t each) { return each == 0; });
  if (in_place_) copy_seams(shares);
  executor_.for_rows(shares, [&](int begin, int end, int slot) {
    const int first = begin * rows / shares;
    seams_[count_of(first)] = first == 0 ? 0 : 1;
    estimate(picture, first, end * rows / shares, scratch_[count_of(slot)]);
  });
  // Rows at the ends of shares had no neighbours yet.
  if (shares > 1) {
    executor_.for_rows(rows, [&](int begin, int end, int slot) {
      for (int row = begin; row < end; ++row) {
        for (std::size_t c = 0; seams_[count_of(row)] != 0 && c < components_.size(); ++c) {
          const int y = row * side(c);
          write(picture, next(c), c, y - 2, y + 2, scratch_[count_of(slot)]);
        }
      }
    });
  }
  if (in_place_) return;
  for (std::size_t c = 0; c < components_.size(); ++c) {
    std::swap(known_[c].estimate, spare_[c].estimate);
    std::swap(known_[c].weight, spare_[c].weight);
  }
}

/// Copies what is known around the seams of shares: a share reads two rows beyond its own, which
/// another share may already have changed.
void PictureSequence::copy_seams(int shares) {
  for (int share = 1; share < shares; ++share) {
    const int row = share * block_rows() / shares;
    seam_of_[count_of(row)] = share;
    for (std::size_t c = 0; c < components_.size(); ++c) {
      const Knowledge& known = known_[c];
      const std::size_t n = count_of(known.estimate.width());
      for (int k = 0; k < kSeamRows; ++k) {
        const int y = row * side(c) - kSeamRows / 2 + k;
        std::copy_n(known.estimate.row(y), n, at_seams_[c].estimate.row(share * kSeamRows + k));
        std::copy_n(known.weight.row(y), n, at_seams_[c].weight.row(share * kSeamRows + k));
      }
    }
  }
}

void PictureSequence::pad_all() {
  for (Knowledge& each : known_) {
    for (int y = 0; y < each.estimate.height(); ++y) {
      each.estimate.pad(y);
      each.weight.pad(y, 0);
    }
  }
}

/// Filters rows of blocks. A row is written once its neighbours are known, while it is in the
/// cache; two rows are left at each end that other shares border on.
void PictureSequence::estimate(const Picture& picture, int begin, int end, Scratch& scratch) {
  scratch.gain_of = -1;
  for (std::size_t c = 0; c < components_.size(); ++c)
    scratch.components[c].ready = std::max(begin * side(c) - 2, 0);
  for (int row = begin; row < end; ++row) {
    for (std::size_t c = 0; c < components_.size(); ++c) {
      const int height = components_[c].rows;
      const int last = std::min(end * side(c), height);
      int written = begin == 0 ? 0 : begin * side(c) + 2;
      for (int y = row * side(c); y < std::min((row + 1) * side(c), height); ++y) {
        estimate_row(picture, c, y, begin * side(c), last, scratch);
        if (y - 2 >= written) write(picture, next(c), c, y - 2, y - 1, scratch);
      }
      if (row + 1 == end && last == height)
        write(picture, next(c), c, std::max(height - 2, written), height, scratch);
    }
    motion_.shrink_estimate(next(0).estimate, row);
  }
}

/// Makes the estimate of row y, one of rows `first` to `last` - 1 of a share.
void PictureSequence::estimate_row(const Picture& picture, std::size_t component, int y, int first,
                                   int last, Scratch& scratch) {
  const int height = components_[component].rows;
  const int width = components_[component].columns;
  const std::size_t n = count_of(width);
  RowsInWork& rows = scratch.components[component];
  const int below = std::min(y + 3, height);
  while (rows.ready < below) {
    const int row = rows.ready / side(component);
    int until = std::min({(row + 1) * side(component), last + 2, height});
    if (moves_[count_of(row)] == 0) {
      until = std::min(until, below);
      for (int k = rows.ready; k < until; ++k)
        take_known(component, k, first, last, rows);
    } else {
      move(component, rows.ready, until, scratch);
    }
    for (; rows.ready < until; ++rows.ready) {
      const int slot = rows.ready % kRing;
      if (component == 0) lighten(row, rows.ready, scratch);
      load_row(picture, component, rows.ready, rows.samples.row(slot));
      loops_.deviations(rows.samples.row(slot), rows.estimate[count_of(slot)],
                        rows.weight[count_of(slot)], noise_[component].inverse, n,
                        rows.deviation.row(slot));
      rows.deviation.repeat_ends(slot, width, 2);
    }
  }
  find_changes(component, y, scratch);
  const int slot = y % kRing;
  Knowledge& made = next(component);
  loops_.update(rows.samples.row(slot), rows.estimate[count_of(slot)], rows.weight[count_of(slot)],
                rows.change.row(slot), {picture.params.temporal, components_[component].chroma}, n,
                made.estimate.row(y), made.weight.row(y));
  made.estimate.pad(y);
  made.weight.pad(y, 0);
}

/// Sets the addresses of what is known of row y, in the planes or, for a row of another share of
/// `first` to `last` - 1, in a copy.
void PictureSequence::take_known(std::size_t component, int y, int first, int last,
                                 RowsInWork& rows) {
  const std::size_t slot = count_of(y % kRing);
  if (!in_place_ || (y >= first && y < last)) {
    rows.estimate[slot] = known_[component].estimate.row(y);
    rows.weight[slot] = known_[component].weight.row(y);
    return;
  }
  const int seam = y < first ? first : last;
  const int copy =
      seam_of_[count_of(seam / side(component))] * kSeamRows + kSeamRows / 2 + (y - seam);
  rows.estimate[slot] = at_seams_[component].estimate.row(copy);
  rows.weight[slot] = at_seams_[component].weight.row(copy);
}

/// Moves estimates of rows begin to end - 1, all in one row of blocks, along the motion vectors.
void PictureSequence::move(std::size_t component, int begin, int end, Scratch& scratch) {
  const ComponentShape& at = components_[component];
  const int side_x = kBlock >> at.shift_x;
  const int row = begin / (kBlock >> at.shift_y);
  for (int column = 0; column < field_.columns;) {
    const Vector vector = field_.at(column, row);
    const int first = column * side_x;
    do
      ++column;
    while (column < field_.columns && field_.at(column, row) == vector);
    // Chroma of an odd number of columns ends within its last block.
    const int last = std::min(column * side_x, at.columns);
    if (first < last) move_run(component, vector, first, last, begin, end, scratch);
  }
  RowsInWork& rows = scratch.components[component];
  for (int y = begin; y < end; ++y) {
    rows.estimate[count_of(y % kRing)] = rows.moved_estimate.row(y % kRing);
    rows.weight[count_of(y % kRing)] = rows.moved_weight.row(y % kRing);
  }
}

void PictureSequence::move_run(std::size_t component, Vector vector, int first, int last, int begin,
                               int end, Scratch& scratch) {
  const ComponentShape& at = components_[component];
  const Knowledge& known = known_[component];
  RowsInWork& rows = scratch.components[component];
  const int x = phases_of(vector.x, at.shift_x);
  const int y = phases_of(vector.y, at.shift_y);
  const int phase_x = phase_of(x);
  const int phase_y = phase_of(y);
  const std::size_t n = count_of(last - first);

  // Rows of one row of blocks do not wrap around in the ring.
  const std::int16_t* const from =
      known.estimate.row_or_beyond(begin + sample_before(y)) + first + sample_before(x);
  Plane<std::int16_t>& estimate = rows.moved_estimate;
  loops_.interpolate(from, known.estimate.stride(),
                     phase_x == 0 ? nullptr : &taps_[count_of(phase_x)],
                     phase_y == 0 ? nullptr : &taps_[count_of(phase_y)], n, end - begin,
                     estimate.row(begin % kRing) + first, estimate.stride());
  // Samples from outside the frame have weight 0.
  Plane<std::uint8_t>& weights = rows.moved_weight;
  const int inside = std::clamp(-nearest_sample(y), begin, end);
  const int outside = std::clamp(at.rows - nearest_sample(y), inside, end);
  const auto forget = [&](int from_row, int to_row) {
    for (int row = from_row; row < to_row; ++row)
      std::fill_n(weights.row(row % kRing) + first, n, std::uint8_t{0});
  };
  forget(begin, inside);
  forget(outside, end);
  const std::uint8_t* const old =
      known.weight.row(inside + nearest_sample(y)) + first + nearest_sample(x);
  std::uint8_t* const out = weights.row(inside % kRing) + first;
  loops_.move_weights(old, known.weight.stride(), phase_x != 0 || phase_y != 0, n, outside - inside,
                      out, weights.stride());
}

/// Applies the gains to luma's estimates of row y, in a row of blocks.
void PictureSequence::lighten(int row, int y, Scratch& scratch) {
  if (lights_[count_of(row)] == 0) return;
  const std::span<const std::int16_t> gains = field_.gains_of(row);
  const int width = components_[0].columns;
  std::int16_t* const gain = scratch.gain.row(0);
  if (scratch.gain_of != row) {
    for (int column = 0; column < field_.columns; ++column) {
      const int first = column * kBlock;
      std::fill_n(gain + first, std::min(kBlock, width - first), gains[count_of(column)]);
    }
    scratch.gain_of = row;
  }
  RowsInWork& rows = scratch.components[0];
  const std::size_t slot = count_of(y % kRing);
  std::int16_t* const result = rows.moved_estimate.row(y % kRing);
  loops_.lighten(rows.estimate[slot], gain, count_of(width), result);
  rows.estimate[slot] = result;
}

void PictureSequence::find_changes(std::size_t component, int y, Scratch& scratch) {
  const ComponentShape& at = components_[component];
  RowsInWork& rows = scratch.components[component];
  const auto beside = [&](int k) {
    return rows.deviation.row(std::clamp(y + k, 0, at.rows - 1) % kRing);
  };
  const Rows5<std::int8_t> around{beside(-2), beside(-1), beside(0), beside(1), beside(2)};
  std::uint8_t* const change = rows.change.row(y % kRing);
  loops_.changes(around, at.chroma, count_of(at.columns), change);
  if (component == 0) {
    rows.change.repeat_ends(y % kRing, at.columns, 1);
    return;
  }
  Plane<std::uint8_t>& luma = scratch.components[0].change;
  const int above = y << at.shift_y;
  const int below = std::min(above + at.shift_y, components_[0].rows - 1);
  loops_.join(luma.row(above % kRing), luma.row(below % kRing), at.shift_x, count_of(at.columns),
              change);
}

/// Writes rows of a component, as far as they exist.
void PictureSequence::write(const Picture& picture, const Knowledge& known, std::size_t component,
                            int begin, int end, Scratch& scratch) {
  const Samples<std::uint8_t>& out = picture.out[component];
  const std::size_t n = count_of(known.estimate.width());
  const auto strength = static_cast<int>(picture.params.strength * kOne + 0.5);
  const auto spatial = static_cast<int>(picture.params.spatial * kMostSpatial + 0.5);
  std::int16_t* const row = scratch.written.row(0);
  for (int y = begin; y < std::min(end, known.estimate.height()); ++y) {
    const std::int16_t* result = known.estimate.row(y);
    if (spatial != 0) {
      const Rows5<std::int16_t> rows{known.estimate.row(y - 2), known.estimate.row(y - 1), result,
                                     known.estimate.row(y + 1), known.estimate.row(y + 2)};
      loops_.smooth(rows, known.weight.row(y), noise_[component].sigma, spatial, n, row);
      result = row;
    }
    if (strength < kOne) {
      if (result != row) std::copy_n(result, n, row);
      std::int16_t* const samples = scratch.written.row(1);
      load_row(picture, component, y, samples);
      loops_.blend(samples, strength, n, row);
      result = row;
    }
    if (picture.params.dither != Dither::none) {
      add_thresholds(picture.params.dither, picture.rows.first + picture.rows.step * y,
                     kSampleBits - out_words_.depth, n, result, row);
      result = row;
    }
    loops_.store(result, out.step, out_words_.depth, out_words_.shift, n, out.row(y));
  }
}

}  // namespace equalux::denoise

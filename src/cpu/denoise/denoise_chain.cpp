#include "src/cpu/denoise/denoise_chain.h"

#include <array>
#include <utility>

namespace equalux::denoise {
namespace {

/// Of a picture's rows of blocks in which noise is looked for, one in so many are, in turn.
constexpr std::uint32_t kNoiseTurns = 8;

/// A vector along one axis, in units of 1 / kPhases sample of a component.
int phases_of(int parts, int shift) {
  return shift == 0 ? 2 * parts : parts;
}

constexpr int kWhole = kPhases;

int nearest(int phases) {
  return (phases + kWhole / 2) >> 4;
}

std::size_t count_of(int n) {
  return static_cast<std::size_t>(n);
}

}  // namespace

PictureSequence::PictureSequence(std::span<const ComponentShape> components, Words words,
                                 RowExecutor& executor, const DenoiseRows& loops)
    : executor_(executor),
      loops_(loops),
      components_(components.begin(), components.end()),
      words_(words),
      motion_(components[0].columns, components[0].rows, executor, loops),
      noise_(components.size()) {
  const int widest = components[0].columns;
  for (const ComponentShape& each : components) {
    for (std::vector<Knowledge>* list : {&known_, &next_}) {
      list->push_back({Plane<std::int16_t>(each.columns, each.rows),
                       Plane<std::uint8_t>(each.columns, each.rows),
                       {}});
    }
    samples_.emplace_back(each.columns, each.rows);
    change_.emplace_back(each.columns, each.rows);
  }
  for (int slot = 0; slot < executor.threads(); ++slot) {
    scratch_.push_back({Plane<std::int16_t>(widest, kRing),
                        Plane<std::uint8_t>(widest, kRing),
                        Plane<std::int8_t>(widest, kRing),
                        Plane<std::int16_t>(widest, kRing),
                        {}});
  }
  field_ = motion_.no_motion();
}

void PictureSequence::reset() {
  pictures_ = 0;
  std::fill(field_.vectors.begin(), field_.vectors.end(), Vector{});
  for (Knowledge& each : known_)
    each.noise = {};
}

int PictureSequence::block_rows(std::size_t component) const {
  const int side = kBlock >> components_[component].shift_y;
  return (components_[component].rows + side - 1) / side;
}

void PictureSequence::process(std::span<const Samples<const std::uint8_t>> in,
                              std::span<const Samples<std::uint8_t>> out,
                              const DenoiseParams& params, StageClock& clock) {
  for (std::size_t c = 0; c < components_.size(); ++c)
    load(in[c], c);
  for (std::size_t c = 0; c < components_.size(); ++c)
    measure_noise(c, params);
  clock.lap("noise");
  if (pictures_ != 0)
    motion_.search(samples_[0], known_[0].estimate, known_[0].weight, noise_[0].sigma, field_);
  clock.lap("motion");
  for (std::size_t c = 0; c < components_.size(); ++c) {
    if (pictures_ == 0) {
      start(c);
      continue;
    }
    executor_.for_rows(block_rows(c), [&](int begin, int end, int slot) {
      estimate(c, params.temporal, begin, end, scratch_[count_of(slot)]);
    });
    std::swap(known_[c].estimate, next_[c].estimate);
    std::swap(known_[c].weight, next_[c].weight);
  }
  clock.lap("estimate");
  for (std::size_t c = 0; c < components_.size(); ++c) {
    executor_.for_rows(components_[c].rows, [&](int begin, int end, int slot) {
      write(out[c], c, params, begin, end, scratch_[count_of(slot)]);
    });
  }
  clock.lap("smooth");
  ++pictures_;
  if (pictures_ == 0) pictures_ = 1;  // 0 is none
}

void PictureSequence::load(const Samples<const std::uint8_t>& in, std::size_t component) {
  Plane<std::int16_t>& samples = samples_[component];
  executor_.for_rows(samples.height(), [&](int begin, int end, int) {
    for (int y = begin; y < end; ++y) {
      loops_.load(in.row(y), in.step, words_.depth, words_.shift, count_of(samples.width()),
                  samples.row(y));
      samples.pad(y);
    }
  });
}

void PictureSequence::measure_noise(std::size_t component, const DenoiseParams& params) {
  if (params.noise > 0) {
    noise_[component] = constant_noise(static_cast<int>(params.noise * kLevel + 0.5));
    return;
  }
  const Plane<std::int16_t>& samples = samples_[component];
  executor_.for_rows(samples.height() / kNoiseBlock, [&](int begin, int end, int slot) {
    NoiseEstimate& found = scratch_[count_of(slot)].noise;
    for (int group = begin; group < end; ++group) {
      if (pictures_ != 0 && (static_cast<std::uint32_t>(group) + pictures_) % kNoiseTurns != 0)
        continue;
      const std::int16_t* const first = samples.row(group * kNoiseBlock);
      const std::ptrdiff_t step = samples.stride();
      for (int x = 0; x + kNoiseBlock <= samples.width(); x += 2 * kNoiseBlock)
        found.add(block_level(first + x, step), block_texture(first + x, step));
    }
  });
  NoiseEstimate& noise = known_[component].noise;
  for (Scratch& each : scratch_) {
    noise.add(each.noise);
    each.noise.clear();
  }
  noise_[component] = noise.finish_frame();
}

void PictureSequence::start(std::size_t component) {
  Knowledge& known = known_[component];
  for (int y = 0; y < samples_[component].height(); ++y) {
    const std::int16_t* const from = samples_[component].row(y);
    std::copy_n(from, known.estimate.width(), known.estimate.row(y));
    std::fill_n(known.weight.row(y), known.weight.width(), std::uint8_t{1});
  }
  pad_all();
}

void PictureSequence::pad_all() {
  for (Knowledge& each : known_) {
    for (int y = 0; y < each.estimate.height(); ++y) {
      each.estimate.pad(y);
      each.weight.pad(y, 0);
    }
  }
}

/// Rows of blocks, from the picture and what is known to next_.
void PictureSequence::estimate(std::size_t component, int most, int begin, int end,
                               Scratch& scratch) {
  const Plane<std::int16_t>& samples = samples_[component];
  const int height = samples.height();
  const std::size_t n = count_of(samples.width());
  const int side = kBlock >> components_[component].shift_y;
  const int first = begin * side;
  const int last = std::min(end * side, height);
  Knowledge& next = next_[component];
  int ready = std::max(first - 2, 0);
  for (int y = first; y < last; ++y) {
    while (ready <= std::min(y + 2, height - 1)) {
      const int until = std::min({(ready / side + 1) * side, last + 2, height});
      move(component, ready, until, scratch);
      for (; ready < until; ++ready) {
        const int slot = ready % kRing;
        loops_.deviations(samples.row(ready), scratch.estimate.row(slot), scratch.weight.row(slot),
                          noise_[component].inverse, n, scratch.deviation.row(slot));
        scratch.deviation.repeat_ends(slot, samples.width(), 2);
      }
    }
    find_changes(component, y, scratch);
    loops_.update(samples.row(y), scratch.estimate.row(y % kRing), scratch.weight.row(y % kRing),
                  change_[component].row(y), most, n, next.estimate.row(y), next.weight.row(y));
    next.estimate.pad(y);
    next.weight.pad(y, 0);
  }
}

/// Rows begin to end - 1, of one row of blocks, of what is known, where it has moved to.
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
    // Chroma of an odd number of columns has fewer than its blocks would.
    const int last = std::min(column * side_x, at.columns);
    if (first < last) move_run(component, vector, first, last, begin, end, scratch);
  }
}

void PictureSequence::move_run(std::size_t component, Vector vector, int first, int last, int begin,
                               int end, Scratch& scratch) {
  const ComponentShape& at = components_[component];
  const Knowledge& known = known_[component];
  const int x = phases_of(vector.x, at.shift_x);
  const int y = phases_of(vector.y, at.shift_y);
  const int phase_x = x & (kWhole - 1);
  const int phase_y = y & (kWhole - 1);
  const std::size_t n = count_of(last - first);
  const int from = first + (x >> 4);

  const auto across = [&](int row, std::int16_t* out) {
    const std::int16_t* const in = known.estimate.row(row) + from;
    if (phase_x == 0) {
      std::copy_n(in, n, out);
    } else {
      loops_.across(in, taps_of(phase_x), n, out);
    }
  };
  const int above = begin + (y >> 4) - 2;  // the first row that interpolation looks at
  if (phase_y != 0) {
    for (int k = 0; k < end - begin + kTaps - 1; ++k)
      across(above + k, scratch.across.row(k) + first);
  }
  for (int row = begin; row < end; ++row) {
    std::int16_t* const out = scratch.estimate.row(row % kRing) + first;
    if (phase_y == 0) {
      across(row + (y >> 4), out);
    } else {
      std::array<const std::int16_t*, kTaps> six;
      for (int k = 0; k < kTaps; ++k)
        six[count_of(k)] = scratch.across.row(row - begin + k) + first;
      loops_.down(six, taps_of(phase_y), n, out);
    }
    std::uint8_t* const weight = scratch.weight.row(row % kRing) + first;
    const int source = row + nearest(y);
    if (source < 0 || source >= at.rows) {
      std::fill_n(weight, n, std::uint8_t{0});
      continue;
    }
    std::copy_n(known.weight.row(source) + first + nearest(x), n, weight);
    if (phase_x != 0 || phase_y != 0) loops_.weigh_between(n, weight);
  }
}

void PictureSequence::find_changes(std::size_t component, int y, Scratch& scratch) {
  Plane<std::uint8_t>& changes = change_[component];
  Rows5<std::int8_t> rows;
  for (int k = 0; k < 5; ++k) {
    rows[count_of(k)] =
        scratch.deviation.row(std::clamp(y + k - 2, 0, changes.height() - 1) % kRing);
  }
  std::uint8_t* const change = changes.row(y);
  loops_.changes(rows, count_of(changes.width()), change);
  if (component == 0) {
    changes.repeat_ends(y, changes.width(), 1);
    return;
  }
  const ComponentShape& at = components_[component];
  const int above = y << at.shift_y;
  loops_.join(change_[0].row(above), change_[0].row(above + at.shift_y), at.shift_x,
              count_of(changes.width()), change);
}

void PictureSequence::write(const Samples<std::uint8_t>& out, std::size_t component,
                            const DenoiseParams& params, int begin, int end, Scratch& scratch) {
  const Knowledge& known = known_[component];
  const std::size_t n = count_of(known.estimate.width());
  const auto strength = static_cast<int>(params.strength * kOne + 0.5);
  const auto spatial = static_cast<int>(params.spatial * kMostSpatial + 0.5);
  std::int16_t* const row = scratch.across.row(0);
  for (int y = begin; y < end; ++y) {
    const std::int16_t* result = known.estimate.row(y);
    if (spatial != 0) {
      const Rows5<std::int16_t> rows{known.estimate.row(y - 2), known.estimate.row(y - 1), result,
                                     known.estimate.row(y + 1), known.estimate.row(y + 2)};
      loops_.smooth(rows, known.weight.row(y), noise_[component].sigma, spatial, n, row);
      result = row;
    }
    if (strength < kOne) {
      if (result != row) std::copy_n(result, n, row);
      loops_.blend(samples_[component].row(y), strength, n, row);
      result = row;
    }
    loops_.store(result, out.step, words_.depth, words_.shift, n, out.row(y));
  }
}

}  // namespace equalux::denoise

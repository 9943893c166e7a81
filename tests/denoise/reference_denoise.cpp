#include "tests/denoise/reference_denoise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace equalux::test {
namespace {

constexpr int kTop = 16383;
constexpr int kSide = 16;

/// a b / 2^15, rounded half up.
int part(int a, int b) {
  return static_cast<int>(std::floor(static_cast<double>(a) * b / 32768 + 0.5));
}

int limited(int x, int least, int most) {
  return std::min(std::max(x, least), most);
}

/// A quotient, rounded half up.
std::int64_t quotient(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(
      std::floor((static_cast<long double>(2 * a) + static_cast<long double>(b)) / (2 * b)));
}

int on_curve(const std::vector<int>& knots, int level) {
  const auto i = static_cast<std::size_t>(level / 1024);
  return knots[i] + part(knots[i + 1] - knots[i], level % 1024 / 4 * 128);
}

/// x as a whole number of 256ths below 1.
int in_256(double x) {
  return std::min(static_cast<int>(std::lround(256 * x)), 255);
}
int keep(int n) {
  return n == 0 ? 0 : 128 * in_256(n / (n + 1.0));
}
int certainty_256(int n) {
  return n == 0 ? 0 : in_256(1 / std::sqrt(1 + 1.0 / n));
}
int noise_left(int n) {
  return 128 * in_256(1 / std::sqrt(static_cast<double>(n)));
}

/// Weights of the samples -2 to 3 for a place `phase` sixteenths behind sample 0.
std::array<int, 6> make_weights(int phase) {
  std::array<double, 6> exact{};
  double sum = 0;
  for (int i = 0; i < 6; ++i) {
    const double x = i - 2 - phase / 16.0;
    const auto sinc = [](double t) {
      return t == 0 ? 1.0 : std::sin(std::numbers::pi * t) / (std::numbers::pi * t);
    };
    exact[static_cast<std::size_t>(i)] = std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0.0;
    sum += exact[static_cast<std::size_t>(i)];
  }
  std::array<int, 6> weights{};
  int rest = 32768;
  for (std::size_t i = 0; i < 6; ++i) {
    weights[i] = static_cast<int>(std::lround(32768 * exact[i] / sum));
    rest -= weights[i];
  }
  weights[phase < 8 ? 2 : 3] += rest;
  return weights;
}

/// make_weights(), of which a frame needs millions.
const std::array<int, 6>& weights_between(int phase) {
  static const auto all = [] {
    std::array<std::array<int, 6>, 16> made{};
    for (int each = 0; each < 16; ++each)
      made[static_cast<std::size_t>(each)] = make_weights(each);
    return made;
  }();
  return all[static_cast<std::size_t>(phase)];
}

/// The estimate at a place in sixteenths of a sample.
int between(const Grid& grid, int x16, int y16) {
  const int x = x16 >> 4;
  const int y = y16 >> 4;
  const auto across = [&](int row) {
    if (x16 % 16 == 0) return grid.near(x, row);
    const auto& weights = weights_between(x16 & 15);
    int sum = 0;
    for (int i = 0; i < 6; ++i)
      sum += part(grid.near(x + i - 2, row), weights[static_cast<std::size_t>(i)]);
    return limited(sum, 0, kTop);
  };
  if (y16 % 16 == 0) return across(y);
  const auto& weights = weights_between(y16 & 15);
  int sum = 0;
  for (int i = 0; i < 6; ++i)
    sum += part(across(y + i - 2), weights[static_cast<std::size_t>(i)]);
  return limited(sum, 0, kTop);
}

Grid halved(const Grid& from) {
  Grid to((from.columns + 1) / 2, (from.rows + 1) / 2);
  for (int y = 0; y < to.rows; ++y)
    for (int x = 0; x < to.columns; ++x) {
      to(x, y) = (from.near(2 * x, 2 * y) + from.near(2 * x + 1, 2 * y) +
                  from.near(2 * x, 2 * y + 1) + from.near(2 * x + 1, 2 * y + 1) + 2) /
                 4;
    }
  return to;
}

/// Differences of a 16 x 16 window at (x, y) to one that is (dx, dy) further.
int difference(const Grid& a, const Grid& b, int x, int y, int dx, int dy) {
  int sum = 0;
  for (int j = 0; j < kSide; ++j)
    for (int i = 0; i < kSide; ++i)
      sum += std::abs(a.near(x + i, y + j) - b.near(x + i + dx, y + j + dy));
  return sum;
}

/// What is left of the displacement, in eighths, by the method of Lucas and Kanade.
std::array<int, 2> rest(const Grid& now, const Grid& then, int x, int y, int dx, int dy) {
  std::int64_t xx = 16 * 256;
  std::int64_t yy = 16 * 256;
  std::int64_t xy = 0;
  std::int64_t xd = 0;
  std::int64_t yd = 0;
  const auto floored = [](int a, int b) {
    return limited(static_cast<int>(std::floor(static_cast<double>(a) / b)), -1023, 1023);
  };
  for (int j = y; j < y + kSide; ++j) {
    for (int i = x; i < x + kSide; ++i) {
      const int gx = floored(then.near(i + dx + 1, j + dy) - then.near(i + dx - 1, j + dy), 8);
      const int gy = floored(then.near(i + dx, j + dy + 1) - then.near(i + dx, j + dy - 1), 8);
      const int d = floored(now.near(i, j) - then.near(i + dx, j + dy), 4);
      xx += gx * gx;
      xy += gx * gy;
      yy += gy * gy;
      xd += gx * d;
      yd += gy * d;
    }
  }
  const std::int64_t all = xx * yy - xy * xy;
  const auto solve = [all](std::int64_t a) {
    if (a >= all) return 8;
    if (a <= -all) return -8;
    return static_cast<int>(quotient(a, all / 8));
  };
  return {solve(yy * xd - xy * yd), solve(xx * yd - xy * xd)};
}

/// The standard deviation below which `tenths` of the blocks counted by texture are, -1 for fewer
/// than `least` of them.
int sigma_of(std::vector<std::int64_t> counts, int tenths, int least, bool without_first = false) {
  if (without_first) counts[0] = 0;
  std::int64_t all = 0;
  for (const std::int64_t count : counts)
    all += count;
  if (all < least * 256) return -1;
  std::int64_t below = 0;
  for (int bin = 0; bin < 192; ++bin) {
    const std::int64_t here = counts[static_cast<std::size_t>(bin)];
    if (10 * (below + here) >= tenths * all) {
      const std::int64_t wanted = tenths * all / 10;
      const std::int64_t within =
          std::min<std::int64_t>(64 * (wanted - std::min(below, wanted)) / here, 63);
      const std::int64_t texture = ((64 * (8 + bin % 8) + within) << (bin / 8)) / 512;
      return static_cast<int>(std::min<std::int64_t>((texture + 70) / 141, 4096));
    }
    below += here;
  }
  return -1;
}

/// Sum of the magnitudes of numbers.
int magnitudes(const std::vector<int>& numbers) {
  int sum = 0;
  for (const int number : numbers)
    sum += std::abs(number);
  return sum;
}

/// Numbers less a mean of theirs.
std::vector<int> less(std::vector<int> numbers, int mean) {
  for (int& number : numbers)
    number -= mean;
  return numbers;
}

}  // namespace

int Grid::near(int x, int y) const {
  return at[static_cast<std::size_t>(limited(y, 0, rows - 1) * columns +
                                     limited(x, 0, columns - 1))];
}

void ReferenceDenoiser::count_noise(std::size_t c, const GridComponent& component,
                                    const Grid& samples, bool alone) {
  Known& known = known_[c];
  if (alone) known.signs.clear();
  for (auto* textures : {&known.textures, &known.coarse_textures, &known.residuals, &known.swings,
                         &known.changes, &known.trends}) {
    if (textures->empty()) textures->assign(16, std::vector<std::int64_t>(192));
    for (auto& level : *textures)
      for (std::int64_t& count : level)
        count -= (count + 7) / 8;
  }
  for (int y = 0; y + 8 <= samples.rows; y += 8) {
    const std::uint32_t turn = (static_cast<std::uint32_t>(y / 8) + pictures_) % 8;
    for (int x = 4; !alone && turn == 1 && !component.chroma && x + 8 <= samples.columns; x += 16)
      count_trend(c, component, samples, x, y);
    if (!alone && turn != 0) continue;
    // Of the first block of a pair: its level, the sum of its changes, and its certainty.
    std::array<int, 3> first{};
    for (int x = 4; x + 8 <= samples.columns; x += 16) {
      std::vector<int> block;
      int sum = 0;
      for (int k = 0; k < 64; ++k) {
        block.push_back(samples.near(x + k % 8, y + k / 8));
        sum += block.back();
      }
      // Second differences in both directions, over this distance.
      const auto texture_over = [&](int distance) {
        int all = 0;
        for (int j = y + distance; j < y + 8 - distance; ++j) {
          for (int i = x + distance; i < x + 8 - distance; ++i) {
            constexpr int kWeights[3] = {1, -2, 1};
            int second = 0;
            for (int b = 0; b < 3; ++b)
              for (int a = 0; a < 3; ++a)
                second += kWeights[a] * kWeights[b] *
                          samples.near(i + (a - 1) * distance, j + (b - 1) * distance);
            all += std::abs(second);
          }
        }
        return all;
      };
      const auto count_at = [&](std::vector<std::vector<std::int64_t>>& textures, int level,
                                int texture) {
        const int octave = static_cast<int>(std::floor(std::log2(texture)));
        const int bin = 8 * octave + (octave >= 3 ? (texture >> (octave - 3)) % 8
                                                  : (texture << (3 - octave)) % 8);
        textures[static_cast<std::size_t>(level / 1024)][static_cast<std::size_t>(bin)] += 256;
      };
      const int level = sum / 64;
      const auto count = [&](std::vector<std::vector<std::int64_t>>& textures, int texture) {
        count_at(textures, level, texture);
      };
      const int fine = texture_over(1);
      if (fine >= 451) count(known.textures, fine);
      if (alone) continue;

      const Changes beside = changes_of(c, component, samples, x, y);
      const int certainty = beside.certainty;
      const int sum_of_changes = beside.sum;
      if (!component.chroma) known.signs[{x, y}] = sum_of_changes;
      if (x % 32 == 20) {
        const int swing = std::abs(first[1] - sum_of_changes) * std::min(first[2], certainty) / 256;
        count_at(known.swings, first[0], std::max(static_cast<int>(18.375 * swing), 1));
      }
      first = {level, sum_of_changes, certainty};
      if (fine < 451) continue;
      const int change = magnitudes(beside.changes);
      if (!component.chroma) {
        const int weighed = static_cast<int>(std::floor(3.328125 * (change * certainty / 256)));
        count(known.changes, std::max(weighed, 2));
      }
      const int spread = texture_over(2) * 159 / 64;
      count(known.coarse_textures,
            std::max(std::min(spread, change * certainty / 256 * 25 / 8), 1));
      const auto mean_of_changes = static_cast<int>(quotient(sum_of_changes, 64));
      const int residual = magnitudes(less(beside.changes, mean_of_changes));
      const int activity = magnitudes(less(block, level));
      if (residual < 2048 || residual < 0.75 * std::max(activity, change)) continue;
      // Texture is in the estimate, too; noise has been averaged away there. Water is smooth.
      const int before = magnitudes(less(beside.olds, level - mean_of_changes));
      const int certain = residual * certainty / 256;
      const int strength = certain * 39 / 16;
      const bool told = certain >= 1.125 * before && strength <= spread;
      count(known.residuals, told ? std::max(strength, 1) : 1);
    }
  }
}

ReferenceDenoiser::Changes ReferenceDenoiser::changes_of(std::size_t c,
                                                         const GridComponent& component,
                                                         const Grid& samples, int x, int y) const {
  // Where this picture's vector points, in whole samples and in this light.
  const Known& known = known_[c];
  const Motion v = motion_at(x, y, component);
  const int then_x = limited(x + ((v.x + 8) >> 4), 0, samples.columns - 8);
  const int then_y = limited(y + ((v.y + 8) >> 4), 0, samples.rows - 8);
  Changes all;
  for (int k = 0; k < 64; ++k) {
    int old = known.estimate.near(then_x + k % 8, then_y + k / 8);
    if (c == 0) {
      const int gain = gain_[static_cast<std::size_t>(y / 16 * blocks_x_ + x / 16)];
      old = limited(old + part(old - 512, gain), 0, kTop);
    }
    all.olds.push_back(old);
    all.changes.push_back(samples.near(x + k % 8, y + k / 8) - old);
    all.sum += all.changes.back();
  }
  all.certainty = certainty_256(known.weight.near(then_x + 4, then_y + 4));
  return all;
}

void ReferenceDenoiser::count_trend(std::size_t c, const GridComponent& component,
                                    const Grid& samples, int x, int y) {
  Known& known = known_[c];
  const auto last = known.signs.find({x, y});
  if (last == known.signs.end() || last->second == 0) return;
  const int sum = changes_of(c, component, samples, x, y).sum;
  if (sum == 0) return;
  int level = 0;
  for (int k = 0; k < 64; ++k)
    level += samples.near(x + k % 8, y + k / 8);
  const bool kept = (sum > 0) == (last->second > 0);
  known.trends[static_cast<std::size_t>(level / 64 / 1024)][kept ? 1 : 0] += 256;
}

ReferenceDenoiser::Noise ReferenceDenoiser::noise_of(const Grid& samples, const Known& known,
                                                     bool chroma) const {
  std::vector<int> by_segment(16, -1);
  if (params_.noise > 0) {
    std::fill(by_segment.begin(), by_segment.end(),
              static_cast<int>(std::floor(64 * params_.noise + 0.5)));
  } else {
    int blocks = 0;
    for (int x = 4; x + 8 <= samples.columns; x += 16)
      blocks += samples.rows / 8;
    const int least = limited(blocks / 4, 3, 24);
    // Of 256: all where 9/16 of the blocks or fewer go on as they did, none from 21/32 on.
    std::array<std::int64_t, 2> turned_and_kept{};
    for (const auto& level : known.trends)
      for (std::size_t i = 0; i < 2; ++i)
        turned_and_kept[i] += level[i];
    const auto [turned, kept] = turned_and_kept;
    std::int64_t white = 0;
    if (turned + kept > 0) {
      const std::int64_t rest = 256 * (21 * (turned + kept) - 32 * kept) / (3 * (turned + kept));
      white = std::clamp<std::int64_t>(rest, 0, 256);
    }
    for (std::size_t level = 0; level < 16; ++level) {
      const int fine = sigma_of(known.textures[level], 2, least);
      const int coarse = sigma_of(known.coarse_textures[level], 2, least);
      const int middle = sigma_of(known.residuals[level], 5, least / 3, true);
      const int residual = sigma_of(known.residuals[level], 9, least / 3, true);
      by_segment[level] = fine;
      if (fine >= 0 && coarse >= 0) {
        const int joined =
            std::max(fine, std::min(4 * (coarse - fine), static_cast<int>(1.75 * coarse - fine)));
        by_segment[level] = std::min(joined, 4096);
      }
      int& sigma = by_segment[level];
      // Noise of many samples together shows neither in textures nor in residuals. Neighbours share
      // what coarse textures tell more than fine ones.
      const double neighbours = fine >= 0 && coarse >= 0 ? sigma - fine : 0;
      const auto with_swings = [&] {
        const int swing = sigma_of(known.swings[level], 5, least / 3);
        int most = chroma ? 4096 : sigma + static_cast<int>(0.75 * neighbours);
        const int floor = sigma_of(known.changes[level], 1, least / 3);
        if (!chroma && fine >= 0 && coarse >= 0 && floor > 1.25 * fine) {
          // Fast motion: all of 256 up to a swing of 5.5 floors, none from 7 on.
          const int rest = 256 * (14 * floor - 2 * swing) / (3 * floor);
          const auto more =
              (8 * floor - 10 * fine) * std::min<std::int64_t>(white, limited(rest, 0, 256)) / 256;
          most = std::max(most, std::min(sigma + static_cast<int>(more), 3 * floor - 2 * coarse));
        }
        const int shared =
            std::min({swing * 11 / 16, 4 * (swing - 2 * std::max(sigma, 0) - 64), most, 4096});
        if (swing >= 0 && shared > std::max(sigma, 0)) sigma = shared;
      };
      if (fine < 0 || middle <= 0) {
        with_swings();
        continue;
      }
      const auto blocks_of = [](const std::vector<std::int64_t>& counts) {
        return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
      };
      // Of 256, between a 16th and an 8th of the blocks.
      const std::int64_t all = blocks_of(known.textures[level]);
      const std::int64_t ramp =
          std::max<std::int64_t>(16 * blocks_of(known.residuals[level]) - all, 0);
      const std::int64_t share = std::min<std::int64_t>(256 * ramp / all, 256);
      const int missing = 5 * (static_cast<int>(std::floor(1.125 * middle)) - sigma);
      const int uneven = 32 * residual - 41 * middle;
      // Uneven residuals alone may be motion: textures must lack noise as well.
      const int shown = std::max(missing, std::min(uneven, 5 * (sigma - fine)));
      // The share that textures lack of the middle, from a quarter of it to a half, in chroma.
      const std::int64_t lack = std::min(std::max(3 * middle - 4 * sigma, 0), middle);
      const std::int64_t grown = 5 * middle + (chroma ? 3 * lack : 0);
      const auto lost =
          static_cast<int>(std::min(residual, 2 * middle) * grown / (std::int64_t{4} * middle));
      // Snow is in few blocks, and much stronger than what textures show.
      const int before = std::min({lost, shown, (chroma ? 32 : 8) * std::max(fine, coarse)});
      if (before > sigma)
        sigma =
            static_cast<int>(std::min<std::int64_t>(sigma + (before - sigma) * share / 256, 4096));
      with_swings();
    }
    std::vector<int> filled = by_segment;
    for (int i = 0; i < 16; ++i) {
      int left = i;
      int right = i;
      while (left >= 0 && by_segment[static_cast<std::size_t>(left)] < 0)
        --left;
      while (right < 16 && by_segment[static_cast<std::size_t>(right)] < 0)
        ++right;
      const auto value = [&](int k) { return by_segment[static_cast<std::size_t>(k)]; };
      int& here = filled[static_cast<std::size_t>(i)];
      if (left < 0 && right > 15)
        here = 0;
      else if (left < 0)
        here = value(right);
      else if (right > 15)
        here = value(left);
      else if (left != right)
        here = value(left) + (value(right) - value(left)) * (i - left) / (right - left);
    }
    by_segment = filled;
  }
  Noise noise;
  for (std::size_t i = 0; i <= 16; ++i) {
    const int left = by_segment[i == 0 ? 0 : i - 1];
    const int right = by_segment[i == 16 ? 15 : i];
    noise.sigma[i] = (left + right + 1) / 2;
    noise.inverse[i] = std::min(32767, 65536 / std::max(noise.sigma[i], 1));
  }
  return noise;
}

void ReferenceDenoiser::find_motion(const Grid& luma, const Noise& noise) {
  const Grid& old = known_[0].estimate;
  const Grid luma_2 = halved(luma);
  const Grid old_2 = halved(old);
  const Grid luma_8 = halved(halved(luma_2));
  const Grid old_8 = halved(halved(old_2));
  const auto index = [this](int x, int y) {
    return static_cast<std::size_t>(limited(y, 0, blocks_y_ - 1) * blocks_x_ +
                                    limited(x, 0, blocks_x_ - 1));
  };
  constexpr int kSteps[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  const auto inside = [&](Motion v, int bx, int by) {
    const auto bound = [](int parts, int first, int size) {
      return limited(parts, 8 * (-8 - first), 8 * (std::max(size - first - 16, 0) + 8));
    };
    return Motion{bound(v.x, bx * 16, luma.columns), bound(v.y, by * 16, luma.rows)};
  };

  const auto differences = [&](Motion v, int bx, int by) {
    int sum = 0;
    for (int j = by * 16; j < by * 16 + 16; ++j)
      for (int i = bx * 16; i < bx * 16 + 16; ++i)
        sum += std::abs(luma.near(i, j) - between(old, 16 * i + 2 * v.x, 16 * j + 2 * v.y));
    return sum;
  };
  const auto refined = [&](int whole_x, int whole_y, int bx, int by) {
    const auto fine = rest(luma, old, bx * 16, by * 16, whole_x, whole_y);
    return inside({8 * whole_x + fine[0], 8 * whole_y + fine[1]}, bx, by);
  };

  // What light has changed by: no difference counts more than `limit`, and the mean of 256 of them
  // nothing within a multiple of their noise.
  const auto drift_within = [](const std::vector<int>& differences, int limit) {
    std::int64_t sum = 0;
    for (const int d : differences)
      sum += limited(d, -limit, limit);
    const std::int64_t beyond = std::max<std::int64_t>(std::abs(sum) - std::int64_t{24} * limit, 0);
    return static_cast<int>((sum < 0 ? -1 : 1) * ((beyond + 128) / 256));
  };
  std::vector<int> most(motion_.size());
  std::vector<int> drift(motion_.size());

  std::vector<bool> open(motion_.size());
  std::vector<Motion> chosen(motion_.size());
  // What follows the last frame's vectors best, as a vector and what the block differs by.
  std::vector<std::pair<Motion, int>> followed(motion_.size());
  for (int by = 0; by < blocks_y_; ++by) {
    for (int bx = 0; bx < blocks_x_; ++bx) {
      const int unmoved = difference(luma_2, old_2, bx * 8 - 4, by * 8 - 4, 0, 0);
      const int sigma = on_curve(noise.sigma, old.near(bx * 16 + 8, by * 16 + 8));
      const int weight = known_[0].weight.near(bx * 16 + 8, by * 16 + 8);
      most[index(bx, by)] = certainty_256(weight) == 0 ? 0 : 192 * sigma / certainty_256(weight);
      std::vector<int> halves;
      for (int j = by * 8 - 4; j < by * 8 + 12; ++j)
        for (int i = bx * 8 - 4; i < bx * 8 + 12; ++i)
          halves.push_back(luma_2.near(i, j) - old_2.near(i, j));
      drift[index(bx, by)] = drift_within(halves, most[index(bx, by)]);
      const auto noise_alone = [&](int sum_of_differences, int percent) {
        return static_cast<std::int64_t>(sum_of_differences) * certainty_256(weight) <=
               static_cast<std::int64_t>(sigma) * (256 * 256 * percent / 100);
      };
      if (noise_alone(unmoved, 43)) continue;

      open[index(bx, by)] = true;
      std::array<int, 5> all_x{motion_[index(bx, by)].x};
      std::array<int, 5> all_y{motion_[index(bx, by)].y};
      for (std::size_t k = 0; k < 4; ++k) {
        const Motion& beside = motion_[index(bx + kSteps[k][0], by + kSteps[k][1])];
        all_x[k + 1] = beside.x;
        all_y[k + 1] = beside.y;
      }
      const bool moved_before = !(motion_[index(bx, by)] == Motion{});
      std::sort(all_x.begin(), all_x.end());
      std::sort(all_y.begin(), all_y.end());
      const Motion middle = inside({all_x[2], all_y[2]}, bx, by);
      if (middle == Motion{} && !moved_before) continue;
      auto& [best, least] = followed[index(bx, by)];
      if (!(middle == Motion{})) {
        best = middle;
        least = differences(middle, bx, by);
      }
      if (best == Motion{} || !noise_alone(least, 70)) {
        const Motion next = refined(static_cast<int>(quotient(middle.x, 8)),
                                    static_cast<int>(quotient(middle.y, 8)), bx, by);
        if (!(next == Motion{}) && (best == Motion{} || differences(next, bx, by) < least)) {
          best = next;
          least = differences(next, bx, by);
        }
      }
      if (best == Motion{} || !noise_alone(least, 88)) continue;
      open[index(bx, by)] = false;
      chosen[index(bx, by)] = best;
    }
  }
  for (int by = 0; by < blocks_y_; ++by) {
    for (int bx = 0; bx < blocks_x_; ++bx) {
      if (!open[index(bx, by)]) continue;
      // The coarse search of the group of 4 x 4 blocks.
      int coarse_x = 0;
      int coarse_y = 0;
      int least = 0;
      bool first = true;
      const int gx = bx / 4 * 8 - 4;
      const int gy = by / 4 * 8 - 4;
      int moving = 0;
      for (int j = by / 4 * 4; j < std::min(by / 4 * 4 + 4, blocks_y_); ++j)
        for (int i = bx / 4 * 4; i < std::min(bx / 4 * 4 + 4, blocks_x_); ++i)
          moving += open[index(i, j)] ? 1 : 0;
      for (int dy = -4; moving >= 4 && dy <= 4; ++dy) {
        for (int dx = -4; dx <= 4; ++dx) {
          const int cost =
              difference(luma_8, old_8, gx, gy, dx, dy) + 32 * (std::abs(dx) + std::abs(dy));
          if (!first && cost >= least) continue;
          first = false;
          least = cost;
          coarse_x = dx;
          coarse_y = dy;
        }
      }
      int x = 0;
      int y = 0;
      least = difference(luma_2, old_2, bx * 8 - 4, by * 8 - 4, 0, 0);
      const auto consider = [&](int dx, int dy) {
        const int cost = difference(luma_2, old_2, bx * 8 - 4, by * 8 - 4, dx, dy) +
                         (dx == 0 && dy == 0 ? 0 : 4096);
        if (cost >= least) return;
        least = cost;
        x = dx;
        y = dy;
      };
      consider(4 * coarse_x, 4 * coarse_y);
      const auto consider_last = [&](int i, int j) {
        const Motion& last = motion_[index(i, j)];
        consider(static_cast<int>(quotient(last.x, 16)), static_cast<int>(quotient(last.y, 16)));
      };
      consider_last(bx, by);
      for (const auto& step : kSteps)
        consider_last(bx + step[0], by + step[1]);
      for (int i = 0; i < 3; ++i) {
        const int from_x = x;
        const int from_y = y;
        for (const auto& step : kSteps)
          consider(from_x + step[0], from_y + step[1]);
        if (x == from_x && y == from_y) break;
      }
      const auto rough = rest(luma_2, old_2, bx * 8 - 4, by * 8 - 4, x, y);
      const int whole_x = static_cast<int>(quotient(2 * (8 * x + rough[0]), 8));
      const int whole_y = static_cast<int>(quotient(2 * (8 * y + rough[1]), 8));
      const Motion found = refined(whole_x, whole_y, bx, by);
      Motion& best = chosen[index(bx, by)];
      least = differences({}, bx, by);
      least -= least / 32;
      const auto& [before, before_differs] = followed[index(bx, by)];
      if (!(before == Motion{}) && before_differs < least) {
        best = before;
        least = before_differs;
      }
      const int sum = differences(found, bx, by);
      if (!(found == Motion{}) && !(found == before) && sum - sum / 128 < least) best = found;
    }
  }
  motion_ = chosen;
  for (int by = 0; by < blocks_y_; ++by) {
    for (int bx = 0; bx < blocks_x_; ++bx) {
      const Motion& v = motion_[index(bx, by)];
      if (v == Motion{}) continue;
      std::vector<int> along;
      for (int j = by * 16; j < by * 16 + 16; ++j)
        for (int i = bx * 16; i < bx * 16 + 16; ++i)
          along.push_back(luma.near(i, j) - between(old, 16 * i + 2 * v.x, 16 * j + 2 * v.y));
      drift[index(bx, by)] = drift_within(along, most[index(bx, by)]);
    }
  }
  for (int by = 0; by < blocks_y_; ++by) {
    for (int bx = 0; bx < blocks_x_; ++bx) {
      int mean = 2;
      for (int k = 0; k < 4; ++k)
        mean += old_8.near(2 * bx + k % 2, 2 * by + k / 2);
      const double share =
          static_cast<double>(drift[index(bx, by)]) / std::max(mean / 4 - 512, 512);
      gain_[index(bx, by)] = limited(static_cast<int>(std::trunc(share * 32768)), -8192, 8192);
    }
  }
}

ReferenceDenoiser::Motion ReferenceDenoiser::motion_at(int x, int y,
                                                       const GridComponent& component) const {
  const int bx = x / (16 >> component.shift_x);
  const int by = y / (16 >> component.shift_y);
  const Motion& luma = motion_[static_cast<std::size_t>(std::min(by, blocks_y_ - 1) * blocks_x_ +
                                                        std::min(bx, blocks_x_ - 1))];
  // In sixteenths of this component's samples.
  return {luma.x * 2 >> component.shift_x, luma.y * 2 >> component.shift_y};
}

std::vector<Grid> ReferenceDenoiser::process(const std::vector<GridComponent>& picture, int depth,
                                             int result_depth) {
  const int unit = 1 << (14 - depth);
  const int shown = result_depth == 0 ? depth : result_depth;
  const int step = 1 << (14 - shown);
  if (known_.empty()) {
    known_.resize(picture.size());
    blocks_x_ = (picture[0].samples.columns + 15) / 16;
    blocks_y_ = (picture[0].samples.rows + 15) / 16;
    motion_.assign(static_cast<std::size_t>(blocks_x_ * blocks_y_), {});
    gain_.assign(motion_.size(), 0);
  }
  std::vector<Grid> results;
  Grid luma_change;
  std::vector<Grid> samples;
  std::vector<Noise> noise;
  std::vector<bool> counted;
  for (std::size_t c = 0; c < picture.size(); ++c) {
    samples.push_back(picture[c].samples);
    for (int& sample : samples.back().at)
      sample *= unit;
    const bool alone = params_.noise == 0 && known_[c].textures.empty();
    if (alone) count_noise(c, picture[c], samples[c], true);
    noise.push_back(noise_of(samples[c], known_[c], picture[c].chroma));
    counted.push_back(params_.noise == 0 && !alone);
  }
  if (pictures_ != 0) find_motion(samples[0], noise[0]);
  // With what is known before this picture; the next one uses the counts.
  for (std::size_t c = 0; c < picture.size(); ++c)
    if (counted[c]) count_noise(c, picture[c], samples[c], false);
  for (std::size_t c = 0; c < picture.size(); ++c) {
    const Grid& now = samples[c];
    const int w = now.columns;
    const int h = now.rows;
    Known& known = known_[c];
    if (pictures_ == 0) {
      known.estimate = now;
      known.weight = Grid(w, h, 1);
    } else {
      Grid moved(w, h);
      Grid weight(w, h);
      Grid deviation(w, h);
      for (int y = 0; y < h; ++y) {
        for (int x = 0; x < w; ++x) {
          const Motion v = motion_at(x, y, picture[c]);
          moved(x, y) = between(known.estimate, 16 * x + v.x, 16 * y + v.y);
          if (c == 0) {
            const int gain = gain_[static_cast<std::size_t>(y / 16 * blocks_x_ + x / 16)];
            moved(x, y) = limited(moved(x, y) + part(moved(x, y) - 512, gain), 0, 16383);
          }
          const int nx = x + ((v.x + 8) >> 4);
          const int ny = y + ((v.y + 8) >> 4);
          const bool inside = nx >= 0 && ny >= 0 && nx < w && ny < h;
          int n = inside ? known.weight.near(nx, ny) : 0;
          if (v.x % 16 != 0 || v.y % 16 != 0) n = (7 * n + 4) / 8;
          weight(x, y) = n;
          const int scale = part(on_curve(noise[c].inverse, moved(x, y)), 128 * certainty_256(n));
          const int d = limited(now.near(x, y) - moved(x, y), -4095, 4095);
          deviation(x, y) = limited(part(8 * d, scale), -127, 127);
        }
      }
      Grid change(w, h);
      for (int y = 0; y < h; ++y) {
        for (int x = 0; x < w; ++x) {
          int sum = 0;
          int size = 0;
          for (int j = -2; j <= 2; ++j) {
            for (int i = -2; i <= 2; ++i) {
              sum += deviation.near(x + i, y + j);
              size += std::abs(deviation.near(x + i, y + j));
            }
          }
          const int own = std::abs(deviation(x, y));
          change(x, y) =
              limited(std::max({std::abs(sum) - 200, size - 400, 8 * (own - 40)}), 0, 255);
          if (picture[c].chroma && size < 160) change(x, y) = std::max(change(x, y), 1);
        }
      }
      if (c == 0) {
        luma_change = change;
      } else {
        const int sx = picture[c].shift_x;
        const int sy = picture[c].shift_y;
        for (int y = 0; y < h; ++y) {
          for (int x = 0; x < w; ++x) {
            // The four that a sample of 4:2:0 covers; fewer count twice, or four times.
            const int sum = luma_change.near(x << sx, y << sy) +
                            luma_change.near((x << sx) + sx, y << sy) +
                            luma_change.near(x << sx, (y << sy) + sy) +
                            luma_change.near((x << sx) + sx, (y << sy) + sy);
            change(x, y) = std::max(change(x, y), (sum + 2) / 4);
          }
        }
      }
      for (int y = 0; y < h; ++y) {
        for (int x = 0; x < w; ++x) {
          const int n = (weight(x, y) * (256 - change(x, y)) + 128) / 256;
          const int sample = now.near(x, y);
          known.estimate(x, y) = sample - part(sample - moved(x, y), keep(n));
          const int next = picture[c].chroma && change(x, y) == 1 ? std::max(n, 1) : n + 1;
          known.weight(x, y) = std::min(next, params_.temporal);
        }
      }
    }
    Grid result(w, h);
    const int spatial = static_cast<int>(std::floor(params_.spatial * 28672 + 0.5));
    const int strength = static_cast<int>(std::floor(params_.strength * 32768 + 0.5));
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) {
        const int own = known.estimate.near(x, y);
        int value = own;
        if (spatial > 0) {
          const int left = part(on_curve(noise[c].sigma, own), noise_left(known.weight.near(x, y)));
          const int reach = std::min(part(8 * std::min(left, 4095), spatial), 3200);
          int sum = 0;
          for (int j = -2; j <= 2; ++j) {
            for (int i = -2; i <= 2; ++i) {
              if (std::abs(i) + std::abs(j) > 2) continue;
              const int d = known.estimate.near(x + i, y + j) - own;
              const int size = std::min(std::abs(d), std::max(reach - std::abs(d), 0));
              sum += d < 0 ? -size : size;
            }
          }
          value = own + part(sum, 32768 / 13);
        }
        const int sample = now.near(x, y);
        if (strength < 32768) value = sample + part(value - sample, strength);
        result(x, y) = limited((value + step / 2) / step, 0, (1 << shown) - 1);
      }
    }
    results.push_back(result);
  }
  ++pictures_;
  return results;
}

}  // namespace equalux::test

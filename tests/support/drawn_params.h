#pragma once

#include <random>

#include <equalux/params.h>

/// Parameters that tests draw.
namespace equalux::test {

inline double drawn_between(std::mt19937& random, double least, double most) {
  return std::uniform_real_distribution<>(least, most)(random);
}

/// A curve with any of its limits, the same for every frame.
inline EqualizeParams drawn_curve(std::mt19937& random) {
  EqualizeParams params;
  params.scaler = static_cast<Scaler>(random() % 3);
  params.strength = random() % 3 == 0 ? 1 : drawn_between(random, 0, 1);
  params.clip_limit = random() % 3 == 0 ? 0 : drawn_between(random, 1, 12);
  params.floor = random() % 2 == 0 ? 0 : drawn_between(random, 0, 40);
  params.ceiling = random() % 2 == 0 ? 100 : drawn_between(random, 60, 100);
  params.max_gain = random() % 2 == 0 ? 0 : drawn_between(random, 1, 20);
  params.min_gain = random() % 2 == 0 ? 0 : drawn_between(random, 0, 1);
  return params;
}

}  // namespace equalux::test

#pragma once

#include <cstdint>
#include <vector>

#include <equalux/image.h>

/// Pictures of branching vessels whose mask is known.
namespace equalux::test {

struct VesselTree {
  Image image;                     ///< gray8
  std::vector<std::uint8_t> mask;  ///< 1 in vessels, row after row
};

/// A seeded tree: branches 3 to 12 pixels wide that get thinner, 22 to 40 % darker than the ground
/// (or brighter), light that falls to about half across the frame, and noise of 4 levels.
[[nodiscard]] VesselTree vessel_tree(int width, int height, std::uint32_t seed, bool bright);

/// 2 |A and B| / (|A| + |B|) of a gray8 mask and a known one.
[[nodiscard]] double dice(const ConstImageView& mask, const std::vector<std::uint8_t>& known);

}  // namespace equalux::test

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/hessian/class_planes.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "tests/support/device/device_test.h"

/// Hysteresis, small components and holes on a GPU: what a flood of each component gives, byte by
/// byte.
namespace equalux {
namespace {

struct Plane {
  int width;
  int height;
  std::vector<std::uint8_t> at;

  Plane(int w, int h)
      : width(w), height(h), at(static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}
  std::uint8_t& operator()(int x, int y) {
    return at[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
              static_cast<std::size_t>(x)];
  }
};

/// Calls body(pixels) for each component of what is not 0 (or, with `ground`, of what is 0).
template <typename Body>
void for_components(Plane& plane, bool ground, const Body& body) {
  Plane seen(plane.width, plane.height);
  for (int y = 0; y < plane.height; ++y) {
    for (int x = 0; x < plane.width; ++x) {
      std::vector<std::pair<int, int>> pixels;
      const auto visit = [&](int px, int py) {
        if (px < 0 || py < 0 || px >= plane.width || py >= plane.height) return;
        if (seen(px, py) != 0 || (plane(px, py) == 0) != ground) return;
        seen(px, py) = 1;
        pixels.emplace_back(px, py);
      };
      visit(x, y);
      for (std::size_t i = 0; i < pixels.size(); ++i) {
        const auto [px, py] = pixels[i];
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            if (!ground || dx == 0 || dy == 0) visit(px + dx, py + dy);
      }
      if (!pixels.empty()) body(pixels);
    }
  }
}

/// What keep_vessels() is to make of a plane.
Plane expected_of(Plane plane, std::int64_t min_size, std::int64_t most_hole) {
  Plane kept(plane.width, plane.height);
  for_components(plane, false, [&](const auto& pixels) {
    bool strong = false;
    for (const auto& [x, y] : pixels)
      strong = strong || plane(x, y) == 2;
    if (!strong || static_cast<std::int64_t>(pixels.size()) < min_size) return;
    for (const auto& [x, y] : pixels)
      kept(x, y) = 1;
  });
  Plane filled = kept;
  for_components(kept, true, [&](const auto& pixels) {
    if (static_cast<std::int64_t>(pixels.size()) > most_hole) return;
    for (const auto& [x, y] : pixels)
      filled(x, y) = 1;
  });
  return filled;
}

class CudaComponents : public test::DeviceTest {
 protected:
  static void expect_flooded(const Plane& plane, std::int64_t min_size, std::int64_t most_hole) {
    const auto memory = cuda::allocate_device<std::uint8_t>(plane.at.size());
    cuda::DeviceComponents components(plane.width, plane.height);
    const cuda::DeviceClasses classes{memory.get(), plane.width, plane.height};
    // The second time the lists hold what the first one left.
    for (int i = 0; i < 2; ++i) {
      cuda::upload(memory.get(), plane.at.data(), plane.at.size(), "uploading");
      components.keep_vessels(classes, min_size, most_hole, nullptr);
      Plane found(plane.width, plane.height);
      cuda::check(
          cudaMemcpy(found.at.data(), memory.get(), found.at.size(), cudaMemcpyDeviceToHost),
          "downloading");
      EXPECT_EQ(found.at, expected_of(plane, min_size, most_hole).at)
          << plane.width << "x" << plane.height << ", at least " << min_size << ", holes to "
          << most_hole;
    }
  }

  /// Pixels are 0 but for `share` of them, a tenth of which is 2.
  static Plane random_plane(int width, int height, double share, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> chance(0, 1);
    Plane plane(width, height);
    for (std::uint8_t& pixel : plane.at)
      pixel = chance(random) >= share ? 0 : (chance(random) < 0.1 ? 2 : 1);
    return plane;
  }
};

TEST_F(CudaComponents, RandomPixelsOfEveryDensityAndSize) {
  unsigned seed = 1;
  for (const auto& [width, height] :
       {std::pair{1, 1}, {1, 100}, {100, 1}, {31, 33}, {32, 32}, {64, 32}, {65, 97}, {333, 257}}) {
    for (const double share : {0.02, 0.3, 0.41, 0.5, 0.6, 0.9, 0.99}) {
      expect_flooded(random_plane(width, height, share, seed++), 5, 3);
      expect_flooded(random_plane(width, height, share, seed++), 0, 40);
    }
  }
}

TEST_F(CudaComponents, LargestCountsOfComponents) {
  Plane chessboard(131, 67);
  Plane grid(131, 67);
  for (int y = 0; y < chessboard.height; ++y) {
    for (int x = 0; x < chessboard.width; ++x) {
      chessboard(x, y) = (x + y) % 2 == 0 ? 2 : 0;
      grid(x, y) = x % 2 == 0 && y % 2 == 0 ? 2 : 0;
    }
  }
  for (const std::int64_t size : {0, 1, 2, 5000}) {
    expect_flooded(chessboard, size, 1);
    expect_flooded(chessboard, size, 0);
    expect_flooded(grid, size, 1);
  }
}

TEST_F(CudaComponents, LongWindingOnes) {
  // Rows that are joined at their ends in turn, and a spiral: each a component that crosses every
  // tile, whose one strong pixel is at its end.
  Plane snake(300, 199);
  for (int y = 0; y < snake.height; y += 2) {
    for (int x = 0; x < snake.width; ++x)
      snake(x, y) = 1;
    if (y + 1 < snake.height) snake(y % 4 == 0 ? snake.width - 1 : 0, y + 1) = 1;
  }
  snake(snake.width - 1, snake.height - 1) = 2;
  expect_flooded(snake, 10000, 5);
  expect_flooded(snake, 100000, 300 * 199);

  Plane spiral(257, 257);
  int left = 0;
  int right = 256;
  int x = 0;
  int y = 0;
  spiral(0, 0) = 2;
  while (right - left > 4) {
    for (; x < right; ++x)
      spiral(x, y) = 1;
    for (; y < right; ++y)
      spiral(x, y) = 1;
    for (; x > left; --x)
      spiral(x, y) = 1;
    for (; y > left + 2; --y)
      spiral(x, y) = 1;
    left += 2;
    right -= 2;
    for (; x < left; ++x)
      spiral(x, y) = 1;
  }
  spiral(0, 0) = 2;
  expect_flooded(spiral, 1000, 100);
}

TEST_F(CudaComponents, AllAndNothing) {
  for (const int value : {0, 1, 2}) {
    Plane plane(100, 70);
    plane.at.assign(plane.at.size(), static_cast<std::uint8_t>(value));
    expect_flooded(plane, 7000, 10);
    expect_flooded(plane, 7001, 7000);
  }
}

}  // namespace
}  // namespace equalux

#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <equalux/denoise.h>

/// Noise reduction as docs/algorithm.md, "Denoising", defines it, sample by sample and slowly. It
/// shares nothing with the product.
namespace equalux::test {

/// Samples of one component, rows from the top, each of `columns` numbers.
struct Grid {
  int columns = 0;
  int rows = 0;
  std::vector<int> at;

  Grid() = default;
  Grid(int width, int height, int value = 0)
      : columns(width), rows(height), at(static_cast<std::size_t>(width * height), value) {}

  int& operator()(int x, int y) { return at[static_cast<std::size_t>(y * columns + x)]; }
  /// The nearest sample that there is.
  [[nodiscard]] int near(int x, int y) const;
};

/// A component: its samples, and how many of the first component's columns and rows, as a shift,
/// one of them covers.
struct GridComponent {
  Grid samples;
  int shift_x = 0;
  int shift_y = 0;
  bool chroma = false;
};

/// Pictures of one size that follow each other.
class ReferenceDenoiser {
 public:
  explicit ReferenceDenoiser(const DenoiseParams& params) : params_(params) {}

  /// Codes of `depth` bits; the first component decides where there is motion. Results have
  /// `result_depth` bits, 0 = as many.
  [[nodiscard]] std::vector<Grid> process(const std::vector<GridComponent>& picture, int depth,
                                          int result_depth = 0);
  void set_params(const DenoiseParams& params) { params_ = params; }

 private:
  struct Noise {
    std::vector<int> sigma = std::vector<int>(17);
    std::vector<int> inverse = std::vector<int>(17);
  };
  struct Known {
    Grid estimate;
    Grid weight;
    std::vector<std::vector<std::int64_t>> textures;  // counts by level and bin
    std::vector<std::vector<std::int64_t>> coarse_textures;
    std::vector<std::vector<std::int64_t>> residuals;
    std::vector<std::vector<std::int64_t>> swings;
    std::vector<std::vector<std::int64_t>> changes;
    std::vector<std::vector<std::int64_t>> trends;  // by level: turned and kept
    std::map<std::pair<int, int>, int> signs;       // of sums of changes, by place of the block
  };
  struct Changes {
    std::vector<int> changes;
    std::vector<int> olds;
    int sum = 0;
    int certainty = 0;
  };
  struct Motion {
    int x = 0;  // eighths of a sample
    int y = 0;
    friend bool operator==(const Motion&, const Motion&) = default;
  };

  /// Counts blocks of component `c`: `alone`, all of them without their estimate.
  void count_noise(std::size_t c, const GridComponent& component, const Grid& samples, bool alone);
  /// The differences of the block at (x, y) from the estimate along its vector, and the estimate's
  /// samples.
  [[nodiscard]] Changes changes_of(std::size_t c, const GridComponent& component,
                                   const Grid& samples, int x, int y) const;
  /// Counts whether the block at (x, y) goes on as it did in the picture before.
  void count_trend(std::size_t c, const GridComponent& component, const Grid& samples, int x,
                   int y);
  [[nodiscard]] Noise noise_of(const Grid& samples, const Known& known, bool chroma) const;
  void find_motion(const Grid& luma, const Noise& noise);
  [[nodiscard]] Motion motion_at(int x, int y, const GridComponent& component) const;

  DenoiseParams params_;
  std::vector<Known> known_;
  std::vector<Motion> motion_;
  std::vector<int> gain_;  // by block: of the light
  int blocks_x_ = 0;
  int blocks_y_ = 0;
  std::uint32_t pictures_ = 0;
};

}  // namespace equalux::test

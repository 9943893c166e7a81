#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include <equalux/denoise.h>
#include <equalux/image.h>

#include "src/format/layout.h"
#include "tests/denoise/reference_denoise.h"

/// Pictures that tests of noise reduction draw, and how they read them.
namespace equalux::test {

/// The formats that it takes.
[[nodiscard]] std::vector<PixelFormat> denoised_formats();

/// Options of every kind at and between their ends.
[[nodiscard]] std::vector<DenoiseParams> denoise_option_cases();

/// Components of a format in the order in which noise reduction works on them.
[[nodiscard]] std::vector<int> component_indices(PixelFormat format);

/// Code of a sample of a component.
[[nodiscard]] int code_at(const ConstImageView& view, int component, int x, int y);

/// Codes of all components, of the rows first, first + step and so on.
[[nodiscard]] std::vector<GridComponent> grids_of(const ConstImageView& view, int first = 0,
                                                  int step = 1);

/// How a picture moves, and what is in it.
struct Scene {
  double dx = 0;  ///< samples a frame
  double dy = 0;
  double sigma = 3;  ///< of the noise, in levels of 8 bits
  int cut = 1000;    ///< number of the first frame of another picture
  int shared = 1;    ///< noise is that of so many by so many samples together, an odd number
  int blotches = 1;  ///< the same of chroma's noise
};

/// Draws frame `number` of a scene: a textured picture that pans, in the dark and with noise;
/// something bright crosses it. Samples of no component, as alpha, stay. Noise of mean 0 and
/// deviation 1 comes from `normal` and `random`; no random number is taken with sigma 0.
void draw_scene(const ImageView& out, const Scene& scene, int number, std::mt19937& random,
                std::normal_distribution<double>& normal);

/// Reference of a block: the last frame, or none.
enum class Coding { inter, intra };

/// Lossy codec of frames of 8 bits by blocks of 8 x 8 of each component. A block is the sum of its
/// reference and of a quantized cosine transform: small differences from the reference are lost.
/// Blocks that are not whole stay as they are.
class BlockCodec {
 public:
  /// Makes a codec whose quantizer has steps of so many levels, without a reference larger ones for
  /// high frequencies.
  BlockCodec(const ImageDesc& desc, Coding coding, double step);

  /// Replaces the next frame by what a decoder gives.
  void code(const ImageView& frame);

 private:
  static constexpr int kSide = 8;
  using Block = std::array<double, kSide * kSide>;

  static std::size_t at(int row, int column) {
    return static_cast<std::size_t>(row * kSide + column);
  }
  [[nodiscard]] Block transformed(const Block& block, bool inverse) const;
  [[nodiscard]] double quantized(double number, int frequency) const;
  void code_block(const Samples<std::uint8_t>& samples, const Samples<std::uint8_t>& last, int x,
                  int y) const;

  Coding coding_;
  double step_;
  Image last_;
  Block cosine_{};
};

}  // namespace equalux::test

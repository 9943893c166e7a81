#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <equalux/image.h>

/// Seeded images and comparisons that every test shares.
namespace equalux::test {

enum class Content { constant, ramp, noise, single_bin, black, white, nearly_flat, natural };

/// All contents, and a name for test messages.
[[nodiscard]] const std::vector<Content>& all_contents();
[[nodiscard]] std::string name_of(Content content);
/// A description with full range.
[[nodiscard]] ImageDesc full_range(PixelFormat format, int width, int height);
/// Format, size, matrix and range of a frame, and what it shows, for messages.
[[nodiscard]] std::string describe(const ImageDesc& desc, Content content);

/// An image whose rows may be padded and may run bottom up; bytes around the samples are poisoned,
/// so that a write outside shows.
class PaddedImage {
 public:
  /// `padding` extra bytes a row; `negative` stores the rows bottom up; `offset` shifts the first
  /// sample from a 64-byte boundary.
  explicit PaddedImage(const ImageDesc& desc, int padding = 0, bool negative = false,
                       int offset = 0);
  [[nodiscard]] ImageView view() const { return view_; }
  /// True where no byte outside the samples changed since construction.
  [[nodiscard]] bool padding_intact() const;

 private:
  std::vector<std::uint8_t> memory_;
  std::vector<std::uint8_t> is_sample_;
  ImageView view_;
};

/// Every format whose samples are bytes.
[[nodiscard]] std::vector<PixelFormat> byte_formats();

/// GRAY8 and the RGB forms of 8 bits: what the staged chain takes.
[[nodiscard]] std::vector<PixelFormat> rgb_formats();

/// Fills all planes of pictures of 8 and of more bits.
void fill(const ImageView& view, Content content, std::uint32_t seed = 1);

/// Number of sample bytes that differ; padding is not compared. Descs must be equal.
[[nodiscard]] std::size_t count_differences(const ConstImageView& a, const ConstImageView& b);
/// Largest absolute difference of two sample bytes.
[[nodiscard]] int max_difference(const ConstImageView& a, const ConstImageView& b);

/// Planes one after another without padding.
[[nodiscard]] std::vector<std::uint8_t> tight_copy(const ConstImageView& view);

}  // namespace equalux::test

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <equalux/export.h>

/// Descriptions of frames, and views of their memory.
namespace equalux {

/// Formats of samples that the filters know. A sample has 8 bits unless the name says otherwise.
enum class PixelFormat : std::uint8_t {
  gray8,
  // Packed RGB, named in the order of bytes in memory. x is padding, a is alpha; both are copied.
  rgb,
  bgr,
  rgbx,
  bgrx,
  xrgb,
  xbgr,
  rgba,
  bgra,
  argb,
  abgr,
  // YCbCr.
  nv12,  ///< 4:2:0, luma plane and one plane of Cb Cr pairs
  i420,  ///< 4:2:0, three planes
  yuy2,  ///< 4:2:2 packed: Y0 Cb Y1 Cr
  uyvy,  ///< 4:2:2 packed: Cb Y0 Cr Y1
  y42b,  ///< 4:2:2, three planes
  y444,  ///< 4:4:4, three planes
  // More than 8 bits: a sample is a 16-bit little-endian word with its value in the low bits, in
  // P010 and P012 in the high ones. Unused bits are ignored on input and 0 in results.
  gray16_le,
  rgb48_le,  ///< packed, as rgb
  bgr48_le,
  rgba64_le,
  bgra64_le,
  argb64_le,
  abgr64_le,
  p010_10le,  ///< laid out as nv12
  p012_le,
  p016_le,
  i420_10le,
  i420_12le,
  i422_10le,  ///< laid out as y42b
  i422_12le,
  y444_10le,
  y444_12le,
  y444_16le,
  // Planes of floats, for filters whose result is no picture.
  grayf32,    ///< one plane of 32-bit floats
  grayf32x2,  ///< two planes of 32-bit floats
};

inline constexpr int kPixelFormatCount = 36;
inline constexpr int kMaxPlanes = 3;

/// Colour model of a format, which decides the arithmetic.
enum class ColorModel : std::uint8_t { gray, rgb, yuv, real };

/// Traits of a format; kFormatTraits has a row for each PixelFormat.
struct FormatTraits {
  std::string_view name;  ///< as in GStreamer, in lower case; rgb48_le, bgr48_le: our own
  ColorModel model;
  int planes;          ///< 1 to kMaxPlanes
  int chroma_shift_x;  ///< log2 of the luma columns that one chroma sample covers
  int chroma_shift_y;  ///< log2 of the luma rows that one chroma sample covers
  /// Bytes from one sample of a plane to the next; packed 4:2:2: 4, from one pair of pixels to the
  /// next.
  std::array<int, 3> step;
  /// Byte offset of the first sample of each component (R, G, B or Y, Cb, Cr) in a row of its
  /// plane.
  std::array<int, 3> offset;
  int alpha_offset;  ///< packed RGB: byte offset of the copied fourth sample, or -1
  int depth = 8;     ///< bits of a sample's value
  int shift = 0;     ///< unused bits below the value
};

// clang-format off
inline constexpr std::array<FormatTraits, kPixelFormatCount> kFormatTraits{{
    {"gray8", ColorModel::gray, 1, 0, 0, {1, 0, 0}, {0, 0, 0}, -1},
    {"rgb",   ColorModel::rgb,  1, 0, 0, {3, 0, 0}, {0, 1, 2}, -1},
    {"bgr",   ColorModel::rgb,  1, 0, 0, {3, 0, 0}, {2, 1, 0}, -1},
    {"rgbx",  ColorModel::rgb,  1, 0, 0, {4, 0, 0}, {0, 1, 2},  3},
    {"bgrx",  ColorModel::rgb,  1, 0, 0, {4, 0, 0}, {2, 1, 0},  3},
    {"xrgb",  ColorModel::rgb,  1, 0, 0, {4, 0, 0}, {1, 2, 3},  0},
    {"xbgr",  ColorModel::rgb,  1, 0, 0, {4, 0, 0}, {3, 2, 1},  0},
    {"rgba",  ColorModel::rgb,  1, 0, 0, {4, 0, 0}, {0, 1, 2},  3},
    {"bgra",  ColorModel::rgb,  1, 0, 0, {4, 0, 0}, {2, 1, 0},  3},
    {"argb",  ColorModel::rgb,  1, 0, 0, {4, 0, 0}, {1, 2, 3},  0},
    {"abgr",  ColorModel::rgb,  1, 0, 0, {4, 0, 0}, {3, 2, 1},  0},
    {"nv12",  ColorModel::yuv,  2, 1, 1, {1, 2, 0}, {0, 0, 1}, -1},
    {"i420",  ColorModel::yuv,  3, 1, 1, {1, 1, 1}, {0, 0, 0}, -1},
    {"yuy2",  ColorModel::yuv,  1, 1, 0, {4, 0, 0}, {0, 1, 3}, -1},
    {"uyvy",  ColorModel::yuv,  1, 1, 0, {4, 0, 0}, {1, 0, 2}, -1},
    {"y42b",  ColorModel::yuv,  3, 1, 0, {1, 1, 1}, {0, 0, 0}, -1},
    {"y444",  ColorModel::yuv,  3, 0, 0, {1, 1, 1}, {0, 0, 0}, -1},
    {"gray16_le", ColorModel::gray, 1, 0, 0, {2, 0, 0}, {0, 0, 0}, -1, 16},
    {"rgb48_le",  ColorModel::rgb,  1, 0, 0, {6, 0, 0}, {0, 2, 4}, -1, 16},
    {"bgr48_le",  ColorModel::rgb,  1, 0, 0, {6, 0, 0}, {4, 2, 0}, -1, 16},
    {"rgba64_le", ColorModel::rgb,  1, 0, 0, {8, 0, 0}, {0, 2, 4},  6, 16},
    {"bgra64_le", ColorModel::rgb,  1, 0, 0, {8, 0, 0}, {4, 2, 0},  6, 16},
    {"argb64_le", ColorModel::rgb,  1, 0, 0, {8, 0, 0}, {2, 4, 6},  0, 16},
    {"abgr64_le", ColorModel::rgb,  1, 0, 0, {8, 0, 0}, {6, 4, 2},  0, 16},
    {"p010_10le", ColorModel::yuv,  2, 1, 1, {2, 4, 0}, {0, 0, 2}, -1, 10, 6},
    {"p012_le",   ColorModel::yuv,  2, 1, 1, {2, 4, 0}, {0, 0, 2}, -1, 12, 4},
    {"p016_le",   ColorModel::yuv,  2, 1, 1, {2, 4, 0}, {0, 0, 2}, -1, 16},
    {"i420_10le", ColorModel::yuv,  3, 1, 1, {2, 2, 2}, {0, 0, 0}, -1, 10},
    {"i420_12le", ColorModel::yuv,  3, 1, 1, {2, 2, 2}, {0, 0, 0}, -1, 12},
    {"i422_10le", ColorModel::yuv,  3, 1, 0, {2, 2, 2}, {0, 0, 0}, -1, 10},
    {"i422_12le", ColorModel::yuv,  3, 1, 0, {2, 2, 2}, {0, 0, 0}, -1, 12},
    {"y444_10le", ColorModel::yuv,  3, 0, 0, {2, 2, 2}, {0, 0, 0}, -1, 10},
    {"y444_12le", ColorModel::yuv,  3, 0, 0, {2, 2, 2}, {0, 0, 0}, -1, 12},
    {"y444_16le", ColorModel::yuv,  3, 0, 0, {2, 2, 2}, {0, 0, 0}, -1, 16},
    {"grayf32",   ColorModel::real, 1, 0, 0, {4, 0, 0}, {0, 0, 0}, -1, 32},
    {"grayf32x2", ColorModel::real, 2, 0, 0, {4, 4, 0}, {0, 0, 0}, -1, 32},
}};
// clang-format on

[[nodiscard]] constexpr const FormatTraits& traits(PixelFormat format) {
  return kFormatTraits[static_cast<std::size_t>(format)];
}
[[nodiscard]] constexpr std::string_view to_string(PixelFormat format) {
  return traits(format).name;
}
/// Returns true for pictures of 8-bit samples.
[[nodiscard]] constexpr bool has_byte_samples(PixelFormat format) {
  return traits(format).depth == 8;
}
/// Returns true for pictures of more than 8 bits a sample, in 16-bit words; false for float planes.
[[nodiscard]] constexpr bool has_deep_samples(PixelFormat format) {
  return traits(format).depth > 8 && traits(format).model != ColorModel::real;
}
/// Returns the bytes of one sample in memory.
[[nodiscard]] constexpr int sample_bytes(PixelFormat format) {
  return traits(format).model == ColorModel::real ? 4 : (traits(format).depth > 8 ? 2 : 1);
}
/// Returns the format of a name, in either case, or nothing.
[[nodiscard]] EQUALUX_EXPORT std::optional<PixelFormat> pixel_format_from(std::string_view name);

/// Luma weights of YCbCr: ITU-R BT.601, BT.709, BT.2020 (non-constant luminance).
enum class ColorMatrix : std::uint8_t { bt601, bt709, bt2020 };
/// Code range of YCbCr. Limited: luma 16 to 235, chroma 16 to 240, times 2^(depth - 8). Full: all
/// codes.
enum class ColorRange : std::uint8_t { limited, full };
/// Order of fields. Rows of interlaced frames alternate between two fields.
enum class FieldOrder : std::uint8_t { progressive, top_first, bottom_first };

/// Returns the name of an enumerator: "bt601", "limited".
[[nodiscard]] EQUALUX_EXPORT std::string_view to_string(ColorMatrix matrix);
[[nodiscard]] EQUALUX_EXPORT std::string_view to_string(ColorRange range);

/// Longest side of a frame, in pixels.
inline constexpr int kMaxSide = 65535;
/// Most pixels of a frame, 2^31: up to there a gain with 48 fractional bits is exact.
inline constexpr std::int64_t kMaxPixels = std::int64_t{1} << 31;

/// Size, format and colour of a frame, without its memory.
struct ImageDesc {
  PixelFormat format = PixelFormat::bgr;
  int width = 0;                            ///< pixels, 1 to kMaxSide
  int height = 0;                           ///< pixels, 1 to kMaxSide
  ColorMatrix matrix = ColorMatrix::bt709;  ///< read for YCbCr formats only
  ColorRange range = ColorRange::limited;   ///< read for YCbCr formats only

  friend bool operator==(const ImageDesc&, const ImageDesc&) = default;
};

/// Returns the bytes of samples in one row of a plane, without padding. Odd widths round chroma up.
/// `plane` is 0 to traits(desc.format).planes - 1, which is not checked.
[[nodiscard]] EQUALUX_EXPORT std::size_t row_bytes(const ImageDesc& desc, int plane);
/// Returns the rows of a plane, which is numbered as for row_bytes(). Odd heights round chroma up.
[[nodiscard]] EQUALUX_EXPORT int plane_rows(const ImageDesc& desc, int plane);
/// Returns the bytes of all planes with rows that are not padded.
[[nodiscard]] EQUALUX_EXPORT std::size_t tight_bytes(const ImageDesc& desc);
/// Throws Error(usage) that names every violated rule of sides and number of pixels.
EQUALUX_EXPORT void validate(const ImageDesc& desc);

/// Read-only view of a frame's memory; owns nothing.
///
/// data[p] is the first byte of the top row of plane p; stride[p] is the distance in bytes from the
/// start of a row to the start of the row below. It may be larger than a row, and negative where
/// rows are stored bottom up. Data may have any alignment.
struct ConstImageView {
  ImageDesc desc;
  std::array<const std::uint8_t*, kMaxPlanes> data{};
  std::array<std::ptrdiff_t, kMaxPlanes> stride{};

  [[nodiscard]] const std::uint8_t* row(int plane, int y) const {
    const auto p = static_cast<std::size_t>(plane);
    return data[p] + stride[p] * y;
  }
};

/// Writable view of a frame's memory; owns nothing. Strides as in ConstImageView.
struct ImageView {
  ImageDesc desc;
  std::array<std::uint8_t*, kMaxPlanes> data{};
  std::array<std::ptrdiff_t, kMaxPlanes> stride{};

  [[nodiscard]] std::uint8_t* row(int plane, int y) const {
    const auto p = static_cast<std::size_t>(plane);
    return data[p] + stride[p] * y;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a writable view is readable.
  operator ConstImageView() const { return {desc, {data[0], data[1], data[2]}, stride}; }
};

/// Memory layout of an Image: planes one after another, every row at a multiple of 64 bytes.
struct ImageLayout {
  std::array<std::size_t, kMaxPlanes> offset{};  ///< byte offset of each plane
  std::array<std::ptrdiff_t, kMaxPlanes> stride{};
  std::size_t bytes = 0;  ///< bytes of all planes

  /// Returns a view of a frame with this layout whose memory begins at `first`.
  [[nodiscard]] EQUALUX_EXPORT ImageView view(const ImageDesc& desc, std::uint8_t* first) const;
};
/// Returns the layout of an Image of `desc`, which must be valid.
[[nodiscard]] EQUALUX_EXPORT ImageLayout image_layout(const ImageDesc& desc);

/// Allocator of images in place of the heap, e.g. of memory pinned for a GPU.
struct ImageMemory {
  /// Returns at least `bytes` bytes, aligned to 64, or null where memory is short.
  void* (*allocate)(std::size_t bytes);
  void (*release)(void* memory);
};

/// Frame that owns host memory, laid out as image_layout() says and not initialised. Movable, not
/// copyable. Not thread-safe; distinct images are independent.
class EQUALUX_EXPORT Image {
 public:
  Image() = default;
  /// Allocates. Throws Error(usage) for an invalid desc, std::bad_alloc where memory is short.
  explicit Image(const ImageDesc& desc);
  /// Allocates from `memory`, which also frees it. Throws as the constructor above.
  Image(const ImageDesc& desc, const ImageMemory& memory);
  /// Leaves `other` as one made without a desc.
  Image(Image&& other) noexcept
      : memory_(std::move(other.memory_)), view_(std::exchange(other.view_, {})) {}
  Image& operator=(Image&& other) noexcept {
    memory_ = std::move(other.memory_);
    view_ = std::exchange(other.view_, {});
    return *this;
  }

  [[nodiscard]] const ImageDesc& desc() const { return view_.desc; }
  [[nodiscard]] ImageView view() { return view_; }
  [[nodiscard]] ConstImageView view() const { return view_; }
  [[nodiscard]] bool empty() const { return memory_ == nullptr; }

 private:
  struct Free {
    void (*release)(void*);
    Free() noexcept : release(nullptr) {}
    explicit Free(void (*how)(void*)) noexcept : release(how) {}
    void operator()(std::uint8_t* memory) const noexcept { release(memory); }
  };
  std::unique_ptr<std::uint8_t, Free> memory_;
  ImageView view_;
};

/// Copies the samples, not the padding, of a frame to another. Throws Error(usage) where format or
/// size differ.
EQUALUX_EXPORT void copy_image(const ConstImageView& from, const ImageView& to);

}  // namespace equalux

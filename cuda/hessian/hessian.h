#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>
#include <equalux/hessian.h>

#include "cuda/runtime/handles.h"
#include "cuda/runtime/launch_device.h"
#include "src/format/layout.h"
#include "src/hessian/hessian_weights.h"

/// Filters by eigenvalues of the Hessian, in tiles in shared memory: one kernel computes levels,
/// derivatives along y, derivatives along x, and results from the eigenvalues, without planes of
/// intermediate results in device memory.
namespace equalux::cuda {

/// Pixels of a frame in device memory, and how their levels are computed.
struct LevelSource : Samples<const std::uint8_t> {
  /// Defines a level: (bias + sum of weights times bytes) >> shift, with one weight for each byte;
  /// or, where `largest`, the largest of the bytes whose weight is not 0.
  std::uint32_t weights = 1;
  std::uint32_t bias = 0;
  std::uint32_t shift = 0;
  bool largest = false;
  bool real = false;   ///< samples are floats
  bool words = false;  ///< four pixels from any multiple of four on are whole words

  /// Describes plane 0 of a frame of a format that hessian_reads().
  static LevelSource of(const ConstImageView& in, HessianChannel channel);
};

/// Weights of one scale, in a form that fits launch parameters, which are in constant memory.
struct ScaleWeights {
  int radius = 1;
  float smooth[kMaxGaussianRadius + 3];
  float slope[kMaxGaussianRadius + 3];
  float curve[kMaxGaussianRadius + 3];

  static ScaleWeights of(const HessianWeights& weights);
};

/// Division of a frame into tiles. A tile's columns in shared memory reach from `left` before its
/// first pixel to `left` behind its last one.
struct TileShape {
  int width = 128;        ///< pixels, a multiple of 4
  int rows = 32;          ///< a multiple of `band`
  int band = 16;          ///< rows with derivatives in shared memory, a multiple of kTileStep
  int reach = 1;          ///< samples that are read on each side of a pixel
  int left = 4;           ///< `reach`, rounded up to a multiple of 4
  bool levels = true;     ///< levels are in shared memory; else read through the caches
  int result_planes = 0;  ///< floats that a pixel keeps from scale to scale

  EQUALUX_HD int columns() const { return width + 2 * left; }
  [[nodiscard]] std::size_t shared_bytes() const;
  /// Returns the grid for a frame: one block per tile.
  [[nodiscard]] dim3 grid(int frame_width, int frame_height) const;
};
inline constexpr int kTileStep = 8;

/// Chooses the largest tile that `most` bytes of shared memory hold, and a smaller one where the
/// frame would otherwise leave multiprocessors idle.
[[nodiscard]] TileShape tile_shape(int reach, int result_planes, std::size_t most, int width,
                                   int height, const LaunchDevice& device);

/// Kernel of one scale for frames of one size, as EigenvalueTiles in eigenvalue_tiles.cuh chose it.
struct ScaleTiles {
  ScaleWeights weights;
  LaunchDevice device;
  TileShape shape;
  bool usual = false;  ///< the kernel of the usual sigma is used
};

/// Computes the eigenvalues of frames.
class HessianKernel {
 public:
  /// `most_shared`: most bytes of shared memory for a block, if the device has more.
  HessianKernel(const HessianWeights& weights, int width, int height,
                std::size_t most_shared = SIZE_MAX);

  /// Two planes of floats, lambda1 and lambda2, of any strides.
  struct Output {
    std::uint8_t* first;
    std::uint8_t* second;
    std::ptrdiff_t first_stride;
    std::ptrdiff_t second_stride;
  };
  void enqueue(const LevelSource& in, const Output& out, cudaStream_t stream) const;

 private:
  ScaleTiles tiles_;
};

/// A plane of bytes in device memory, rows without gaps.
struct DeviceClasses {
  std::uint8_t* first = nullptr;
  int width = 0;
  int height = 0;
};

/// Computes shape_class() of every pixel.
class ShapesKernel {
 public:
  ShapesKernel(const ShapesParams& params, int width, int height);
  void enqueue(const LevelSource& in, const DeviceClasses& out, cudaStream_t stream) const;

 private:
  ScaleTiles tiles_;
  float threshold_;
  float line_ratio_;
  float blob_ratio_;
};

/// Rule by which a pixel's eigenvalues at several scales become one result.
struct VesselRule {
  float sign = 1;  ///< 1 for dark lines, -1 for bright ones
  bool frangi = false;
  bool heat = false;  ///< heat_level() is written, else vessel_class()
  float low = 0;
  float high = 0;
  float full = 0;  ///< factor of heat_level()
};

/// Computes vessel_class() or heat_level() of every pixel.
class VesselKernel {
 public:
  VesselKernel(const VesselParams& params, int width, int height);
  void enqueue(const LevelSource& in, const DeviceClasses& out, cudaStream_t stream) const;

 private:
  /// Weights of the scales, the largest first, then of the smoothing of a pixel's own level.
  DevicePointer<ScaleWeights> weights_;
  std::vector<ScaleWeights> usual_;  ///< the same, if they have the radii of the usual kernel
  int scales_;
  VesselRule rule_;
  LaunchDevice device_;
  TileShape shape_;
};

}  // namespace equalux::cuda

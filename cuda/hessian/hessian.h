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

/// The Hessian family over tiles in shared memory: levels, derivatives along y, derivatives along x
/// and what is made of the eigenvalues, in one kernel and with no plane in between.
namespace equalux::cuda {

/// The pixels of a frame in device memory, and what their levels are.
struct LevelSource : Samples<const std::uint8_t> {
  /// A level is (bias + sum of weights · bytes) >> shift, a weight in each byte; or the largest of
  /// the bytes whose weight is not 0.
  std::uint32_t weights = 1;
  std::uint32_t bias = 0;
  std::uint32_t shift = 0;
  bool largest = false;
  bool real = false;   ///< samples are floats instead
  bool words = false;  ///< four pixels from any that is a multiple of four are whole words

  /// Plane 0 of a frame of a format that hessian_reads().
  static LevelSource of(const ConstImageView& in, HessianChannel channel);
};

/// Weights of one scale where kernels find them: launch parameters.
struct ScaleWeights {
  int radius = 1;
  float smooth[kMaxGaussianRadius + 3];
  float slope[kMaxGaussianRadius + 3];
  float curve[kMaxGaussianRadius + 3];

  static ScaleWeights of(const HessianWeights& weights);
};

/// How a frame is cut. Columns of a tile are `left` before its first pixel to `left` behind its
/// last.
struct TileShape {
  int width = 128;        ///< pixels, a multiple of 4
  int rows = 32;          ///< a multiple of `band`
  int band = 16;          ///< rows whose derivatives are held at a time, a multiple of kTileStep
  int reach = 1;          ///< samples around a pixel that are read
  int left = 4;           ///< reach, rounded up to a multiple of 4
  bool levels = true;     ///< the tile's levels lie in shared memory; else each is read where used
  int result_planes = 0;  ///< floats that a pixel keeps while scales pass

  EQUALUX_HD int columns() const { return width + 2 * left; }
  [[nodiscard]] std::size_t shared_bytes() const;
  /// A block a tile.
  [[nodiscard]] dim3 grid(int frame_width, int frame_height) const;
};
inline constexpr int kTileStep = 8;

/// The largest tile that `most` bytes of shared memory hold, smaller where the frame would else
/// leave multiprocessors idle.
[[nodiscard]] TileShape tile_shape(int reach, int result_planes, std::size_t most, int width,
                                   int height, const LaunchDevice& device);

/// Eigenvalues of a frame, by the production kernel.
class HessianKernel {
 public:
  /// `most_shared`: bytes of shared memory that a block may have at most, if the device has more.
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
  ScaleWeights weights_;
  LaunchDevice device_;
  TileShape shape_;
  bool usual_;  ///< by the kernel of the usual sigma
};

/// A plane of bytes in device memory, rows one behind another.
struct DeviceClasses {
  std::uint8_t* first = nullptr;
  int width = 0;
  int height = 0;
};

/// shape_class() of every pixel.
class ShapesKernel {
 public:
  ShapesKernel(const ShapesParams& params, int width, int height);
  void enqueue(const LevelSource& in, const DeviceClasses& out, cudaStream_t stream) const;

 private:
  ScaleWeights weights_;
  float threshold_;
  float line_ratio_;
  float blob_ratio_;
  LaunchDevice device_;
  TileShape shape_;
  bool usual_;  ///< by the kernel of the usual sigma
};

/// What a pixel's eigenvalues at several scales come to.
struct VesselRule {
  float sign = 1;  ///< 1 for dark lines, -1 for bright ones
  bool frangi = false;
  bool heat = false;  ///< heat_level() is written, else vessel_class()
  float low = 0;
  float high = 0;
  float full = 0;  ///< of heat_level()
};

/// vessel_class() or heat_level() of every pixel.
class VesselKernel {
 public:
  VesselKernel(const VesselParams& params, int width, int height);
  void enqueue(const LevelSource& in, const DeviceClasses& out, cudaStream_t stream) const;

 private:
  /// Scales, the largest first, then the smoothing of a pixel's own level.
  DevicePointer<ScaleWeights> weights_;
  std::vector<ScaleWeights> usual_;  ///< the same, where they have the radii of the usual kernel
  int scales_;
  VesselRule rule_;
  LaunchDevice device_;
  TileShape shape_;
};

}  // namespace equalux::cuda

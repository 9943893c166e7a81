#include <cstdint>

#include "cuda/hessian/hessian_levels.cuh"
#include "cuda/lab/published_hessian.h"
#include "cuda/runtime/check.h"
#include "src/hessian/hessian_math.h"

namespace equalux::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kBlockThreads = 256;
// A warp takes 32 neighbours of a row, so that its loads and stores are coalesced. Values get the
// same number of threads as pixels, two layers of half as many rows.
constexpr dim3 kPixelBlock{kWarp, kBlockThreads / kWarp};
constexpr dim3 kValueBlock{kWarp, kBlockThreads / kWarp / 2, 2};

struct Size {
  int width;
  int height;

  __device__ bool has(int x, int y) const { return x < width && y < height; }
  __device__ std::ptrdiff_t at(int x, int y) const { return std::ptrdiff_t{y} * width + x; }
};

__device__ __forceinline__ int pixel_x() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__device__ __forceinline__ int pixel_y() {
  return static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
}

__device__ __forceinline__ void put_first(const HessianKernel::Output& out, int x, int y,
                                          float value) {
  reinterpret_cast<float*>(out.first + y * out.first_stride)[x] = value;
}

__device__ __forceinline__ void put_second(const HessianKernel::Output& out, int x, int y,
                                           float value) {
  reinterpret_cast<float*>(out.second + y * out.second_stride)[x] = value;
}

__device__ __forceinline__ void put(const HessianKernel::Output& out, int x, int y,
                                    const Eigenvalues& e) {
  put_first(out, x, y, e.first);
  put_second(out, x, y, e.second);
}

/// Smooths and differentiates along y, a thread a pixel. It loads 2 radius + 1 samples and computes
/// three sums of them in registers; one loop for all three, so that each sample is read once. Each
/// sum has the operations of even_sum() or odd_sum() in their order, so that results have the same
/// bits.
__global__ void smooth_columns_kernel(const __grid_constant__ LevelSource in,
                                      const __grid_constant__ ScaleWeights w,
                                      const __grid_constant__ ColumnPlanes out) {
  const Size size{in.columns, in.rows};
  const int x = pixel_x();
  const int y = pixel_y();
  if (!size.has(x, y)) return;
  const float level = level_at(in, x, y);
  float smooth = w.smooth[0] * level;
  float slope = 0;
  float curve = w.curve[0] * level;
  for (int k = 1; k <= w.radius; ++k) {
    const float above = level_at(in, x, y - k);
    const float below = level_at(in, x, y + k);
    smooth = fused_add(w.smooth[k], above + below, smooth);
    slope = k == 1 ? w.slope[1] * (below - above) : fused_add(w.slope[k], below - above, slope);
    curve = fused_add(w.curve[k], above + below, curve);
  }
  const std::ptrdiff_t at = size.at(x, y);
  out.smooth[at] = smooth;
  out.slope[at] = slope;
  out.curve[at] = curve;
}

struct PutPlanes {
  DerivativePlanes out;
  __device__ void operator()(std::ptrdiff_t at, float xx, float xy, float yy) const {
    out.xx[at] = xx;
    out.xy[at] = xy;
    out.yy[at] = yy;
  }
};

struct PutMatrices {
  float4* out;
  __device__ void operator()(std::ptrdiff_t at, float xx, float xy, float yy) const {
    out[at] = {xx, xy, xy, yy};
  }
};

/// Smooths and differentiates along x, a thread a pixel: 3 (2 radius + 1) loads of the planes along
/// y, mostly from the caches. Columns outside the frame repeat the edge's sum, which is exact,
/// since samples outside repeat the edge's sample.
template <typename Put>
__global__ void differentiate_rows_kernel(const __grid_constant__ ColumnPlanes in, Size size,
                                          const __grid_constant__ ScaleWeights w, Put put_at) {
  const int x = pixel_x();
  const int y = pixel_y();
  if (!size.has(x, y)) return;
  const auto samples = [=](const float* plane) {
    const float* row = plane + size.at(0, y);
    return [=](int k) { return row[min(max(x + k, 0), size.width - 1)]; };
  };
  put_at(size.at(x, y), even_sum(w.curve, w.radius, samples(in.smooth)),
         odd_sum(w.slope, w.radius, samples(in.slope)),
         even_sum(w.smooth, w.radius, samples(in.curve)));
}

/// Computes one eigenvalue per thread (Figure 3 a): threadIdx.z selects which. Both threads of a
/// pixel are in one block; each loads the derivatives and computes the square root itself.
__global__ void per_value_kernel(const __grid_constant__ DerivativePlanes in, Size size,
                                 const __grid_constant__ HessianKernel::Output out) {
  const int x = pixel_x();
  const int y = pixel_y();
  if (!size.has(x, y)) return;
  const std::ptrdiff_t at = size.at(x, y);
  const Eigenvalues e = hessian_eigenvalues(in.xx[at], in.xy[at], in.yy[at]);
  if (threadIdx.z == 0) {
    put_first(out, x, y, e.first);
  } else {
    put_second(out, x, y, e.second);
  }
}

/// Computes both eigenvalues of a pixel in one thread (Figure 3 b, Algorithm 2), which share the
/// square root.
__global__ void per_pixel_kernel(const __grid_constant__ DerivativePlanes in, Size size,
                                 const __grid_constant__ HessianKernel::Output out) {
  const int x = pixel_x();
  const int y = pixel_y();
  if (!size.has(x, y)) return;
  const std::ptrdiff_t at = size.at(x, y);
  put(out, x, y, hessian_eigenvalues(in.xx[at], in.xy[at], in.yy[at]));
}

/// Calls body(x, y, index) for the pixels `first`, first + step, ... of the block's sub-image, at
/// most `cut.pixels` of them, without those outside the frame. `index` numbers the sub-image's
/// pixels.
template <typename Body>
__device__ __forceinline__ void for_pixels(const SubImages& cut, Size size, int first, int step,
                                           const Body& body) {
  const int left = static_cast<int>(blockIdx.x) * cut.side;
  const int top = static_cast<int>(blockIdx.y) * cut.side;
  const int rows_on = step / cut.side;
  const int columns_on = step % cut.side;
  int row = first / cut.side;
  int column = first % cut.side;
  for (int i = 0; i < cut.pixels && row < cut.side; ++i) {
    if (size.has(left + column, top + row)) {
      body(left + column, top + row, row * cut.side + column);
    }
    row += rows_on;
    column += columns_on;
    if (column >= cut.side) {
      column -= cut.side;
      ++row;
    }
  }
}

/// Computes both eigenvalues from a copy of the derivatives in shared memory, one block of 256
/// threads per sub-image, whose three planes follow one another (Figure 6 a). Neighbouring threads
/// take neighbouring pixels, whose words lie in neighbouring banks: no bank conflicts.
__global__ void __launch_bounds__(kBlockThreads)
    shared_kernel(const __grid_constant__ DerivativePlanes in, Size size, SubImages cut,
                  const __grid_constant__ HessianKernel::Output out) {
  extern __shared__ float planes[];
  float* xx = planes;
  float* xy = xx + cut.side * cut.side;
  float* yy = xy + cut.side * cut.side;
  const auto thread = static_cast<int>(threadIdx.x);
  for_pixels(cut, size, thread, kBlockThreads, [&](int x, int y, int index) {
    const std::ptrdiff_t at = size.at(x, y);
    xx[index] = in.xx[at];
    xy[index] = in.xy[at];
    yy[index] = in.yy[at];
  });
  __syncthreads();
  for_pixels(cut, size, thread, kBlockThreads, [&](int x, int y, int index) {
    put(out, x, y, hessian_eigenvalues(xx[index], xy[index], yy[index]));
  });
}

/// Computes both eigenvalues with one warp per sub-image (Algorithm 3): a thread takes `cut.pixels`
/// consecutive pixels, and a pixel's three floats are neighbours in shared memory (Figure 6 b).
///
/// That layout has the worst bank conflict: in each step neighbouring threads read 3 · 128 words
/// apart (a thread has 128 pixels of 64 x 64), and 384 is a multiple of the 32 banks, so that the
/// 32 reads of a warp hit one bank and are serialised. The copy before it has none: its threads are
/// 3 words apart, and 3 and 32 have no common factor, so that they hit 32 different banks.
__global__ void __launch_bounds__(kWarp)
    one_warp_kernel(const __grid_constant__ DerivativePlanes in, Size size, SubImages cut,
                    const __grid_constant__ HessianKernel::Output out) {
  extern __shared__ float triples[];
  const auto thread = static_cast<int>(threadIdx.x);
  for_pixels(cut, size, thread, kWarp, [&](int x, int y, int index) {
    const std::ptrdiff_t at = size.at(x, y);
    triples[3 * index] = in.xx[at];
    triples[3 * index + 1] = in.xy[at];
    triples[3 * index + 2] = in.yy[at];
  });
  __syncthreads();
  for_pixels(cut, size, thread * cut.pixels, 1, [&](int x, int y, int index) {
    const float* of = triples + 3 * index;
    put(out, x, y, hessian_eigenvalues(of[0], of[1], of[2]));
  });
}

/// Orders eigenvalues by magnitude, and equal magnitudes by value, as hessian_eigenvalues() does.
/// One thread per pixel.
__global__ void order_kernel(const float2* pairs, Size size,
                             const __grid_constant__ HessianKernel::Output out) {
  const int x = pixel_x();
  const int y = pixel_y();
  if (!size.has(x, y)) return;
  const float2 pair = pairs[size.at(x, y)];
  const float least = fminf(pair.x, pair.y);
  const float most = fmaxf(pair.x, pair.y);
  put(out, x, y,
      magnitude(least) <= magnitude(most) ? Eigenvalues{least, most} : Eigenvalues{most, least});
}

unsigned blocks_for(int count, unsigned each) {
  return (static_cast<unsigned>(count) + each - 1) / each;
}

dim3 grid_of(int width, int height, const dim3& block) {
  return dim3(blocks_for(width, block.x), blocks_for(height, block.y));
}

/// The grid of the report's equation 10, rounded up along each side.
dim3 grid_of(int width, int height, const SubImages& cut) {
  const auto side = static_cast<unsigned>(cut.side);
  return dim3(blocks_for(width, side), blocks_for(height, side));
}

}  // namespace

void smooth_columns(const LevelSource& in, const ScaleWeights& weights, const ColumnPlanes& out,
                    cudaStream_t stream) {
  const dim3 grid = grid_of(in.columns, in.rows, kPixelBlock);
  smooth_columns_kernel<<<grid, kPixelBlock, 0, stream>>>(in, weights, out);
  check(cudaGetLastError(), "launching smooth_columns");
}

void differentiate_rows(const ColumnPlanes& in, int width, int height, const ScaleWeights& weights,
                        const DerivativePlanes& out, cudaStream_t stream) {
  const dim3 grid = grid_of(width, height, kPixelBlock);
  differentiate_rows_kernel<<<grid, kPixelBlock, 0, stream>>>(in, Size{width, height}, weights,
                                                              PutPlanes{out});
  check(cudaGetLastError(), "launching differentiate_rows");
}

void differentiate_rows(const ColumnPlanes& in, int width, int height, const ScaleWeights& weights,
                        float* matrices, cudaStream_t stream) {
  const dim3 grid = grid_of(width, height, kPixelBlock);
  differentiate_rows_kernel<<<grid, kPixelBlock, 0, stream>>>(
      in, Size{width, height}, weights, PutMatrices{reinterpret_cast<float4*>(matrices)});
  check(cudaGetLastError(), "launching differentiate_rows");
}

void per_value_eigenvalues(const DerivativePlanes& in, int width, int height,
                           const HessianKernel::Output& out, cudaStream_t stream) {
  const dim3 grid = grid_of(width, height, kValueBlock);
  per_value_kernel<<<grid, kValueBlock, 0, stream>>>(in, Size{width, height}, out);
  check(cudaGetLastError(), "launching per_value_eigenvalues");
}

void per_pixel_eigenvalues(const DerivativePlanes& in, int width, int height,
                           const HessianKernel::Output& out, cudaStream_t stream) {
  const dim3 grid = grid_of(width, height, kPixelBlock);
  per_pixel_kernel<<<grid, kPixelBlock, 0, stream>>>(in, Size{width, height}, out);
  check(cudaGetLastError(), "launching per_pixel_eigenvalues");
}

void shared_eigenvalues(const DerivativePlanes& in, int width, int height, int shared_bytes,
                        const HessianKernel::Output& out, cudaStream_t stream) {
  const SubImages cut = SubImages::of(shared_bytes, kBlockThreads);
  const dim3 grid = grid_of(width, height, cut);
  shared_kernel<<<grid, kBlockThreads, cut.shared_bytes(), stream>>>(in, Size{width, height}, cut,
                                                                     out);
  check(cudaGetLastError(), "launching shared_eigenvalues");
}

void one_warp_eigenvalues(const DerivativePlanes& in, int width, int height, int shared_bytes,
                          const HessianKernel::Output& out, cudaStream_t stream) {
  const SubImages cut = SubImages::of(shared_bytes, kWarp);
  const dim3 grid = grid_of(width, height, cut);
  one_warp_kernel<<<grid, kWarp, cut.shared_bytes(), stream>>>(in, Size{width, height}, cut, out);
  check(cudaGetLastError(), "launching one_warp_eigenvalues");
}

void order_eigenvalues(const float* pairs, int width, int height, const HessianKernel::Output& out,
                       cudaStream_t stream) {
  const dim3 grid = grid_of(width, height, kPixelBlock);
  order_kernel<<<grid, kPixelBlock, 0, stream>>>(reinterpret_cast<const float2*>(pairs),
                                                 Size{width, height}, out);
  check(cudaGetLastError(), "launching order_eigenvalues");
}

}  // namespace equalux::cuda

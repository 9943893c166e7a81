#include <algorithm>

#include "cuda/device/dependent_launch.cuh"
#include "cuda/device/plane_pair.h"
#include "cuda/hessian/class_planes.h"
#include "src/format/layout.h"

namespace equalux::cuda {
namespace {

constexpr int kPaintBlock = 256;
constexpr const char* kWhat = "launching paint";

__device__ __forceinline__ int pixel_x() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

/// Calls body(y) for the rows of a block's column. A grid has at most 65,535 rows of blocks, and
/// frames may have more rows.
template <typename Body>
__device__ __forceinline__ void for_rows(int rows, const Body& body) {
  for (int y = static_cast<int>(blockIdx.y); y < rows; y += static_cast<int>(gridDim.y))
    body(y);
}

__device__ __forceinline__ std::uint8_t class_at(const DeviceClasses& classes, int x, int y) {
  return classes.first[static_cast<std::ptrdiff_t>(y) * classes.width + x];
}

/// Tints packed pixels, one thread each; neighbouring threads take neighbouring pixels of a row.
__global__ void tint_packed_kernel(const __grid_constant__ PlanePair plane, RgbLayout at,
                                   DeviceClasses classes,
                                   const __grid_constant__ ClassColours colours) {
  const int x = pixel_x();
  wait_for_results();
  if (x >= classes.width) return;
  for_rows(classes.height, [&](int y) {
    const std::uint8_t* from = plane.from(y) + static_cast<std::ptrdiff_t>(x) * at.step;
    std::uint8_t* to = plane.to(y) + static_cast<std::ptrdiff_t>(x) * at.step;
    const std::uint8_t r = from[at.r];
    const std::uint8_t g = from[at.g];
    const std::uint8_t b = from[at.b];
    const std::uint8_t k = class_at(classes, x, y);
    to[at.r] = k == 0 ? r : tinted(r, colours[k].r);
    to[at.g] = k == 0 ? g : tinted(g, colours[k].g);
    to[at.b] = k == 0 ? b : tinted(b, colours[k].b);
    if (at.alpha >= 0) to[at.alpha] = from[at.alpha];
  });
}

/// Tints samples of one byte, gray or luma, one thread each.
__global__ void tint_samples_kernel(const __grid_constant__ PlanePair plane, bool gray,
                                    DeviceClasses classes,
                                    const __grid_constant__ ClassColours colours) {
  const int x = pixel_x();
  wait_for_results();
  if (x >= classes.width) return;
  for_rows(classes.height, [&](int y) {
    const std::uint8_t sample = plane.from(y)[x];
    const std::uint8_t k = class_at(classes, x, y);
    plane.to(y)[x] = k == 0 ? sample : tinted(sample, gray ? colours[k].gray : colours[k].y);
  });
}

/// Tints the chroma of cells, one thread each. `step` is the distance of neighbouring chroma
/// samples in bytes. A cell gets the mean colour of its pixels of all classes.
__global__ void tint_chroma_kernel(const __grid_constant__ PlanePair cb,
                                   const __grid_constant__ PlanePair cr, CellCount cells, int step,
                                   Sampling sampling, int columns, bool interlaced,
                                   DeviceClasses classes,
                                   const __grid_constant__ ClassColours colours) {
  const int i = pixel_x();
  wait_for_results();
  if (i >= cells.columns) return;
  for_rows(cells.rows, [&](int y) {
    const LumaRows rows = luma_rows_of(sampling, y, classes.height, interlaced);
    const int begin = i * columns;
    const int end = min(begin + columns, classes.width);
    int count = 0;
    int cb_sum = 0;
    int cr_sum = 0;
    int pixels = 0;
    const auto add_row = [&](int row) {
      for (int x = begin; x < end; ++x) {
        const std::uint8_t k = class_at(classes, x, row);
        ++pixels;
        if (k == 0) continue;
        ++count;
        cb_sum += colours[k].cb;
        cr_sum += colours[k].cr;
      }
    };
    add_row(rows.first);
    if (rows.second != rows.first) add_row(rows.second);
    const int at = i * step;
    const std::uint8_t b = cb.from(y)[at];
    const std::uint8_t r = cr.from(y)[at];
    cb.to(y)[at] = count == 0 ? b : tinted_chroma(b, cb_sum, count, pixels);
    cr.to(y)[at] = count == 0 ? r : tinted_chroma(r, cr_sum, count, pixels);
  });
}

/// Draws the heat map, one thread per pixel: three times the level overflows from red into green
/// into blue.
__global__ void heat_kernel(DeviceClasses levels, std::uint8_t* out, std::ptrdiff_t stride) {
  const int x = pixel_x();
  wait_for_results();
  if (x >= levels.width) return;
  for_rows(levels.height, [&](int y) {
    const int heat = 3 * class_at(levels, x, y);
    std::uint8_t* pixel = out + y * stride + 3 * x;
    pixel[0] = static_cast<std::uint8_t>(min(max(heat - 510, 0), 255));
    pixel[1] = static_cast<std::uint8_t>(min(max(heat - 255, 0), 255));
    pixel[2] = static_cast<std::uint8_t>(min(heat, 255));
  });
}

/// Loads of a thread in flight, to overlap their latency. The kernel copies rows of bytes, or of
/// words of four pixels where both planes and their rows consist of whole words.
constexpr int kRowsAtOnce = 4;
template <typename Sample>
__global__ void write_kernel(DeviceClasses classes, int factor, std::uint8_t* out,
                             std::ptrdiff_t stride) {
  const int x = pixel_x();
  const int columns = classes.width / static_cast<int>(sizeof(Sample));
  const int rows = classes.height;
  wait_for_results();
  if (x >= columns) return;
  const auto* const from = reinterpret_cast<const Sample*>(classes.first) + x;
  const int step = static_cast<int>(gridDim.y);
  for (int first = static_cast<int>(blockIdx.y); first < rows; first += kRowsAtOnce * step) {
    Sample samples[kRowsAtOnce];
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
      const int y = min(first + i * step, rows - 1);
      samples[i] = from[static_cast<std::ptrdiff_t>(y) * columns];
    }
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
      const int y = first + i * step;
      // Multiplies four bytes at once: products fit a byte, so that none carries into the next.
      if (y < rows) {
        reinterpret_cast<Sample*>(out + y * stride)[x] =
            static_cast<Sample>(samples[i] * static_cast<unsigned>(factor));
      }
    }
  }
}

dim3 grid_for(int width, int rows) {
  return {static_cast<unsigned>((width + kPaintBlock - 1) / kPaintBlock),
          static_cast<unsigned>(std::min(rows, 65535))};
}

}  // namespace

void paint_classes(const ConstImageView& in, const ImageView& out, const DeviceClasses& classes,
                   const ClassColours& colours, bool interlaced, const LaunchDevice& device,
                   cudaStream_t stream) {
  const FormatTraits& t = traits(in.desc.format);
  const dim3 grid = grid_for(in.desc.width, in.desc.height);
  const PlanePair first = PlanePair::of_plane(in, out, 0);
  if (t.model == ColorModel::rgb) {
    launch_early(device, kWhat, &tint_packed_kernel, grid, kPaintBlock, stream, first,
                 rgb_layout(in.desc.format), classes, colours);
  } else {
    launch_early(device, kWhat, &tint_samples_kernel, grid, kPaintBlock, stream, first,
                 t.model == ColorModel::gray, classes, colours);
  }
  if (t.model != ColorModel::yuv) return;
  const CellCount cells = cells_of(in.desc);
  const Sampling sampling = sampling_of(in.desc.format);
  launch_early(device, kWhat, &tint_chroma_kernel, grid_for(cells.columns, cells.rows), kPaintBlock,
               stream, PlanePair::of_component(in, out, 1), PlanePair::of_component(in, out, 2),
               cells, t.step[1], sampling, cell_columns(sampling), interlaced, classes, colours);
}

void paint_heat(const DeviceClasses& levels, const ImageView& out, const LaunchDevice& device,
                cudaStream_t stream) {
  launch_early(device, kWhat, &heat_kernel, grid_for(levels.width, levels.height), kPaintBlock,
               stream, levels, out.data[0], out.stride[0]);
}

void write_classes(const DeviceClasses& classes, int factor, const ImageView& out,
                   const LaunchDevice& device, cudaStream_t stream) {
  const bool words = (classes.width | out.stride[0] |
                      static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(out.data[0]))) %
                         4 ==
                     0;
  const dim3 grid = grid_for(words ? classes.width / 4 : classes.width,
                             (classes.height + kRowsAtOnce - 1) / kRowsAtOnce);
  launch_early(device, kWhat, words ? &write_kernel<std::uint32_t> : &write_kernel<std::uint8_t>,
               grid, kPaintBlock, stream, classes, factor, out.data[0], out.stride[0]);
}

LaunchDevice paint_device() {
  return LaunchDevice::of(reinterpret_cast<const void*>(&write_kernel<std::uint32_t>));
}

}  // namespace equalux::cuda

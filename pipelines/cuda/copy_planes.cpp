#include "pipelines/cuda/copy_planes.h"

#include <cstdlib>

#include "cuda/runtime/check.h"

namespace equalux {
namespace {

/// Copies the rows of a plane; strides may be negative, which CUDA's copies do not take.
void copy_plane(const std::uint8_t* from, std::ptrdiff_t from_stride, std::uint8_t* to,
                std::ptrdiff_t to_stride, std::size_t bytes, int rows, cudaMemcpyKind kind,
                cudaStream_t stream) {
  const bool plain = from_stride > 0 && to_stride > 0;
  if (plain || rows == 1) {
    const auto pitch = [&](std::ptrdiff_t stride) {
      return rows == 1 ? bytes : static_cast<std::size_t>(stride);
    };
    cuda::check(cudaMemcpy2DAsync(to, pitch(to_stride), from, pitch(from_stride), bytes,
                                  static_cast<std::size_t>(rows), kind, stream),
                "copying a frame");
    return;
  }
  for (int y = 0; y < rows; ++y) {
    cuda::check(cudaMemcpyAsync(to + to_stride * y, from + from_stride * y, bytes, kind, stream),
                "copying a frame");
  }
}

}  // namespace

void copy_planes(const ConstImageView& from, const ImageView& to, cudaMemcpyKind kind,
                 cudaStream_t stream) {
  for (int p = 0; p < traits(from.desc.format).planes; ++p) {
    const auto i = static_cast<std::size_t>(p);
    copy_plane(from.data[i], from.stride[i], to.data[i], to.stride[i], row_bytes(from.desc, p),
               plane_rows(from.desc, p), kind, stream);
  }
}

void clear_planes(const ImageView& to, cudaStream_t stream) {
  for (int p = 0; p < traits(to.desc.format).planes; ++p) {
    const auto i = static_cast<std::size_t>(p);
    const std::size_t bytes = row_bytes(to.desc, p);
    const int rows = plane_rows(to.desc, p);
    // With a negative stride, the last row comes first in memory.
    std::uint8_t* first = to.stride[i] < 0 ? to.row(p, rows - 1) : to.data[i];
    const auto pitch = static_cast<std::size_t>(std::abs(to.stride[i]));
    cuda::check(cudaMemset2DAsync(first, rows == 1 ? bytes : pitch, 0, bytes,
                                  static_cast<std::size_t>(rows), stream),
                "clearing a frame");
  }
}

}  // namespace equalux

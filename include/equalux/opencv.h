#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <equalux/error.h>
#include <equalux/image.h>
#include <opencv2/core.hpp>
#include <opencv2/core/cuda.hpp>

/// Views of OpenCV matrices as frames and of frames as matrices, without copies. Header-only, for
/// programs that use both libraries. Views own nothing and are valid as long as the memory they
/// refer to. CPU filters take views of cv::Mat, GPU filters those of cv::cuda::GpuMat.
namespace equalux {

namespace opencv_detail {

/// Returns the format for a type of matrix, with colours in OpenCV's order.
inline std::optional<PixelFormat> format_of_type(int type) {
  switch (type) {
    case CV_8UC1:
      return PixelFormat::gray8;
    case CV_8UC3:
      return PixelFormat::bgr;
    case CV_8UC4:
      return PixelFormat::bgra;
    case CV_16UC1:
      return PixelFormat::gray16_le;
    case CV_16UC3:
      return PixelFormat::bgr48_le;
    case CV_16UC4:
      return PixelFormat::bgra64_le;
    case CV_32FC1:
      return PixelFormat::grayf32;
    default:
      return std::nullopt;
  }
}

/// Returns the type of a matrix that holds a plane: samples side by side are its channels.
inline int type_of_plane(PixelFormat format, int plane) {
  const FormatTraits& of = traits(format);
  const int item = sample_bytes(format);
  const bool packed_422 = of.model == ColorModel::yuv && of.planes == 1;
  const int channels = packed_422 ? 2 : of.step[static_cast<std::size_t>(plane)] / item;
  return CV_MAKETYPE(item == 4 ? CV_32F : item == 2 ? CV_16U : CV_8U, channels);
}

[[noreturn]] inline void refuse(const std::string& what) {
  throw Error(ExitCode::usage, what);
}

inline std::string type_text(int type) {
  return cv::typeToString(type);
}

/// Body of view_of(), for cv::Mat and cv::cuda::GpuMat.
template <typename Matrix>
ImageView view_of_matrix(const Matrix& matrix, std::optional<PixelFormat> wanted) {
  if (!wanted) wanted = format_of_type(matrix.type());
  if (!wanted) {
    refuse("a matrix is of " + type_text(matrix.type()) +
           ", must be of 8 or 16 bits and 1, 3 or 4 channels, or have its format named");
  }
  const FormatTraits& of = traits(*wanted);
  if (matrix.type() != type_of_plane(*wanted, 0)) {
    refuse("a matrix is of " + type_text(matrix.type()) + ", must be of " +
           type_text(type_of_plane(*wanted, 0)) + " for " + std::string(of.name));
  }
  if (of.model == ColorModel::yuv && of.planes == 1 && matrix.cols % 2 != 0) {
    // Packed 4:2:2 stores pixels in pairs; the last one would reach beyond the matrix.
    refuse("a matrix of " + std::string(of.name) + " is " + std::to_string(matrix.cols) + "x" +
           std::to_string(matrix.rows) + ", must be of an even width");
  }
  ImageView view{{*wanted, matrix.cols, matrix.rows}, {matrix.data}, {}};
  view.stride[0] = static_cast<std::ptrdiff_t>(matrix.step);
  if (of.planes == 1) return view;

  // OpenCV keeps 4:2:0 in one matrix, 3/2 times as high as the frame: luma, with chroma below.
  if (of.chroma_shift_y != 1 || matrix.rows % 3 != 0 || matrix.cols % 2 != 0) {
    refuse("a matrix of " + std::string(of.name) + " is " + std::to_string(matrix.cols) + "x" +
           std::to_string(matrix.rows) +
           ", must be of 3/2 times an even height, of an even width, and 4:2:0");
  }
  view.desc.height = matrix.rows / 3 * 2;
  view.data[1] = matrix.data + view.stride[0] * view.desc.height;
  view.stride[1] = view.stride[0];
  if (of.planes == 2) return view;
  // Planar chroma has half rows, two of which share a row of the matrix: that needs a constant
  // stride.
  if (!matrix.isContinuous()) {
    refuse("a matrix of " + std::string(of.name) + " has gaps behind its rows, must have none");
  }
  view.stride[1] = view.stride[2] = view.stride[0] / 2;
  view.data[2] = view.data[1] + view.stride[1] * (view.desc.height / 2);
  return view;
}

template <typename Matrix>
Matrix matrix_of_plane(const ImageView& view, int plane) {
  const FormatTraits& of = traits(view.desc.format);
  if (plane < 0 || plane >= of.planes) {
    refuse("plane is " + std::to_string(plane) + ", must be 0 to " + std::to_string(of.planes - 1));
  }
  const auto p = static_cast<std::size_t>(plane);
  const int rows = plane_rows(view.desc, plane);
  const std::size_t bytes = row_bytes(view.desc, plane);
  if (view.stride[p] < static_cast<std::ptrdiff_t>(bytes) && rows > 1) {
    refuse("a frame is stored bottom up, must be top down for OpenCV");
  }
  const int type = type_of_plane(view.desc.format, plane);
  const auto element = static_cast<std::size_t>(CV_ELEM_SIZE(type));
  const std::size_t step = rows > 1 ? static_cast<std::size_t>(view.stride[p]) : bytes;
  return Matrix(rows, static_cast<int>(bytes / element), type, view.data[p], step);
}

}  // namespace opencv_detail

/// Returns a view of a matrix as a frame. The format follows from the type, with colours in the
/// order B, G, R: gray8, bgr, bgra, gray16_le, bgr48_le, bgra64_le or grayf32. Name any other
/// `format`: rgb and the like; yuy2 and uyvy, of two channels; 4:2:0, in one channel and 3/2 times
/// as high as the frame, as cv::cvtColor() makes and takes it. Throws Error(usage) where the matrix
/// does not fit.
[[nodiscard]] inline ImageView view_of(cv::Mat& matrix,
                                       std::optional<PixelFormat> format = std::nullopt) {
  return opencv_detail::view_of_matrix(matrix, format);
}
[[nodiscard]] inline ConstImageView view_of(const cv::Mat& matrix,
                                            std::optional<PixelFormat> format = std::nullopt) {
  return opencv_detail::view_of_matrix(matrix, format);
}
/// Returns a view of a matrix in device memory, for filters of make_cuda_filter().
[[nodiscard]] inline ImageView view_of(cv::cuda::GpuMat& matrix,
                                       std::optional<PixelFormat> format = std::nullopt) {
  return opencv_detail::view_of_matrix(matrix, format);
}
[[nodiscard]] inline ConstImageView view_of(const cv::cuda::GpuMat& matrix,
                                            std::optional<PixelFormat> format = std::nullopt) {
  return opencv_detail::view_of_matrix(matrix, format);
}

/// Returns a plane of a frame as a matrix that refers to its memory. Throws Error(usage) for a
/// plane that the format lacks, and where rows are stored bottom up.
[[nodiscard]] inline cv::Mat mat_of(const ImageView& view, int plane = 0) {
  return opencv_detail::matrix_of_plane<cv::Mat>(view, plane);
}
/// Returns a plane of a frame in device memory as a matrix that refers to its memory.
[[nodiscard]] inline cv::cuda::GpuMat gpu_mat_of(const ImageView& view, int plane = 0) {
  return opencv_detail::matrix_of_plane<cv::cuda::GpuMat>(view, plane);
}

}  // namespace equalux

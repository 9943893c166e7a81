#include <functional>
#include <string>

#include <equalux/filter.h>
#include <equalux/opencv.h>
#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>

namespace equalux {
namespace {

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

cv::Mat noise(int rows, int cols, int type) {
  cv::Mat matrix(rows, cols, type);
  cv::randu(matrix, 20, 120);
  return matrix;
}

/// What a filter makes of a view, in memory of its own.
Image filtered(const ConstImageView& in, const char* spec = "equalize") {
  const auto filter = make_cpu_filter(parse_filter_spec(spec));
  Image out(filter->configure(in.desc));
  FrameContext context;
  filter->submit(in, out.view(), context);
  return out;
}

TEST(OpencvViews, TypesNameFormatsInOpencvsOrder) {
  const struct {
    int type;
    PixelFormat format;
  } rows[] = {{CV_8UC1, PixelFormat::gray8},     {CV_8UC3, PixelFormat::bgr},
              {CV_8UC4, PixelFormat::bgra},      {CV_16UC1, PixelFormat::gray16_le},
              {CV_16UC3, PixelFormat::bgr48_le}, {CV_16UC4, PixelFormat::bgra64_le},
              {CV_32FC1, PixelFormat::grayf32}};
  for (const auto& row : rows) {
    cv::Mat matrix(5, 7, row.type);
    const ImageView view = view_of(matrix);
    EXPECT_EQ(view.desc, (ImageDesc{row.format, 7, 5}));
    EXPECT_EQ(view.data[0], matrix.data);
    EXPECT_EQ(static_cast<std::size_t>(view.stride[0]), matrix.step[0]);
    const cv::Mat back = mat_of(view);
    EXPECT_EQ(back.data, matrix.data);
    EXPECT_EQ(back.type(), row.type);
    EXPECT_EQ(back.size(), matrix.size());
    EXPECT_EQ(back.step[0], matrix.step[0]);
  }
}

TEST(OpencvViews, AFilterWritesIntoAPartOfAMatrix) {
  cv::Mat whole = noise(40, 60, CV_8UC3);
  const cv::Mat before = whole.clone();
  cv::Mat part = whole(cv::Rect(10, 5, 31, 21));
  const cv::Mat copy = part.clone();
  const auto filter = make_cpu_filter(EqualizeParams{});
  filter->configure(view_of(part).desc);
  FrameContext context;
  filter->submit(view_of(part), view_of(part), context);

  Image expected = filtered(view_of(copy));
  EXPECT_EQ(cv::norm(part, mat_of(expected.view()), cv::NORM_INF), 0);
  EXPECT_GT(cv::norm(part, copy, cv::NORM_INF), 0);
  // What lies around it is as it was.
  whole(cv::Rect(10, 5, 31, 21)).setTo(0);
  cv::Mat around = before.clone();
  around(cv::Rect(10, 5, 31, 21)).setTo(0);
  EXPECT_EQ(cv::norm(whole, around, cv::NORM_INF), 0);
}

TEST(OpencvViews, YuvOfCvtColorIsAFrameOfPlanes) {
  const cv::Mat bgr = noise(32, 48, CV_8UC3);
  cv::Mat i420;
  cv::cvtColor(bgr, i420, cv::COLOR_BGR2YUV_I420);
  const ImageView view = view_of(i420, PixelFormat::i420);
  EXPECT_EQ(view.desc, (ImageDesc{PixelFormat::i420, 48, 32}));
  // The same planes, copied into a frame of the library's own.
  Image frame(view.desc);
  i420.rowRange(0, 32).copyTo(mat_of(frame.view(), 0));
  cv::Mat(16, 24, CV_8UC1, i420.ptr(32)).copyTo(mat_of(frame.view(), 1));
  cv::Mat(16, 24, CV_8UC1, i420.ptr(32) + 16 * 24).copyTo(mat_of(frame.view(), 2));
  Image a = filtered(view);
  Image b = filtered(frame.view());
  for (int p = 0; p < 3; ++p)
    EXPECT_EQ(cv::norm(mat_of(a.view(), p), mat_of(b.view(), p), cv::NORM_INF), 0) << p;

  cv::Mat nv12(48, 50, CV_8UC1);
  cv::Mat part = nv12.colRange(0, 48);  // Rows with gaps serve for NV12.
  EXPECT_EQ(view_of(part, PixelFormat::nv12).data[1], part.ptr(32));
  EXPECT_EQ(mat_of(view_of(part, PixelFormat::nv12), 1).type(), CV_8UC2);
  cv::Mat yuy2(8, 6, CV_8UC2);
  EXPECT_EQ(view_of(yuy2, PixelFormat::yuy2).desc.width, 6);
  EXPECT_EQ(mat_of(view_of(yuy2, PixelFormat::yuy2)).size(), yuy2.size());
  EXPECT_EQ(error_of([&] { static_cast<void>(view_of(part, PixelFormat::i420)); }),
            "a matrix of i420 has gaps behind its rows, must have none");
}

TEST(OpencvViews, WhatIsNoFrameIsRefused) {
  cv::Mat flow(4, 4, CV_32FC2);
  EXPECT_EQ(error_of([&] { static_cast<void>(view_of(flow)); }),
            "a matrix is of CV_32FC2, must be of 8 or 16 bits and 1, 3 or 4 channels, or have its "
            "format named");
  cv::Mat gray(4, 4, CV_8UC1);
  EXPECT_EQ(error_of([&] { static_cast<void>(view_of(gray, PixelFormat::rgb)); }),
            "a matrix is of CV_8UC1, must be of CV_8UC3 for rgb");
  EXPECT_EQ(error_of([&] { static_cast<void>(view_of(gray, PixelFormat::nv12)); }),
            "a matrix of nv12 is 4x4, must be of 3/2 times an even height, of an even width, and "
            "4:2:0");
  cv::Mat pairs(4, 7, CV_8UC2);
  EXPECT_EQ(error_of([&] { static_cast<void>(view_of(pairs, PixelFormat::yuy2)); }),
            "a matrix of yuy2 is 7x4, must be of an even width");
  ImageView view = view_of(gray);
  EXPECT_EQ(error_of([&] { static_cast<void>(mat_of(view, 1)); }), "plane is 1, must be 0 to 0");
  view.data[0] += 3 * view.stride[0];
  view.stride[0] = -view.stride[0];
  EXPECT_EQ(error_of([&] { static_cast<void>(mat_of(view)); }),
            "a frame is stored bottom up, must be top down for OpenCV");
}

TEST(OpencvViews, AGpuMatKeepsItsAddressAndStep) {
  // Nothing is read through it: any address will do.
  std::uint8_t memory[16 * 64];
  cv::cuda::GpuMat matrix(16, 10, CV_8UC4, memory, 64);
  const ImageView view = view_of(matrix, PixelFormat::rgba);
  EXPECT_EQ(view.desc, (ImageDesc{PixelFormat::rgba, 10, 16}));
  EXPECT_EQ(view.data[0], memory);
  EXPECT_EQ(view.stride[0], 64);
  const cv::cuda::GpuMat back = gpu_mat_of(view);
  EXPECT_EQ(back.data, memory);
  EXPECT_EQ(back.step, 64U);
  EXPECT_EQ(back.type(), CV_8UC4);
}

}  // namespace
}  // namespace equalux

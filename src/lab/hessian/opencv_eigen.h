#pragma once

#include <vector>

#include <equalux/hessian.h>

#include "src/lab/gpu_lab.h"

/// Eigenvalues by OpenCV's functions, to be measured beside ours. In a build with OpenCV alone.
namespace equalux::cli::lab {

/// "whole", and its steps "smoothing" (GaussianBlur with as many taps as ours), "derivatives"
/// (Sobel three times) and "eigenvalues" (the closed form in one loop, on one thread whatever
/// `threads` is). `image` is gray8; sigma and truncate are taken.
[[nodiscard]] std::vector<gpu_lab::StageSamples> time_opencv_steps(const ConstImageView& image,
                                                                   const HessianParams& params,
                                                                   int threads,
                                                                   const Budget& budget);

/// cornerEigenValsAndVecs over 3 x 3 samples, "whole". It is of products of first derivatives, and
/// gives eigenvectors too: another matrix, about as much work.
[[nodiscard]] std::vector<gpu_lab::StageSamples> time_opencv_corner(const ConstImageView& image,
                                                                    int threads,
                                                                    const Budget& budget);

}  // namespace equalux::cli::lab

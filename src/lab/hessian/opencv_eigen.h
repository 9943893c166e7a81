#pragma once

#include <vector>

#include <equalux/hessian.h>

#include "src/lab/gpu_lab.h"

/// Eigenvalues with OpenCV's functions, as a baseline; only in builds with OpenCV.
namespace equalux::cli::lab {

/// Times "whole" and its steps "smoothing" (GaussianBlur with as many taps as ours), "derivatives"
/// (Sobel three times) and "eigenvalues" (the closed form in one loop, always on one thread).
/// `image` is gray8; of `params`, sigma and truncate are used.
[[nodiscard]] std::vector<gpu_lab::StageSamples> time_opencv_steps(const ConstImageView& image,
                                                                   const HessianParams& params,
                                                                   int threads,
                                                                   const Budget& budget);

/// Times cornerEigenValsAndVecs over 3x3 samples, "whole": eigenvectors too, of a matrix of
/// products of first derivatives; other results, but about as much work.
[[nodiscard]] std::vector<gpu_lab::StageSamples> time_opencv_corner(const ConstImageView& image,
                                                                    int threads,
                                                                    const Budget& budget);

}  // namespace equalux::cli::lab

#pragma once

#include <string>

#include <equalux/convolve.h>
#include <equalux/hessian.h>

/// Readers of the filters that the lab measures, spelled as on the command line. All throw
/// Error(usage).
namespace equalux::cli::lab {

/// Reads the convolution of `--kernel`, spelled as a filter of --filter: "sharpen",
/// "gaussian:sigma=2". Mode and block are refused: the lab varies them.
[[nodiscard]] ConvolveParams read_kernel(const std::string& text);

/// Reads keys of the filter `eigenvalues`, "sigma=4,derivative=gradient". The channel defaults to
/// green, in which blood vessels of the eye are darkest.
[[nodiscard]] HessianParams read_hessian(const std::string& text);
/// Reads keys of the filter `vessel`, with the same default; the output is always the mask.
[[nodiscard]] VesselParams read_vessel(const std::string& text);

}  // namespace equalux::cli::lab

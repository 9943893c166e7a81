#pragma once

#include <string>

#include <equalux/convolve.h>
#include <equalux/hessian.h>

/// Filters that the lab measures, as the command line spells them. All throw Error(usage).
namespace equalux::cli::lab {

/// The convolution that `--kernel` asks for, spelled as a filter of --filter: "sharpen",
/// "gaussian:sigma=2". Mode and block are what the lab varies.
[[nodiscard]] ConvolveParams read_kernel(const std::string& text);

/// Keys of the filter `eigenvalues`, "sigma=4,derivative=gradient". The channel is green unless
/// set: vessels of eyes are darkest there.
[[nodiscard]] HessianParams read_hessian(const std::string& text);
/// Keys of the filter `vessel`; the same, and the output is the mask.
[[nodiscard]] VesselParams read_vessel(const std::string& text);

}  // namespace equalux::cli::lab

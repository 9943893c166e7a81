#pragma once

#include <string>

#include <equalux/convolve.h>

namespace equalux::cli::lab {

/// The convolution that `--kernel` asks for, spelled as a filter of --filter: "sharpen",
/// "gaussian:sigma=2". Mode and block are what the lab varies. Throws Error(usage).
[[nodiscard]] ConvolveParams read_kernel(const std::string& text);

}  // namespace equalux::cli::lab

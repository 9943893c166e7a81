#pragma once

#include <string>

namespace equalux::test {

/// Runs `image` with 256 bins on each of the report's published pictures, both chains, and expects
/// every byte of what the report published for it. The pictures are in the folder that
/// EQUALUX_GOLDEN names, as .png, or as .ppm for builds without OpenCV; skips where none is named.
void expect_published_pictures(const std::string& backend);

}  // namespace equalux::test

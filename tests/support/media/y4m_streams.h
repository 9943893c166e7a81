#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipelines/core/run.h"
#include "tests/support/media/test_images.h"

/// YUV4MPEG2 streams made without the code under test, and a run that only copies.
namespace equalux::test {

inline bool take_all(PixelFormat /*format*/) {
  return true;
}

/// A stream as another program would write it: `frames` frames of noise.
inline std::string make_stream(const std::string& header, const ImageDesc& desc, int frames) {
  std::string bytes = "YUV4MPEG2 " + header + "\n";
  for (int n = 0; n < frames; ++n) {
    const PaddedImage image(desc);
    fill(image.view(), Content::noise, static_cast<std::uint32_t>(n + 1));
    const std::vector<std::uint8_t> tight = tight_copy(image.view());
    bytes += "FRAME\n";
    bytes.append(tight.begin(), tight.end());
  }
  return bytes;
}

inline ImageDesc desc_of(PixelFormat format, int width, int height) {
  ImageDesc desc;
  desc.format = format;
  desc.width = width;
  desc.height = height;
  return desc;
}

/// Copies source to sink; the chain is empty.
inline RunResult copy(Source& source, Sink& sink) {
  const auto processor = make_cpu_processor({}, 1);
  const StopToken stop;
  return run(source, *processor, sink, RunOptions{}, stop);
}

}  // namespace equalux::test

#include "cxx_frames.h"

#include <cstdio>
#include <exception>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <equalux/filter.h>

namespace {

equalux::ImageView tight(const equalux::ImageDesc& desc, std::uint8_t* bytes) {
  equalux::ImageView view{desc, {}, {}};
  for (int p = 0; p < equalux::traits(desc.format).planes; ++p) {
    const auto i = static_cast<std::size_t>(p);
    view.data[i] = bytes;
    view.stride[i] = static_cast<std::ptrdiff_t>(equalux::row_bytes(desc, p));
    bytes += equalux::row_bytes(desc, p) * static_cast<std::size_t>(equalux::plane_rows(desc, p));
  }
  return view;
}

}  // namespace

std::size_t cxx_frames(const char* specs, const char* format, int width, int height,
                       const std::uint8_t* frames, int count, std::uint8_t* results) {
  try {
    std::vector<std::unique_ptr<equalux::Filter>> filters;
    std::istringstream words(specs);
    for (std::string spec; words >> spec;)
      filters.push_back(equalux::make_cpu_filter(equalux::parse_filter_spec(spec)));
    const equalux::ImageDesc in{equalux::pixel_format_from(format).value(), width, height};
    const std::vector<equalux::ImageDesc> behind = equalux::configure_chain(filters, in);
    std::vector<equalux::Image> between;
    for (const equalux::ImageDesc& desc : behind)
      between.emplace_back(desc);
    for (int n = 0; n < count; ++n) {
      equalux::FrameContext context;
      context.index = static_cast<std::uint64_t>(n);
      context.pts_ns = static_cast<std::int64_t>(n * 1e9 / 30);
      const auto at = static_cast<std::size_t>(n);
      std::vector<std::uint8_t> copy(frames + at * equalux::tight_bytes(in),
                                     frames + (at + 1) * equalux::tight_bytes(in));
      equalux::ConstImageView from = tight(in, copy.data());
      for (std::size_t i = 0; i < filters.size(); ++i) {
        filters[i]->submit(from, between[i].view(), context);
        from = between[i].view();
      }
      equalux::copy_image(from,
                          tight(behind.back(), results + at * equalux::tight_bytes(behind.back())));
    }
    return equalux::tight_bytes(behind.back());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "C++: %s\n", error.what());
    return 0;
  }
}

// The library in ten lines: one frame in, the same frame with its shadows readable out.
//
//   c++ -std=c++20 first_filter.cpp $(pkg-config --cflags --libs equalux) -o first_filter
#include <cstring>
#include <iostream>

#include <equalux/filter.h>

int main() {
  equalux::Image frame({.format = equalux::PixelFormat::bgr, .width = 640, .height = 360});
  equalux::ImageView view = frame.view();
  for (int y = 0; y < 360; ++y)
    std::memset(view.row(0, y), 40 + y / 12, row_bytes(view.desc, 0));

  auto filter = equalux::make_cpu_filter(equalux::EqualizeParams{});
  filter->configure(view.desc);
  equalux::FrameContext context;
  filter->submit(view, view, context);  // in place

  std::cout << "top " << int{*view.row(0, 0)} << ", bottom " << int{*view.row(0, 359)} << '\n';
}

// Compares eigenvalues of the Hessian by OpenCV's functions with ours, on the same frame, in the
// same process, in turns, with one thread each.
//
// OpenCV's steps are those of `equalux lab hessian` (src/lab/hessian/opencv_closed_form.h). They
// give the eigenvalues unordered, ours are ordered.
#include <cstdio>
#include <string>
#include <vector>

#include <equalux/hessian.h>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>

#include "bench/support/bench_frames.h"
#include "bench/support/json_file.h"
#include "bench/support/turns.h"
#include "src/lab/hessian/opencv_closed_form.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace equalux::bench {
namespace {

constexpr int kRounds = 25;

nlohmann::json compare(int width, int height, double sigma) {
  const ImageDesc desc{PixelFormat::gray8, width, height};
  std::vector<Image> frames = natural_frames(desc, 1);
  const ImageView view = frames.front().view();
  const cv::Mat gray(height, width, CV_8UC1, view.data[0],
                     static_cast<std::size_t>(view.stride[0]));
  HessianParams params;
  params.sigma = sigma;
  cli::lab::OpencvClosedForm opencv(sigma, params.truncate);
  const auto filter = make_cpu_filter(params, {1});
  Image out(filter->configure(desc));
  FrameContext context;
  const std::vector<TurnTimes> times =
      take_turns(1, kRounds,
                 {[&](std::size_t) {
                    opencv.smooth(gray);
                    opencv.derive();
                    opencv.solve();
                  },
                  [&](std::size_t) { filter->submit(view, out.view(), context); }});
  const TurnTimes theirs = times[0];
  const TurnTimes ours = times[1];
  std::printf("%4dx%-5d %5g %12.2f %12.2f %12.2f %12.2f %7.2f %7.2f\n", width, height, sigma,
              theirs.median, theirs.least, ours.median, ours.least, theirs.median / ours.median,
              theirs.least / ours.least);
  return {{"filter", "eigenvalues"},
          {"sigma", sigma},
          {"format", "gray8"},
          {"width", width},
          {"height", height},
          {"threads", 1},
          {"opencv_ms", theirs.median},
          {"equalux_ms", ours.median},
          {"opencv_least_ms", theirs.least},
          {"equalux_least_ms", ours.least},
          {"ratio", theirs.median / ours.median}};
}

}  // namespace
}  // namespace equalux::bench

int main(int argc, char** argv) {
  const std::string json_path = argc > 1 ? argv[1] : "";
  if (argc > 2 || json_path.starts_with('-')) {
    std::puts("usage: compare_opencv_hessian [OUT.json]");
    return json_path == "--help" ? 0 : 2;
  }
#if defined(__GLIBC__)
  // Shows OpenCV at its best: freed memory stays with the process and is reused without page
  // faults.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, -1);
#endif
  cv::setNumThreads(1);
  std::printf("SIMD target %s, OpenCV %s, one thread, milliseconds\n",
              equalux::cpu_simd_target().c_str(), CV_VERSION);
  std::printf("%10s %5s %12s %12s %12s %12s %7s %7s\n", "size", "sigma", "OpenCV med", "best",
              "equalux med", "best", "ratio", "best");
  nlohmann::json rows = nlohmann::json::array();
  for (const double sigma : {2.0, 4.0}) {
    rows.push_back(equalux::bench::compare(700, 605, sigma));
    rows.push_back(equalux::bench::compare(2240, 1488, sigma));
    rows.push_back(equalux::bench::compare(3540, 2336, sigma));
  }
  return equalux::bench::write_json(
      json_path,
      nlohmann::json{
          {"simd", equalux::cpu_simd_target()}, {"opencv", CV_VERSION}, {"results", rows}},
      "compare_opencv_hessian");
}

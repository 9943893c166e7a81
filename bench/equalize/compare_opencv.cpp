// Compares OpenCV's chain with ours on the same frames, in the same process, one after the other.
//
// OpenCV: cvtColor to HSV, extract V, equalizeHist, insert, cvtColor back; for I420 with
// conversions from and to I420 around it. Ours: the product's filter with its defaults. A third row
// is the copy limit: reading a frame twice and writing it once. Then the same with OpenCV's CLAHE
// in place of equalizeHist, and our filter of that name; on gray of 8 and 16 bits OpenCV's CLAHE
// alone, our filter with OpenCV's bytes, and with its own; and OpenCV's filters and our
// convolution, with border replicate in both.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <equalux/clahe.h>
#include <equalux/convolve.h>
#include <equalux/filter.h>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "bench/support/bench_frames.h"
#include "bench/support/json_file.h"
#include "bench/support/turns.h"
#include "src/cpu/common/parallel.h"

namespace equalux::bench {
namespace {

cv::Mat as_mat(const ImageView& view) {
  return {view.desc.height, view.desc.width, CV_8UC3, view.data[0],
          static_cast<std::size_t>(view.stride[0])};
}

/// Method that V is changed by.
enum class Method : std::uint8_t { equalize, clahe };

class OpencvChain {
 public:
  explicit OpencvChain(Method method) {
    if (method == Method::clahe) clahe_ = cv::createCLAHE(2.0, {8, 8});
  }
  void operator()(const cv::Mat& bgr, cv::Mat& out) {
    cv::cvtColor(bgr, hsv_, cv::COLOR_BGR2HSV);
    cv::extractChannel(hsv_, value_, 2);
    if (clahe_) {
      clahe_->apply(value_, equalized_);
    } else {
      cv::equalizeHist(value_, equalized_);
    }
    cv::insertChannel(equalized_, hsv_, 2);
    cv::cvtColor(hsv_, out, cv::COLOR_HSV2BGR);
  }

 private:
  cv::Ptr<cv::CLAHE> clahe_;
  cv::Mat hsv_, value_, equalized_;
};

struct Result {
  std::string format;
  int width, height, threads;
  double opencv_ms, ours_ms, copy_limit_ms;
};

/// Reads a frame twice and writes it once: no two-pass filter can be faster.
class CopyLimit {
 public:
  explicit CopyLimit(int threads) : executor_(threads) {}
  void operator()(const ConstImageView& in, const ImageView& out) {
    for (int p = 0; p < traits(in.desc.format).planes; ++p) {
      const std::size_t bytes = row_bytes(in.desc, p);
      executor_.for_rows(plane_rows(in.desc, p), [&](int begin, int end, int) {
        std::uint64_t sum = 0;
        for (int y = begin; y < end; ++y) {
          const std::uint8_t* row = in.row(p, y);
          for (std::size_t x = 0; x + 64 <= bytes; x += 64) {
            std::uint64_t word;
            std::memcpy(&word, row + x, sizeof word);  // one load fetches the whole cache line
            sum += word;
          }
        }
        seen_ = sum;
      });
    }
    for (int p = 0; p < traits(in.desc.format).planes; ++p) {
      const std::size_t bytes = row_bytes(in.desc, p);
      executor_.for_rows(plane_rows(in.desc, p), [&](int begin, int end, int) {
        for (int y = begin; y < end; ++y)
          std::memcpy(out.row(p, y), in.row(p, y), bytes);
      });
    }
  }

 private:
  RowExecutor executor_;
  std::atomic<std::uint64_t> seen_{0};
};

/// Describes I420 planes without gaps, as OpenCV takes them.
cv::Mat tight_i420(const ConstImageView& view) {
  cv::Mat mat(view.desc.height * 3 / 2, view.desc.width, CV_8UC1);
  std::uint8_t* at = mat.data;
  for (int p = 0; p < 3; ++p) {
    for (int y = 0; y < plane_rows(view.desc, p); ++y, at += row_bytes(view.desc, p)) {
      std::memcpy(at, view.row(p, y), row_bytes(view.desc, p));
    }
  }
  return mat;
}

Result compare(Method method, PixelFormat format, int width, int height, int threads, int rounds) {
  const ImageDesc desc{format, width, height, ColorMatrix::bt601, ColorRange::limited};
  const int n = ring_length(desc);
  std::vector<Image> frames = natural_frames(desc, n);
  std::vector<Image> outs = natural_frames(desc, n);  // written before: no page faults are timed
  std::vector<cv::Mat> tight;
  cv::Mat bgr, result, back;
  cv::setNumThreads(threads);
  OpencvChain chain(method);
  std::function<void(std::size_t)> opencv = [&](std::size_t i) {
    cv::Mat out = as_mat(outs[i].view());
    chain(as_mat(frames[i].view()), out);
  };
  if (format == PixelFormat::i420) {
    for (Image& frame : frames)
      tight.push_back(tight_i420(frame.view()));
    opencv = [&](std::size_t i) {
      cv::cvtColor(tight[i], bgr, cv::COLOR_YUV2BGR_I420);
      chain(bgr, result);
      cv::cvtColor(result, back, cv::COLOR_BGR2YUV_I420);
    };
  }
  const auto filter = method == Method::clahe ? make_cpu_filter(ClaheParams{}, {threads})
                                              : make_cpu_filter(EqualizeParams{}, {threads});
  filter->configure(desc);
  FrameContext context;
  CopyLimit limit(threads);
  const std::vector<TurnTimes> ms = take_turns(
      n, rounds,
      {opencv, [&](std::size_t i) { filter->submit(frames[i].view(), outs[i].view(), context); },
       [&](std::size_t i) { limit(frames[i].view(), outs[i].view()); }});
  return {std::string(to_string(format)),
          width,
          height,
          threads,
          ms[0].median,
          ms[1].median,
          ms[2].median};
}

/// A function of OpenCV, and our filter with the same result except for rounding.
struct Peer {
  std::string function;
  std::string filter;
  std::function<void(const cv::Mat&, cv::Mat&)> call;
};

std::vector<Peer> convolution_peers() {
  const auto filter2d = [](std::vector<float> weights) {
    const cv::Mat kernel = cv::Mat(weights, true).reshape(1, 3);
    return [kernel](const cv::Mat& in, cv::Mat& out) {
      cv::filter2D(in, out, -1, kernel, {-1, -1}, 0, cv::BORDER_REPLICATE);
    };
  };
  const auto gaussian = [](int size, double sigma) {
    return [size, sigma](const cv::Mat& in, cv::Mat& out) {
      cv::GaussianBlur(in, out, {size, size}, sigma, sigma, cv::BORDER_REPLICATE);
    };
  };
  const auto box = [](int size) {
    return [size](const cv::Mat& in, cv::Mat& out) {
      cv::blur(in, out, {size, size}, {-1, -1}, cv::BORDER_REPLICATE);
    };
  };
  constexpr float k = 1 / 16.0f;
  return {
      {"filter2D", "sharpen", filter2d({0, -1, 0, -1, 5, -1, 0, -1, 0})},
      {"filter2D", "edge", filter2d({-1, -1, -1, -1, 8, -1, -1, -1, -1})},
      {"filter2D", "gaussian-blur", filter2d({k, 2 * k, k, 2 * k, 4 * k, 2 * k, k, 2 * k, k})},
      {"GaussianBlur", "gaussian-blur", gaussian(3, 0)},
      {"blur", "box-blur", box(3)},
      {"GaussianBlur", "gaussian:sigma=1,size=5", gaussian(5, 1)},
      {"GaussianBlur", "gaussian:sigma=2,size=17", gaussian(17, 2)},
      {"blur", "box:size=5", box(5)},
      {"blur", "box:size=17", box(17)},
      {"blur", "box:size=31", box(31)},
  };
}

nlohmann::json compare_convolution(int threads, int rounds) {
  const ImageDesc desc{PixelFormat::bgr, 3840, 2160};
  const int n = ring_length(desc);
  const std::vector<Image> frames = natural_frames(desc, n);
  std::vector<Image> outs = natural_frames(desc, n);
  cv::setNumThreads(threads);
  FrameContext context;
  nlohmann::json rows = nlohmann::json::array();
  for (const Peer& peer : convolution_peers()) {
    const auto filter = make_cpu_filter(parse_filter_spec(peer.filter), {}, {threads});
    filter->configure(desc);
    const std::vector<TurnTimes> ms = take_turns(
        n, rounds,
        {[&](std::size_t i) {
           const ConstImageView in = frames[i].view();
           // A cast, since OpenCV has no type for read-only memory.
           const cv::Mat from(desc.height, desc.width, CV_8UC3,
                              const_cast<std::uint8_t*>(in.data[0]),
                              static_cast<std::size_t>(in.stride[0]));
           cv::Mat out = as_mat(outs[i].view());
           peer.call(from, out);
         },
         [&](std::size_t i) { filter->submit(frames[i].view(), outs[i].view(), context); }});
    std::printf("%-25s %-13s %8d %10.2f %10.2f %7.2f\n", peer.filter.c_str(), peer.function.c_str(),
                threads, ms[0].median, ms[1].median, ms[0].median / ms[1].median);
    rows.push_back({{"filter", peer.filter},
                    {"opencv", peer.function},
                    {"threads", threads},
                    {"opencv_ms", ms[0].median},
                    {"equalux_ms", ms[1].median},
                    {"ratio", ms[0].median / ms[1].median}});
  }
  return rows;
}

nlohmann::json compare_chains(Method method) {
  std::printf("\n%s\n", method == Method::clahe ? "CLAHE, clip limit 2, 8 x 8 tiles"
                                                : "histogram equalization");
  std::printf("%-6s %10s %8s %10s %10s %7s %12s %11s\n", "format", "size", "threads", "OpenCV ms",
              "equalux ms", "ratio", "copy limit", "over limit");
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& [format, width, height] :
       {std::tuple{PixelFormat::bgr, 1920, 1080}, std::tuple{PixelFormat::i420, 1920, 1080},
        std::tuple{PixelFormat::bgr, 3840, 2160}, std::tuple{PixelFormat::i420, 3840, 2160}}) {
    for (const int threads : {1, 2}) {
      const Result r = compare(method, format, width, height, threads, width > 2000 ? 60 : 200);
      const std::string size = std::to_string(r.width) + "x" + std::to_string(r.height);
      std::printf("%-6s %10s %8d %10.2f %10.2f %7.2f %12.2f %11.2f\n", r.format.c_str(),
                  size.c_str(), r.threads, r.opencv_ms, r.ours_ms, r.opencv_ms / r.ours_ms,
                  r.copy_limit_ms, r.ours_ms / r.copy_limit_ms);
      rows.push_back({{"format", r.format},
                      {"width", r.width},
                      {"height", r.height},
                      {"threads", r.threads},
                      {"opencv_ms", r.opencv_ms},
                      {"equalux_ms", r.ours_ms},
                      {"ratio", r.opencv_ms / r.ours_ms},
                      {"copy_limit_ms", r.copy_limit_ms}});
    }
  }
  return rows;
}

/// Compares cv::createCLAHE on gray, our filter with its bytes, and with our own.
nlohmann::json compare_gray(PixelFormat format, int width, int height, int threads, int rounds) {
  const ImageDesc desc{format, width, height};
  const int n = ring_length(desc);
  const std::vector<Image> frames = natural_frames(desc, n);
  std::vector<Image> outs = natural_frames(desc, n);
  cv::setNumThreads(threads);
  const auto mat_of = [&](const ConstImageView& view) {
    // A cast, since OpenCV has no type for read-only memory.
    return cv::Mat(height, width, format == PixelFormat::gray8 ? CV_8UC1 : CV_16UC1,
                   const_cast<std::uint8_t*>(view.data[0]),
                   static_cast<std::size_t>(view.stride[0]));
  };
  const cv::Ptr<cv::CLAHE> clahe = cv::createCLAHE(2.0, {8, 8});
  ClaheParams params;
  const auto own = make_cpu_filter(params, {threads});
  params.curve.compatible = Compatible::opencv;
  const auto same_bytes = make_cpu_filter(params, {threads});
  own->configure(desc);
  same_bytes->configure(desc);
  FrameContext context;
  const std::vector<TurnTimes> ms = take_turns(
      n, rounds,
      {[&](std::size_t i) {
         cv::Mat out = mat_of(outs[i].view());
         clahe->apply(mat_of(frames[i].view()), out);
       },
       [&](std::size_t i) { same_bytes->submit(frames[i].view(), outs[i].view(), context); },
       [&](std::size_t i) { own->submit(frames[i].view(), outs[i].view(), context); }});
  const std::string name(to_string(format));
  std::printf("%-9s %4dx%-4d %8d %10.2f %15.2f %7.2f %10.2f %7.2f\n", name.c_str(), width, height,
              threads, ms[0].median, ms[1].median, ms[0].median / ms[1].median, ms[2].median,
              ms[0].median / ms[2].median);
  return {{"format", name},
          {"width", width},
          {"height", height},
          {"threads", threads},
          {"opencv_ms", ms[0].median},
          {"compatible_ms", ms[1].median},
          {"equalux_ms", ms[2].median}};
}

nlohmann::json compare_grays() {
  std::printf("\nCLAHE of gray, clip limit 2, 8 x 8 tiles\n%-9s %9s %8s %10s %15s %7s %10s %7s\n",
              "format", "size", "threads", "OpenCV ms", "OpenCV's bytes", "ratio", "own ms",
              "ratio");
  nlohmann::json rows = nlohmann::json::array();
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::gray16_le}) {
    for (const auto& [width, height] : {std::pair{1920, 1080}, {3840, 2160}}) {
      for (const int threads : {1, 2})
        rows.push_back(compare_gray(format, width, height, threads, width > 2000 ? 30 : 80));
    }
  }
  return rows;
}

nlohmann::json compare_convolutions() {
  std::printf("\n%-25s %-13s %8s %10s %10s %7s\n", "BGR 3840x2160", "OpenCV's", "threads",
              "OpenCV ms", "equalux ms", "ratio");
  nlohmann::json rows = nlohmann::json::array();
  for (const int threads : {1, 2}) {
    for (const nlohmann::json& row : compare_convolution(threads, 40))
      rows.push_back(row);
  }
  return rows;
}

}  // namespace
}  // namespace equalux::bench

int main(int argc, char** argv) {
  using namespace equalux;
  using namespace equalux::bench;
  const std::string json_path = argc > 1 ? argv[1] : "";
  const std::string only = argc > 2 ? argv[2] : "";
  if (json_path.starts_with('-')) {
    std::puts("usage: compare_opencv [OUT.json [equalization|clahe|clahe-gray|convolution]]");
    return json_path == "--help" ? 0 : 2;
  }
  if (!only.empty() && only != "equalization" && only != "clahe" && only != "clahe-gray" &&
      only != "convolution") {
    std::fprintf(stderr,
                 "compare_opencv: '%s' is unknown, must be equalization, clahe, clahe-gray or "
                 "convolution\n",
                 only.c_str());
    return 2;
  }
  const auto wanted = [&](const char* part) { return only.empty() || only == part; };
  std::printf("SIMD target %s, OpenCV %s\n", cpu_simd_target().c_str(), CV_VERSION);
  nlohmann::json json{{"simd", cpu_simd_target()}, {"opencv", CV_VERSION}};
  if (wanted("equalization")) json["results"] = compare_chains(Method::equalize);
  if (wanted("clahe")) json["clahe"] = compare_chains(Method::clahe);
  if (wanted("clahe-gray")) json["clahe-gray"] = compare_grays();
  if (wanted("convolution")) json["convolution"] = compare_convolutions();
  return write_json(json_path, json, "compare_opencv");
}

#include "bench/quality/clip_methods.h"

#include <cstdio>
#include <memory>
#include <utility>

#include <equalux/filter.h>
#ifdef EQUALUX_BENCH_OPENCV
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#endif

#include "bench/quality/ffmpeg_pipe.h"

namespace equalux::bench {
namespace {

constexpr std::int64_t kFrameNs = 1'000'000'000 / 30;

/// Ours: a name, and filters as `--filter` takes them, one after another.
struct OurMethod {
  const char* name;
  bool plotted;
  std::vector<const char*> filters;
};
const std::vector<OurMethod> kOurs{
    {"plain", true, {"equalize"}},
    {"min-max", false, {"equalize:scaler=min-max"}},
    // As configs/ has them.
    {"stable", true, {"equalize:strength=0.8,clip-limit=3,floor=0.5,max-gain=8,temporal-ms=2000"}},
    {"webcam",
     false,
     {"equalize:strength=0.95,clip-limit=2.7,floor=1.5,max-gain=8,temporal-ms=1500,darken-ms=700",
      "denoise:strength=0.85"}},
    {"low-light",
     false,
     {"equalize:clip-limit=2.6,floor=1.5,max-gain=8,temporal-ms=2500", "denoise:strength=0.95"}},
    {"clahe", true, {"clahe:temporal-ms=2000"}},
};

/// FFmpeg's: a name and what -vf takes. deflicker works on YCbCr.
struct FfmpegMethod {
  const char* name;
  bool plotted;
  const char* filters;
};
constexpr FfmpegMethod kFfmpeg[] = {
    {"FFmpeg histeq", true, "histeq"},
    {"FFmpeg normalize", false, "normalize"},
    {"FFmpeg normalize, smoothed", true, "normalize=smoothing=30"},
    {"FFmpeg deflicker", false, "format=yuv444p,deflicker"},
    {"FFmpeg histeq, deflicker", false, "histeq,format=yuv444p,deflicker"},
};

void run_ours(const OurMethod& method, const Clip& clip, const TakeResult& take) {
  std::vector<std::unique_ptr<Filter>> filters;
  std::vector<Image> results;
  for (const char* text : method.filters)
    filters.push_back(make_cpu_filter(parse_filter_spec(text)));
  for (const ImageDesc& desc : configure_chain(filters, clip.desc))
    results.emplace_back(desc);
  Image original(clip.desc);
  for (int i = 0; i < clip.frames; ++i) {
    clip.draw(i, original.view());
    FrameContext context;
    context.index = static_cast<std::uint64_t>(i);
    context.pts_ns = i * kFrameNs;
    ConstImageView in = original.view();
    for (std::size_t k = 0; k < filters.size(); ++k) {
      filters[k]->submit(in, results[k].view(), context);
      in = results[k].view();
    }
    take(i, original.view(), in);
  }
}

void run_untouched(const Clip& clip, const TakeResult& take) {
  Image original(clip.desc);
  for (int i = 0; i < clip.frames; ++i) {
    clip.draw(i, original.view());
    take(i, original.view(), original.view());
  }
}

void run_ffmpeg(const char* filters, const Clip& clip, const TakeResult& take) {
  Image original(clip.desc);
  filter_by_ffmpeg(filters, clip.desc, clip.frames, clip.draw,
                   [&](int i, const ConstImageView& result) {
                     clip.draw(i, original.view());
                     take(i, original.view(), result);
                   });
}

#ifdef EQUALUX_BENCH_OPENCV
/// As OpenCV's users do it: to its 8-bit HSV, CLAHE of V, and back.
void run_clahe(const Clip& clip, const TakeResult& take) {
  const auto clahe = cv::createCLAHE(2.0, {8, 8});
  Image original(clip.desc);
  Image result(clip.desc);
  const auto as_mat = [](const ImageView& view) {
    return cv::Mat(view.desc.height, view.desc.width, CV_8UC3, view.data[0],
                   static_cast<std::size_t>(view.stride[0]));
  };
  cv::Mat hsv;
  cv::Mat value;
  cv::Mat spread;
  for (int i = 0; i < clip.frames; ++i) {
    clip.draw(i, original.view());
    cv::Mat out = as_mat(result.view());
    cv::cvtColor(as_mat(original.view()), hsv, cv::COLOR_BGR2HSV);
    cv::extractChannel(hsv, value, 2);
    clahe->apply(value, spread);
    cv::insertChannel(spread, hsv, 2);
    cv::cvtColor(hsv, out, cv::COLOR_HSV2BGR);
    take(i, original.view(), result.view());
  }
}
#endif

}  // namespace

std::vector<Method> clip_methods() {
  std::vector<Method> methods{{"source", "", true, run_untouched}};
  for (const OurMethod& ours : kOurs) {
    std::string how;
    for (const char* filter : ours.filters)
      how += (how.empty() ? "" : " ") + std::string(filter);
    methods.push_back(
        {ours.name, how, ours.plotted,
         [&ours](const Clip& clip, const TakeResult& take) { run_ours(ours, clip, take); }});
  }
#ifdef EQUALUX_BENCH_OPENCV
  methods.push_back(
      {"OpenCV CLAHE", "createCLAHE(2.0, 8x8) on V of COLOR_BGR2HSV", true, run_clahe});
#else
  std::fprintf(stderr, "left out: OpenCV's CLAHE, this build has no OpenCV\n");
#endif
  if (ffmpeg_version().empty()) {
    std::fprintf(stderr, "left out: FFmpeg's filters, the program ffmpeg is not installed\n");
    return methods;
  }
  for (const FfmpegMethod& theirs : kFfmpeg) {
    methods.push_back({theirs.name, std::string("-vf ") + theirs.filters, theirs.plotted,
                       [&theirs](const Clip& clip, const TakeResult& take) {
                         run_ffmpeg(theirs.filters, clip, take);
                       }});
  }
  return methods;
}

}  // namespace equalux::bench

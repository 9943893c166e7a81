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
#include "src/cli/settings.h"

namespace equalux::bench {
namespace {

constexpr std::int64_t kFrameNs = 1'000'000'000 / 30;

/// One of our methods: a name, and filters as `--filter` takes them, one after another.
struct OurMethod {
  std::string name;
  bool plotted;
  std::vector<std::string> filters;
  EqualizeParams equalize = {};  ///< for filters that do not set it themselves
  std::string preset = {};       ///< if it is a preset's method
};

/// Makes a method of a preset, complete or only its curve.
OurMethod of_preset(const std::string& preset, bool plotted, bool curve_alone = false) {
  OurMethod method{curve_alone ? preset + ", curve" : preset, plotted, {"equalize"}, {}, preset};
  for (const auto& [key, value] : cli::preset_options(preset)) {
    const Option* const option = find_option(equalize_options(), key);
    if (option != nullptr) set_option(method.equalize, key, value);
  }
  std::vector<std::string> filters = cli::preset_filters(preset);
  if (!curve_alone && !filters.empty()) method.filters = std::move(filters);
  return method;
}

std::vector<OurMethod> our_methods() {
  std::vector<OurMethod> methods{{"plain", true, {"equalize"}},
                                 {"min-max", false, {"equalize:scaler=min-max"}},
                                 of_preset("stable", true)};
  for (const char* preset : {"webcam", "low-light"}) {
    methods.push_back(of_preset(preset, false));
    methods.push_back(of_preset(preset, false, true));
  }
  methods.push_back({"clahe", true, {"clahe:temporal-ms=2000"}});
  return methods;
}

/// One of FFmpeg's methods: a name and the value of -vf. deflicker works on YCbCr.
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
  for (const std::string& text : method.filters)
    filters.push_back(make_cpu_filter(parse_filter_spec(text), method.equalize));
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
/// Runs CLAHE as users of OpenCV do: to its 8-bit HSV, CLAHE of V, and back.
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
  for (const OurMethod& ours : our_methods()) {
    std::string how = ours.preset.empty() ? "" : "preset " + ours.preset + ":";
    for (const std::string& filter : ours.filters)
      how += (how.empty() ? "" : " ") + filter;
    methods.push_back(
        {ours.name, how, ours.plotted,
         [ours](const Clip& clip, const TakeResult& take) { run_ours(ours, clip, take); }});
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

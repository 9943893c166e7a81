#include <algorithm>
#include <functional>
#include <optional>

#include <equalux/error.h>

#include "src/common/float_difference.h"
#include "src/lab/hessian/pictures.h"
#include "src/lab/hessian/plain_hessian.h"
#include "src/lab/lab.h"
#if defined(EQUALUX_HAVE_OPENCV)
#include "src/lab/hessian/opencv_eigen.h"
#endif

/// `lab hessian`: measures the Hessian report's Figures 7 to 13. hessian_report.cpp makes the
/// tables.
namespace equalux::cli::lab {
namespace {

using gpu_lab::HessianStrategy;
using gpu_lab::StageSamples;

// Small picture on which an attempt shows whether a strategy exists.
constexpr FrameSize kProbe{64, 48};

/// Times of one variant on one picture.
struct Times {
  std::vector<StageSamples> steps;  ///< includes "whole"
  std::optional<float> worst_difference;
};

/// Variant that computes the eigenvalues of a gray picture; `expected` is the CPU filter's result.
struct HessianWay {
  std::string backend;
  std::string name;
  std::optional<int> threads;
  std::function<Times(const ConstImageView& image, const ConstImageView& expected)> time;
};

Image result_for(const ConstImageView& image) {
  ImageDesc desc = image.desc;
  desc.format = PixelFormat::grayf32x2;
  return Image(desc);
}

std::vector<double> as_us(std::vector<double> ms) {
  for (double& value : ms)
    value *= 1000.0;
  return ms;
}

Times time_plain(const HessianParams& params, const Budget& budget, const ConstImageView& image,
                 const ConstImageView& expected) {
  PlainHessian program(params, static_cast<std::size_t>(image.desc.width) *
                                   static_cast<std::size_t>(image.desc.height));
  Image result = result_for(image);
  touch(result.view());
  Times times{{{"whole", {}}, {"derivatives", {}}, {"eigenvalues", {}}}, {}};
  for (const PlainHessian::Steps& steps : repeat_within<PlainHessian::Steps>(
           budget, [&] { return program.run(image, result.view()); })) {
    times.steps[0].us.push_back(1000.0 * (steps.derivatives_ms + steps.eigenvalues_ms));
    times.steps[1].us.push_back(1000.0 * steps.derivatives_ms);
    times.steps[2].us.push_back(1000.0 * steps.eigenvalues_ms);
  }
  times.worst_difference = worst_difference(result.view(), expected);
  return times;
}

Times time_filter(const HessianParams& params, int threads, const Budget& budget,
                  const ConstImageView& image, const ConstImageView& expected) {
  gpu_lab::CallTimes calls = time_cpu_filter(*make_cpu_filter(params, {threads}), image, budget);
  return {{{"whole", as_us(std::move(calls.whole_ms))}},
          worst_difference(calls.result.view(), expected)};
}

Times time_strategy(int device, const HessianParams& params, HessianStrategy strategy,
                    const Budget& budget, const ConstImageView& image) {
  gpu_lab::HessianTimes measured = gpu_lab::time_hessian(device, image, params, strategy, budget);
  Times times{{{"whole", as_us(std::move(measured.whole_ms))}}, measured.worst_difference};
  for (StageSamples& step : measured.steps) {
    const auto same = std::find_if(times.steps.begin(), times.steps.end(),
                                   [&](const auto& each) { return each.stage == step.stage; });
    if (same == times.steps.end()) {
      times.steps.push_back(std::move(step));
      continue;
    }
    // Kernels of one step are summed.
    for (std::size_t i = 0; i < same->us.size() && i < step.us.size(); ++i)
      same->us[i] += step.us[i];
  }
  return times;
}

/// Returns one thread, and all threads where there are more.
std::vector<int> thread_counts(const Lab& lab) {
  std::vector<int> counts{1};
  if (lab.cpu_threads() > 1) counts.push_back(lab.cpu_threads());
  return counts;
}

void add_cpu_ways(Lab& lab, const HessianParams& params, std::vector<HessianWay>& ways) {
  const Budget budget = lab.budget();
  ways.push_back({"cpu", "sequential", 1, [=](const auto& image, const auto& expected) {
                    return time_plain(params, budget, image, expected);
                  }});
  for (const int threads : thread_counts(lab)) {
    ways.push_back({"cpu", "production", threads, [=](const auto& image, const auto& expected) {
                      return time_filter(params, threads, budget, image, expected);
                    }});
  }
#if defined(EQUALUX_HAVE_OPENCV)
  for (const int threads : thread_counts(lab)) {
    ways.push_back({"cpu", "opencv", threads, [=](const auto& image, const auto&) {
                      return Times{time_opencv_steps(image, params, threads, budget), {}};
                    }});
    ways.push_back({"cpu", "opencv-corner", threads, [=](const auto& image, const auto&) {
                      return Times{time_opencv_corner(image, threads, budget), {}};
                    }});
  }
#else
  lab.absent("opencv", "this build has no OpenCV");
#endif
}

void add_gpu_ways(Lab& lab, const HessianParams& params, std::vector<HessianWay>& ways) {
  const int device = lab.device();
  const Budget budget = lab.budget();
  const Image probe = channel_of(picture_of(lab, kProbe, 0).view(), params.channel);
  for (const auto& each : gpu_lab::kHessianStrategies) {
    const HessianStrategy strategy = each.first;
    const std::string name(each.second);
    try {
      static_cast<void>(time_strategy(device, params, strategy, {1, 0}, probe.view()));
    } catch (const Error& error) {
      // Without the product's strategy the GPU alone has no baseline.
      if (error.code() != ExitCode::unavailable ||
          (strategy == HessianStrategy::production && !lab.measures_cpu()))
        throw;
      lab.absent("cuda_" + name, error.what());
      continue;
    }
    ways.push_back({"cuda", name, {}, [=](const auto& image, const auto&) {
                      return time_strategy(device, params, strategy, budget, image);
                    }});
  }
}

void add_rows(Lab& lab, const FrameSize& size, int picture, const HessianWay& way,
              const Times& times) {
  for (const StageSamples& step : times.steps) {
    lab.add({size_text(size), cell(picture + 1), way.backend, way.name,
             way.threads ? cell(*way.threads) : std::string(), step.stage,
             cell(median(step.us) / 1000.0), cell(step.us.size()),
             times.worst_difference ? cell(double{*times.worst_difference}) : std::string()});
  }
}

}  // namespace

void measure_hessian(Lab& lab) {
  const HessianParams& params = lab.options().hessian;
  std::vector<HessianWay> ways;
  if (lab.measures_cpu()) add_cpu_ways(lab, params, ways);
  if (lab.gpu()) add_gpu_ways(lab, params, ways);
  const std::vector<FrameSize>& sizes = lab.sizes();
  const auto pictures = static_cast<std::size_t>(lab.options().images);
  lab.fact("eigenvalues", lab.options().hessian_text);
  lab.fact("samples", "gray8, channel " + std::string(enum_name(params.channel)));
  lab.repeat_facts("median of a picture's calls");
  lab.fact("whole",
           "on the GPU allocate device memory, copy up, kernels, copy down, free, pageable host "
           "memory; its steps apart, pinned memory, without launches; on the CPU the sum of the "
           "steps");
  lab.begin(
      {"size", "picture", "backend", "way", "threads", "step", "ms", "calls", "worst_difference"});
  std::size_t done = 0;
  for (const FrameSize& size : sizes) {
    for (int picture = 0; picture < lab.options().images; ++picture) {
      const Image image = channel_of(picture_of(lab, size, picture).view(), params.channel);
      const Image expected = filtered(*make_cpu_filter(params, {lab.cpu_threads()}), image.view());
      for (const HessianWay& way : ways) {
        lab.progress(done++, sizes.size() * pictures * ways.size(),
                     size_text(size) + ", " + way.backend + " " + way.name);
        add_rows(lab, size, picture, way, way.time(image.view(), expected.view()));
      }
    }
  }
}

}  // namespace equalux::cli::lab

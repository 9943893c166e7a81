#include <algorithm>
#include <cstring>
#include <numeric>

#include "src/cpu/common/parallel.h"
#include "src/lab/lab.h"
#include "src/lab/pivot.h"

/// `lab stages`: the profiler's tables of the report's section 5.3.
namespace equalux::cli::lab {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{64} << 20;
constexpr int kCopyPieces = 256;

/// Returns the bytes that a stage has to read and write on any machine.
std::uint64_t bytes_of(const std::string& stage, const Lab& lab, Chain chain, int bins) {
  const std::uint64_t n = lab.pixels();
  const auto step = static_cast<std::uint64_t>(traits(lab.image().desc().format).step[0]);
  const auto tables = static_cast<std::uint64_t>(bins) * sizeof(std::uint32_t);
  if (stage == "upload" || stage == "download") return n * step;
  if (chain == Chain::fused) {
    if (stage == "fused") return 3 * n * step;  // both passes
    if (stage == "curve") return 2 * tables;
    return stage == "apply" ? 2 * n * step : n * step;
  }
  if (stage == "rgb_to_hsv") return n * (step + 12);
  if (stage == "histogram") return n * 4 + tables;
  if (stage == "cdf_scan") return 2 * tables;
  if (stage == "equalize") return n * 8 + tables;
  return n * (12 + step) + (step == 4 ? n * step : 0);  // hsv_to_rgb reads alpha again
}

/// Measures large copies on all CPU threads; bytes read and bytes written both count.
double cpu_copy_rate(int threads) {
  RowExecutor executor(threads);
  const std::vector<char> from(kCopyBytes, 'x');
  std::vector<char> to(kCopyBytes);
  const std::vector<double> seconds = repeat_within<double>({9, 1.0}, [&] {
    const LabClock::time_point start = LabClock::now();
    executor.for_rows(kCopyPieces, [&](int begin, int end, int) {
      constexpr std::size_t kPiece = kCopyBytes / kCopyPieces;
      const std::size_t first = static_cast<std::size_t>(begin) * kPiece;
      std::memcpy(to.data() + first, from.data() + first,
                  static_cast<std::size_t>(end - begin) * kPiece);
    });
    return seconds_since(start);
  });
  return 2.0 * static_cast<double>(kCopyBytes) / median(seconds);
}

std::vector<gpu_lab::StageSamples> time_on_cpu(const Lab& lab, const EqualizeParams& params) {
  const auto filter = make_cpu_filter(params, {lab.cpu_threads()});
  const ConstImageView image = lab.image().view();
  filter->configure(image.desc);
  Image result(image.desc);
  std::vector<gpu_lab::StageSamples> samples;
  for (int i = 0; i <= lab.repeats(); ++i) {
    std::vector<StageTime> stages;
    FrameContext context;
    context.timings = &stages;
    filter->submit(image, result.view(), context);
    if (i == 0) continue;  // warms up
    samples.resize(stages.size());
    for (std::size_t k = 0; k < stages.size(); ++k) {
      samples[k].stage = stages[k].stage;
      samples[k].us.push_back(1000.0 * stages[k].ms);
    }
  }
  return samples;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

void add_rows(Lab& lab, const std::vector<gpu_lab::StageSamples>& samples,
              const gpu_lab::Rates& rates, Chain chain, int bins) {
  double all = 0;
  for (const auto& stage : samples)
    all += sum(stage.us);
  for (const auto& [stage, us] : samples) {
    const double rate = stage == "upload"     ? rates.upload
                        : stage == "download" ? rates.download
                                              : rates.device;
    const auto [least, most] = std::minmax_element(us.begin(), us.end());
    const double mean = sum(us) / static_cast<double>(us.size());
    const std::uint64_t bytes = bytes_of(stage, lab, chain, bins);
    const double floor_us = 1e6 * static_cast<double>(bytes) / rate;
    lab.add({stage, cell(100.0 * sum(us) / all), cell(sum(us) / 1000.0), cell(us.size()),
             cell(mean), cell(*least), cell(*most), cell(bytes), cell(floor_us),
             cell(median(us) / floor_us)});
  }
}

}  // namespace

void measure_stages(Lab& lab) {
  const EqualizeParams params = lab.params(Chain::staged);
  const bool on_gpu = lab.gpu().has_value();
  validate(params, on_gpu ? Backend::cuda : Backend::cpu, &lab.image().desc());
  const int bins = params.bins == 0 ? 256 : params.bins;
  gpu_lab::Rates rates;
  std::vector<gpu_lab::StageSamples> samples;
  lab.fact("backend", on_gpu ? "cuda" : "cpu");
  lab.fact("chain", std::string(enum_name(params.chain)));
  lab.fact("bins", cell(bins));
  if (on_gpu) {
    rates = gpu_lab::measure_rates(lab.device());
    lab.fact("upload_gb_s", cell(rates.upload / 1e9));
    lab.fact("download_gb_s", cell(rates.download / 1e9));
    samples = gpu_lab::time_stages(lab.device(), lab.image().view(), params, lab.repeats());
  } else {
    rates.device = cpu_copy_rate(lab.cpu_threads());
    samples = time_on_cpu(lab, params);
  }
  lab.fact("repeats", cell(lab.repeats()));
  lab.fact("copy_gb_s", cell(rates.device / 1e9));
  lab.fact("floor",
           "bytes at the copy rate, where bytes read and bytes written count; over_floor "
           "is the median over it");
  lab.begin({"stage", "share_percent", "total_ms", "calls", "mean_us", "min_us", "max_us", "bytes",
             "floor_us", "over_floor"});
  add_rows(lab, samples, rates, params.chain, bins);
}

Report report_stages(const Table& table) {
  plot::BarChart chart;
  chart.title = "Mean of a stage and its floor: " +
                table.fact(table.fact("backend") == "cpu" ? "cpu" : "device");
  chart.y = {"us", plot::Scale::log10};
  chart.names = texts_of(table, "stage");
  std::vector<double> means;
  std::vector<double> floors;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    means.push_back(table.number(i, "mean_us"));
    floors.push_back(table.number(i, "floor_us"));
  }
  chart.series = {{"mean", means}, {"floor", floors}};
  Report report;
  report.markdown = markdown_table(table) +
                    "\nA stage is faster than its floor where its bytes come from a cache: the "
                    "floor is measured with copies that no cache holds. A kernel takes some "
                    "microseconds however little it does, which the floor leaves out.\n";
  report.panels = {plot::bar_chart(chart)};
  return report;
}

}  // namespace equalux::cli::lab

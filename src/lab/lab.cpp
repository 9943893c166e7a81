#include "src/lab/lab.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include <equalux/error.h>
#include <unistd.h>

#include "pipelines/core/frame_hash.h"
#include "pipelines/core/test_source.h"
#include "pipelines/files/still.h"
#include "src/cli/paths.h"
#include "src/cli/stream/backend.h"
#include "src/common/log.h"
#include "src/common/size_text.h"
#include "src/cpu/common/parallel.h"
#include "src/lab/pivot.h"

namespace fs = std::filesystem;

namespace equalux::cli::lab {
namespace {

constexpr const char* kDefaultImage = "test:961x640";
constexpr std::string_view kTest = "test:";

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

void make_folder(const std::string& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (fs::is_directory(path, failed)) return;
  throw Error(ExitCode::cannot_create, "folder " + path + " cannot be created (" +
                                           failed.message() +
                                           "), --out must be a folder or a name for one");
}

}  // namespace

Image read_lab_image(const std::string& name) {
  if (!name.starts_with(kTest)) {
    require_input(name);
    Image still = read_still(name);
    if (has_byte_samples(still.desc().format)) return still;
    throw Error(ExitCode::bad_input, name + ": has 16 bits a sample, the experiments take 8");
  }
  const auto source = make_test_source(parse_test_pattern(name.substr(kTest.size())));
  const StreamInfo info =
      source->open([](PixelFormat format) { return format == PixelFormat::bgr; });
  Frame frame;
  source->read(frame);
  Image image(info.desc);
  copy_image(frame.image, image.view());
  return image;
}

Lab::Lab(const Experiment& experiment, const LabOptions& options)
    : experiment_(experiment),
      options_(options),
      image_name_(options.input.empty() ? kDefaultImage : options.input) {
  head_.experiment = experiment.name;
  head_.origin = stem() + ".csv";
  fact("version", std::string(version()));
  fact("date", today());
  read_image();
  choose_gpu();
  add_machine_facts();
}

Lab::~Lab() {
  if (line_shown_) std::fputs("\r\x1b[K", stderr);
}

void Lab::read_image() {
  if (experiment_.sizes.empty()) {
    image_ = read_lab_image(image_name_);
    fact("image", image_name_);
    fact("size", size_and_format(image_.desc()));
    return;
  }
  if (options_.input.empty()) {
    fact("image", std::string(experiment_.scene));
  } else {
    image_ = read_lab_image(options_.input);
    fact("image", options_.input + ", scaled to each size");
  }
  std::string text;
  for (const FrameSize& size : sizes())
    text += (text.empty() ? "" : ", ") + size_text(size);
  fact("sizes", text);
}

const std::vector<FrameSize>& Lab::sizes() const {
  return options_.sizes.empty() ? experiment_.sizes : options_.sizes;
}

Image Lab::image_of(const FrameSize& size) const {
  return image_.empty() ? read_lab_image(std::string(kTest) + size_text(size))
                        : scaled(image_.view(), size);
}

std::uint64_t Lab::pixels() const {
  return static_cast<std::uint64_t>(image_.desc().width) *
         static_cast<std::uint64_t>(image_.desc().height);
}

void Lab::choose_gpu() {
  const Backend backend = options_.common.backend;
  if (experiment_.needs == Needs::gpu && backend == Backend::cpu) {
    throw Error(ExitCode::usage, "lab " + std::string(experiment_.name) +
                                     " measures a GPU, --backend must be auto or cuda");
  }
  if (backend == Backend::cpu) return;
  const bool needed = experiment_.needs == Needs::gpu || backend == Backend::cuda;
  if (!needed) {
    if (const CudaStatus status = cuda_status(); !status.available) {
      absent("cuda", status.reason);
      return;
    }
  }
  gpu_ = gpu_lab::device_facts(options_.common.device);
  options_.common.device = gpu_->device.number;  // automatic choice only once
}

void Lab::add_machine_facts() {
  if (gpu_) {
    const CudaDevice& device = gpu_->device;
    fact("device", device.name);
    fact("compute_capability", cell(device.major) + "." + cell(device.minor));
    fact("multiprocessors", cell(device.multiprocessors));
    fact("cuda_driver", gpu_->driver);
    fact("cuda_runtime", gpu_->runtime);
  }
  fact("cpu", cpu_name());
  fact("cpu_threads", cell(cpu_threads()));
  fact("simd", cpu_simd_target());
}

EqualizeParams Lab::params(Chain unless_set) const {
  EqualizeParams params = options_.common.equalize;
  params.chain = options_.chain.value_or(unless_set);
  return params;
}

EqualizeParams Lab::staged_params() const {
  EqualizeParams params = options_.common.equalize;
  params.chain = Chain::staged;
  return params;
}

int Lab::repeats() const {
  return options_.repeat > 0 ? options_.repeat : experiment_.repeats;
}

int Lab::cpu_threads() const {
  return options_.common.threads > 0 ? options_.common.threads : available_cores();
}

std::vector<Backend> Lab::backends() const {
  std::vector<Backend> all;
  if (measures_cpu()) all.push_back(Backend::cpu);
  if (gpu_) all.push_back(Backend::cuda);
  return all;
}

void Lab::fact(std::string key, std::string value) {
  head_.facts.emplace_back(std::move(key), std::move(value));
}

void Lab::repeat_facts(std::string statistic) {
  fact("statistic", std::move(statistic));
  fact("repeats", cell(repeats()));
  fact("seconds_a_cell", cell(options_.cell_seconds));
}

void Lab::absent(const std::string& what, const std::string& why) {
  fact("absent_" + what, why);
  logger().warn("lab {}: {} is not measured: {}", experiment_.name, what, why);
}

void Lab::begin(std::vector<std::string> columns) {
  make_folder(options_.out);
  head_.columns = std::move(columns);
  writer_.emplace(head_.origin, head_);
}

void Lab::add(std::vector<std::string> cells) {
  writer_->add(std::move(cells));
}

void Lab::progress(std::size_t done, std::size_t count, const std::string& what) {
  if (options_.common.quiet || ::isatty(STDERR_FILENO) != 1) return;
  std::fprintf(stderr, "\r%s: %zu of %zu, %s\x1b[K", std::string(experiment_.name).c_str(), done,
               count, what.c_str());
  std::fflush(stderr);
  line_shown_ = true;
}

const Table& Lab::finish() {
  writer_->finish();
  if (line_shown_) std::fputs("\r\x1b[K", stderr);
  line_shown_ = false;
  return writer_->table();
}

std::string Lab::stem() const {
  return (fs::path(options_.out) / experiment_.name).string();
}

OneStill::OneStill(const ConstImageView& image, const EqualizeParams& params, Backend backend,
                   const CommonOptions& common)
    : image_(image) {
  CommonOptions options = common;
  options.backend = backend;
  options.equalize = params;
  processor_ = make_processor(options);
  const ImageDesc desc = processor_->configure(image.desc);
  inputs_ = std::make_unique<FramePool>(image.desc, 1, true);
  outputs_ = std::make_unique<FramePool>(desc, 1);
}

void OneStill::filter() {
  result_.reset();
  FramePtr in = inputs_->acquire();
  in->image = image_;
  processor_->submit(std::move(in), outputs_->acquire(), false, false);
  result_ = processor_->collect(true);
}

Image OneStill::take_result() {
  Image image(result_->image.desc);
  copy_image(result_->image, image.view());
  return image;
}

Image filtered(const ConstImageView& image, const EqualizeParams& params, Backend backend,
               const LabOptions& options) {
  OneStill still(image, params, backend, options.common);
  still.filter();
  return still.take_result();
}

SameBytes::SameBytes(const Lab& lab, const EqualizeParams& params) {
  EqualizeParams plain;
  plain.scaler = params.scaler;
  plain.bins = params.bins;
  plain.chain = params.chain;
  expected_ = frame_md5(filtered(lab.image().view(), plain, Backend::cpu, lab.options()).view());
}

std::string SameBytes::text(const Image& result) const {
  return frame_md5(result.view()) == expected_ ? "yes" : "no";
}

std::string same_bytes_line(const Table& table) {
  const std::size_t same = rows_where(table, "same_bytes", "yes").size();
  return cell(same) + " of " + cell(table.rows.size()) + " results have the CPU's bytes.\n";
}

Image filtered(Filter& filter, const ConstImageView& image) {
  Image result(filter.configure(image.desc));
  FrameContext context;
  filter.submit(image, result.view(), context);
  return result;
}

std::vector<double> time_cpu_calls(const ConstImageView& image, const EqualizeParams& params,
                                   int threads, const Budget& budget) {
  Image result(image.desc);
  const auto filter = make_cpu_filter(params, {threads});
  return repeat_within<double>(budget, [&] {
    const LabClock::time_point start = LabClock::now();
    filter->configure(image.desc);
    FrameContext context;
    filter->submit(image, result.view(), context);
    return 1000.0 * seconds_since(start);
  });
}

void touch(const ImageView& image) {
  for (int p = 0; p < traits(image.desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(image.desc, p); ++y)
      std::memset(image.row(p, y), 0, row_bytes(image.desc, p));
  }
}

gpu_lab::CallTimes time_cpu_filter(Filter& filter, const ConstImageView& image,
                                   const Budget& budget) {
  gpu_lab::CallTimes times;
  times.result = Image(filter.configure(image.desc));
  const ImageView view = times.result.view();
  touch(view);
  times.whole_ms = repeat_within<double>(budget, [&] {
    const LabClock::time_point start = LabClock::now();
    FrameContext context;
    filter.submit(image, view, context);
    return 1000.0 * seconds_since(start);
  });
  return times;
}

bool same_samples(const ConstImageView& a, const ConstImageView& b) {
  for (int p = 0; p < traits(a.desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(a.desc, p); ++y) {
      if (std::memcmp(a.row(p, y), b.row(p, y), row_bytes(a.desc, p)) != 0) return false;
    }
  }
  return true;
}

std::string extent_text(const Extent3& extent) {
  return std::to_string(extent.x) + "x" + std::to_string(extent.y) + "x" + std::to_string(extent.z);
}

}  // namespace equalux::cli::lab

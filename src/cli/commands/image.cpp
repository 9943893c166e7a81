#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include <equalux/error.h>
#include <unistd.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/core/processor.h"
#include "pipelines/files/file_names.h"
#include "pipelines/files/partial_file.h"
#include "pipelines/files/scratch_folder.h"
#include "pipelines/files/still.h"
#include "pipelines/picture/alpha_plane.h"
#include "src/cli/commands.h"
#include "src/cli/folder_files.h"
#include "src/cli/options.h"
#include "src/cli/paths.h"
#include "src/cli/stream/backend.h"
#include "src/cli/stream/io_factory.h"
#include "src/cli/stream/measurements.h"
#include "src/cli/values.h"
#include "src/common/log.h"
#include "src/common/system_error.h"
#include "src/options/option_values.h"
#include "src/plot/gnuplot.h"
#include "src/plot/histogram_plot.h"

/// `equalux image`: filters one still or a folder of them, and draws the reports' plots.
namespace equalux::cli {
namespace {

constexpr int kMaxPlotBins = 256;
constexpr int kMaxRepeats = 1000000;
// Rate that FFmpeg gives a still, so that its framemd5 is ours.
constexpr Rational kStillRate{25, 1};

namespace fs = std::filesystem;

struct ImageOptions {
  CommonOptions common;
  std::vector<std::string> files;  ///< as given: IN OUT, or inputs alone with -o or --out
  std::string output;              ///< -o
  std::string out;                 ///< folder of the results; empty = one still
  std::string plot;
  std::string plot_scalers;
  bool plot_channels = false;
  Overwrite overwrite = Overwrite::ask;
  StillOptions still;
  int repeat = 1;
};

struct StillJob {
  std::string input;
  std::string output;
  bool from_stdin = false;  ///< `input` is a temporary file, named "-" to the user
  bool to_stdout = false;   ///< `output` is a temporary file, named "-" to the user

  [[nodiscard]] std::string input_name() const { return from_stdin ? "-" : input; }
  [[nodiscard]] std::string output_name() const { return to_stdout ? "-" : output; }
};

// ---- stdin and stdout ---------------------------------------------------------------------------

/// Temporary files for stdin and stdout: decoders have to seek.
class Spool {
 public:
  /// Copies stdin to a file with the extension that fits its content. Throws Error(bad_input).
  [[nodiscard]] std::string take_stdin() const {
    std::string bytes;
    std::array<char, 65536> block{};
    for (;;) {
      const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
      if (got == 0) break;
      if (got > 0) bytes.append(block.data(), static_cast<std::size_t>(got));
      if (got < 0 && errno != EINTR) {
        throw Error(ExitCode::bad_input, "-: cannot be read: " + system_error_text(errno));
      }
    }
    const std::string path = file(extension_by_content(bytes));
    PartialFile spooled(path);
    spooled.write(bytes.data(), bytes.size());
    spooled.commit();
    return path;
  }
  [[nodiscard]] std::string file(const std::string& extension) const {
    return (folder_.path() / ("still." + extension)).string();
  }
  /// Copies a file to stdout. Throws Error(write_failed).
  static void give_to_stdout(const std::string& path) {
    std::ifstream from(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(from), {}};
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() ||
        std::fflush(stdout) != 0) {
      throw Error(ExitCode::write_failed, "-: write failed: " + system_error_text(errno));
    }
  }
  /// Returns the error with "-" in place of the temporary file's name.
  [[nodiscard]] Error about_stream(const Error& error) const {
    std::string text = error.what();
    const std::string name = folder_.path().string() + "/still";
    const std::size_t at = text.find(name);
    if (at == std::string::npos) return error;
    std::size_t end = text.find_first_of(": ", at);
    if (end == std::string::npos) end = text.size();
    return {error.code(), text.replace(at, end - at, "-")};
  }

 private:
  static std::string extension_by_content(const std::string& bytes) {
    using std::string_literals::operator""s;
    const std::pair<std::string, const char*> kinds[] = {
        {"P5", "pgm"},     {"P6", "ppm"},     {"\x89PNG", "png"}, {"\xff\xd8\xff", "jpg"},
        {"II*\0"s, "tif"}, {"MM\0*"s, "tif"}, {"BM", "bmp"}};
    for (const auto& [magic, extension] : kinds)
      if (bytes.starts_with(magic)) return extension;
    if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "webp";
    throw Error(ExitCode::bad_input,
                "-: holds no still, must be PNM, PNG, JPEG, BMP, TIFF or WebP");
  }

  ScratchFolder folder_{"still"};
};

/// Returns true for "-" and such as "png:-".
bool is_stream(const std::string& path) {
  return path == "-" ||
         (path.ends_with(":-") && writes_still("x." + path.substr(0, path.size() - 2)));
}

// ---- what is to be done -------------------------------------------------------------------------

void refuse_videos(const std::string& input) {
  const std::string extension = extension_of(input);
  const bool animation = extension == "gif" || extension == "apng";
  if (!is_media_name(input) && !animation) return;
  throw Error(ExitCode::bad_input, input + ": is " + (animation ? "an animation" : "a video") +
                                       ", equalux image takes stills; must be equalux run " +
                                       input + " -o OUTPUT");
}

bool holds_quality(const std::string& path) {
  const std::string extension = extension_of(path);
  return extension == "jpg" || extension == "jpeg" || extension == "webp";
}

void check_writable(const ImageOptions& options, const std::string& output) {
  if (!writes_still(output)) {
    throw_usage("output " + output +
                " has no extension of a still that this build writes, must be like .png or .ppm");
  }
  if (options.still.quality && !holds_quality(output)) {
    throw_usage("--quality is of JPEG and WebP, must be left out for " + output);
  }
}

StillJob single_job(const ImageOptions& options) {
  const std::size_t count = options.files.size();
  const std::size_t expected = options.output.empty() ? 2 : 1;
  if (count == 0) throw_usage("IN is missing, must be equalux image IN OUT");
  if (count < expected) throw_usage("OUT is missing, must be equalux image IN OUT, or -o OUT");
  if (count > expected) {
    throw_usage(
        "file " + options.files[expected] + " is one too many, must be " +
        (expected == 2 ? "one IN and one OUT" : "one IN with -o OUT") +
        ", or stills with --out DIR; a pattern without quotes becomes the files that match");
  }
  StillJob job{options.files.front(),
               options.output.empty() ? options.files.back() : options.output};
  std::error_code ignored;
  if (fs::is_directory(job.input, ignored)) {
    throw_usage("input " + job.input + " is a folder, must be one still; --out DIR takes folders");
  }
  if (fs::exists(job.input, ignored)) refuse_videos(job.input);
  if (options.common.verify == "-" && is_stream(job.output)) {
    throw_usage("--verify writes to stdout as output " + job.output +
                " does, must be --verify=FILE");
  }
  if (options.common.timings == "-" && is_stream(job.output)) {
    throw_usage("--timings - writes to stdout as output " + job.output + " does, must be a file");
  }
  return job;
}

void check_single(const ImageOptions& options, const StillJob& job) {
  check_writable(options, job.output);
  for (const auto& [option, path] :
       {std::pair("plot", options.plot), std::pair("plot-scalers", options.plot_scalers)}) {
    if (path.empty()) continue;
    if (extension_of(path) != "png") {
      throw_usage(std::string("--") + option + " is '" + path + "', must be a name with .png");
    }
    refuse_same_file(job.input, path);
  }
  if (options.plot_channels && options.plot.empty()) {
    throw_usage("--plot-rgb has no plot to draw into, must stand with --plot FILE.png");
  }
  refuse_same_file(job.input, job.output);
  for (const std::string& written : written_files(options.common))
    refuse_same_file(job.input, written);
  std::vector<NamedOutput> outputs = named_outputs(options.common, job.output);
  outputs.insert(outputs.end(),
                 {{"--plot", options.plot}, {"--plot-scalers", options.plot_scalers}});
  refuse_shared_outputs(outputs);
  if (!options.plot_scalers.empty() && options.common.equalize.curve) {
    throw_usage("--plot-scalers compares scalers, must be left out with --curve-from");
  }
  check_filters(options.common);
  const InputFiles files = files_of(options.common);
  for (const std::string& written : {job.output, options.plot, options.plot_scalers})
    files.refuse(written);
  for (const std::string& written : written_files(options.common))
    files.refuse(written);
}

/// Stills found, and folders that could not be read.
struct StillPlan {
  std::vector<StillJob> jobs;
  std::vector<Unreadable> unreadable;
  std::size_t others = 0;  ///< number of files in folders that are no stills
};

void add_folder(const std::string& folder, const fs::path& out, StillPlan& plan) {
  const FolderListing listing = list_folder(folder);
  plan.unreadable.insert(plan.unreadable.end(), listing.unreadable.begin(),
                         listing.unreadable.end());
  // Results of an earlier run are no inputs.
  const bool all = is_below(folder, out);
  for (const FolderEntry& entry : listing.entries) {
    const std::string name = entry.path.filename().string();
    if (!all && is_below(entry.path, out)) continue;
    if (name.starts_with('.') || is_half_written(entry.path) || !knows_still(name)) {
      ++plan.others;
      continue;
    }
    const fs::path below = entry.path.lexically_relative(folder);
    plan.jobs.push_back({entry.path.string(), (out / below).lexically_normal().string()});
  }
}

StillPlan plan_folder(const ImageOptions& options) {
  if (!options.output.empty())
    throw_usage("-o names one still and --out a folder, must be one of them");
  if (options.files.empty()) throw_usage("IN is missing, must be stills or folders with --out DIR");
  for (const auto& [given, name] :
       {std::pair(!options.plot.empty(), "plot"), std::pair(options.plot_channels, "plot-rgb"),
        std::pair(!options.plot_scalers.empty(), "plot-scalers"),
        std::pair(!options.common.timings.empty(), "timings"),
        std::pair(options.common.verify.has_value(), "verify"),
        std::pair(options.repeat != 1, "repeat")}) {
    if (given)
      throw_usage(std::string("--") + name + " is of one still, must be left out with --out");
  }
  std::error_code ignored;
  if (fs::exists(options.out, ignored) && !fs::is_directory(options.out, ignored)) {
    throw Error(ExitCode::cannot_create, "--out " + options.out + " is a file, must be a folder");
  }
  StillPlan plan;
  const fs::path out(options.out);
  for (const std::string& input : options.files) {
    if (is_stream(input))
      throw_usage("input - is one still, must have an output of its own, -o OUT");
    if (fs::is_directory(input, ignored)) {
      add_folder(input, out, plan);
    } else {
      plan.jobs.push_back({input, (out / fs::path(input).filename()).lexically_normal().string()});
    }
  }
  if (plan.jobs.empty() && plan.unreadable.empty()) {
    throw Error(ExitCode::no_input,
                "no still is in " + options.files.front() + ", must hold at least one");
  }
  InputFiles inputs = files_of(options.common);
  OutputNames names;
  for (const StillJob& job : plan.jobs)
    inputs.add(job.input);
  for (const StillJob& job : plan.jobs) {
    names.take(job.output, job.input);
    inputs.refuse(job.output);
    require_free_output(job.output, options.overwrite);
  }
  if (!options.common.curve_to.empty()) inputs.refuse(options.common.curve_to);
  if (options.still.quality &&
      std::none_of(plan.jobs.begin(), plan.jobs.end(),
                   [](const StillJob& job) { return holds_quality(job.output); })) {
    throw_usage("--quality is of JPEG and WebP, must be left out where no still is one");
  }
  check_filters(options.common);
  return plan;
}

/// Warns of options over time that were asked for.
void warn_of_time(const CommonOptions& common) {
  std::string idle;
  const auto note = [&idle](const std::string& key, const std::string& value,
                            const std::string& name) {
    const bool of_time = key == "temporal" || key.ends_with("-ms");
    if (of_time && value != "0") idle += (idle.empty() ? "" : ", ") + name;
  };
  for (const GivenKnob& knob : common.knobs)
    if (knob.by == GivenBy::flag) note(knob.name, knob.value, "--" + knob.name);
  for (const FilterSpec& spec : common.filters) {
    if (common.filters_of_preset) break;
    for (const auto& [key, value] : spec.options)
      note(key, value, key + " of " + spec.name);
  }
  if (!idle.empty()) logger().warn("{}: a still has no frames before it, not used", idle);
}

/// Starts the log, and says what of the options has no effect. Throws as check_device() does.
void begin(const CommonOptions& common) {
  start_logging(common);
  warn_of_idle_keys(common);
  warn_of_time(common);
  check_device(common);
}

// ---- one still ----------------------------------------------------------------------------------

/// Filtered still, and the memory that holds it.
struct Result {
  std::unique_ptr<FramePool> pool;
  FramePtr frame;
  std::string backend;  ///< backend that ran, for the log
  std::optional<CurveSum> curves;
};

/// Returns ", must be gray8 or gray16_le": the usual formats of stills that the filters take.
std::string forms_taken(const Processor& processor) {
  std::string forms;
  for (const PixelFormat form : {PixelFormat::gray8, PixelFormat::gray16_le, PixelFormat::bgr}) {
    if (!processor.accepts(form)) continue;
    forms += (forms.empty() ? ", must be " : " or ") + std::string(to_string(form));
  }
  return forms;
}

/// What the filters make of such stills. Throws Error(usage) that names the still where they do not
/// take it, or options do not fit its size.
ImageDesc configure_for(Processor& processor, const ImageDesc& still, const CommonOptions& common,
                        const std::string& name) {
  if (!processor.accepts(still.format)) {
    const bool too_deep =
        has_deep_samples(still.format) && !processor.accepts(PixelFormat::gray16_le);
    throw_usage(name + ": filter " + filters_text(common) + " does not take " +
                std::string(to_string(still.format)) + " stills" +
                (too_deep ? ", must have 8 bits a sample" : forms_taken(processor)));
  }
  try {
    return processor.configure(still);
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage) throw;
    throw Error(error.code(), name + ": " + error.what());
  }
}

/// `name` is the still's, for what is said of it.
Result filter_still(const ConstImageView& still, const std::string& name,
                    const CommonOptions& common, int repeat, double read_ms,
                    Measurements* measurements) {
  const std::unique_ptr<Processor> processor = make_processor(common);
  const ImageDesc desc = configure_for(*processor, still.desc, common, name);
  if (measurements != nullptr) {
    StreamInfo info;
    info.desc = desc;
    info.frame_rate = kStillRate;
    measurements->open(info);
  }
  FramePool inputs(still.desc, 1, true);
  Result result{std::make_unique<FramePool>(desc, 1), nullptr, processor->description(), {}};
  for (int i = 0; i < repeat; ++i) {
    result.frame.reset();
    FramePtr in = inputs.acquire();
    in->image = still;
    in->captured = Clock::now();
    in->timings.capture_ms = read_ms;
    processor->submit(std::move(in), result.pool->acquire(), true, false);
    result.frame = processor->collect(true);
    result.frame->index = static_cast<std::uint64_t>(i);
    result.frame->timings.latency_ms = milliseconds(Clock::now() - result.frame->captured);
    if (measurements != nullptr && i + 1 < repeat) measurements->add_frame(*result.frame);
  }
  result.curves = processor->curve_sum();
  return result;
}

int plot_bins(const EqualizeParams& params) {
  return params.bins == 0 ? kMaxPlotBins : std::min(params.bins, kMaxPlotBins);
}

std::string result_title(const CommonOptions& common, PixelFormat format) {
  if (!common.filters.empty()) return filters_text(common);
  const EqualizeParams& params = common.equalize;
  if (common.preset != "plain") return "Equalized, preset " + common.preset;
  const bool plain = params.strength == 1 && params.clip_limit == 0 && params.floor == 0 &&
                     params.ceiling == 100 && params.max_gain == 0 && params.min_gain == 0 &&
                     params.stretch == 1 && params.saturation == 1 && !params.curve;
  const int bins = params.bins == 0 ? 1 << traits(format).depth : params.bins;
  return std::string("Equalized, ") + (plain ? "plain, " : "") +
         std::string(enum_name(params.scaler)) + ", " + std::to_string(bins) + " bins";
}

void plot_scalers(const ConstImageView& still, const std::string& name,
                  const ImageOptions& options) {
  std::vector<Result> results;
  std::vector<plot::PlotColumn> columns{{"Original", still}};
  for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max}) {
    CommonOptions common = options.common;
    common.equalize.scaler = scaler;
    std::erase_if(common.knobs, [](const GivenKnob& knob) { return knob.name == "scaler"; });
    common.knobs.push_back({"scaler", std::string(enum_name(scaler)), "", GivenBy::flag});
    for (FilterSpec& spec : common.filters) {
      std::erase_if(spec.options, [](const auto& option) { return option.first == "scaler"; });
    }
    results.push_back(filter_still(still, name, common, 1, 0, nullptr));
    columns.push_back({std::string(enum_name(scaler)), results.back().frame->image});
  }
  plot::draw_plot(
      columns, {options.plot_scalers, plot_bins(options.common.equalize), options.plot_channels});
}

Image read_for(const StillJob& job, StillNotes& notes) {
  Image still = read_still(job.input, notes);
  if (notes.pages > 1) {
    logger().warn("{}: holds {} pages or frames, only the first is taken", job.input_name(),
                  notes.pages);
  }
  return still;
}

/// Returns why the result lacks the still's transparency; empty where it keeps it or there was
/// none.
std::string why_opaque(const ConstImageView& still, PixelFormat result, const std::string& output) {
  if (is_opaque(still)) return {};
  if (!has_alpha(result))
    return "the filters make " + std::string(to_string(result)) + " pictures of it";
  if (still_holds_alpha(output)) return {};
  return "." + extension_of(output) + " holds none; .png does";
}

void write_for(const StillJob& job, const ImageOptions& options, const ConstImageView& still,
               const ConstImageView& image, const StillNotes& notes) {
  const std::string lost = write_still(job.output, image, notes, options.still);
  if (!lost.empty()) logger().warn("{}: does not keep the input's {}", job.output_name(), lost);
  const std::string opaque = why_opaque(still, image.desc.format, job.output);
  if (!opaque.empty()) logger().warn("{}: its transparency is lost, {}", job.input_name(), opaque);
}

void run_single(const ImageOptions& options, const StillJob& job) {
  const auto start = Clock::now();
  StillNotes notes;
  const Image still = read_for(job, notes);
  const double read_ms = milliseconds(Clock::now() - start);
  if (!options.plot.empty() || !options.plot_scalers.empty()) plot::check_gnuplot();

  Measurements measurements(options.common);
  CurveFile curves(options.common.curve_to);
  const ConstImageView view = still.view();
  const auto filtering = Clock::now();
  const Result result =
      filter_still(view, job.input, options.common, options.repeat, read_ms, &measurements);
  const double filter_s = milliseconds(Clock::now() - filtering) / 1000;
  measurements.add_result(*result.frame);
  if (!options.plot.empty()) {
    plot::draw_plot(
        {{"Original", view}, {result_title(options.common, view.desc.format), result.frame->image}},
        {options.plot, plot_bins(options.common.equalize), options.plot_channels});
  }
  if (!options.plot_scalers.empty()) plot_scalers(view, job.input, options);
  const auto writing = Clock::now();
  write_for(job, options, view, result.frame->image, notes);
  result.frame->timings.sink_ms = milliseconds(Clock::now() - writing);
  measurements.add_frame(*result.frame);
  measurements.finish();
  curves.add(result.curves);
  curves.finish();
  const std::string preset = preset_text(options.common);
  logger().info("{}; {}{}{}", result.backend, filters_text(options.common),
                preset.empty() ? "" : "; ", preset);
  if (!options.common.quiet && (options.common.wants_timings() || options.repeat != 1)) {
    const auto times = static_cast<std::uint64_t>(options.repeat);
    RunResult summary;
    summary.frames_in = summary.frames_out = times;
    summary.elapsed_s = filter_s;
    std::fputs(measurements.table(summary).c_str(), stderr);
  }
}

ExitCode run_one(const ImageOptions& options) {
  StillJob job = single_job(options);
  if (!is_stream(job.input) && !is_stream(job.output)) {
    check_single(options, job);
    begin(options.common);
    require_input(job.input);
    require_free_output(job.output, options.overwrite);
    run_single(options, job);
    return ExitCode::done;
  }
  begin(options.common);
  const std::string output = job.output;
  if (!is_stream(output)) check_writable(options, output);
  const Spool in;
  const Spool out;
  try {
    if (is_stream(job.input)) {
      job.input = in.take_stdin();
      job.from_stdin = true;
    } else {
      require_input(job.input);
    }
    if (is_stream(output)) {
      job.output =
          out.file(output == "-" ? extension_of(job.input) : output.substr(0, output.size() - 2));
      job.to_stdout = true;
    } else {
      require_free_output(output, options.overwrite);
    }
    check_single(options, job);
    run_single(options, job);
    if (is_stream(output)) Spool::give_to_stdout(job.output);
  } catch (const Error& error) {
    throw in.about_stream(out.about_stream(error));
  }
  return ExitCode::done;
}

// ---- many stills --------------------------------------------------------------------------------

/// Throws Error(usage) for a result of floats, as results in a folder keep the names of pictures.
void refuse_floats(const StillJob& job, PixelFormat format) {
  const std::string extension = extension_of(job.output);
  if (traits(format).model != ColorModel::real || extension == "tif" || extension == "tiff") return;
  throw_usage("the result is " + std::string(to_string(format)) +
              ", floats that no picture holds, and results keep their names "
              "with --out; filter one still, with an output named .npy or .tif");
}

ExitCode run_folder(const ImageOptions& options) {
  const StillPlan plan = plan_folder(options);
  begin(options.common);
  // A backend that is not there, or lacks an option, would fail every still.
  (void)make_processor(options.common);
  CurveFile curves(options.common.curve_to);
  std::string backend;
  std::optional<ExitCode> first_failure;
  std::size_t failed = plan.unreadable.size();
  const auto fail = [&](ExitCode code, const std::string& text) {
    logger().error("{}", text);
    if (!first_failure) first_failure = code;
  };
  for (const auto& [folder, reason] : plan.unreadable)
    fail(ExitCode::no_input, folder + ": cannot be read: " + reason);
  for (const StillJob& job : plan.jobs) {
    try {
      refuse_videos(job.input);
      StillNotes notes;
      const Image still = read_for(job, notes);
      const Result result = filter_still(still.view(), job.input, options.common, 1, 0, nullptr);
      refuse_floats(job, result.frame->image.desc.format);
      std::error_code error;
      fs::create_directories(fs::path(job.output).parent_path(), error);
      if (error) {
        throw Error(ExitCode::cannot_create,
                    job.output + ": its folder cannot be created: " + error.message());
      }
      write_for(job, options, still.view(), result.frame->image, notes);
      curves.add(result.curves);
      backend = result.backend;
    } catch (const Error& error) {
      const std::string text = error.what();
      const bool named =
          text.find(job.input) != std::string::npos || text.find(job.output) != std::string::npos;
      // A wrong parameter would fail all later stills too.
      if (error.code() == ExitCode::usage && !named && backend.empty()) throw;
      fail(error.code(), named ? text : job.input + ": " + text);
      ++failed;
    }
  }
  const std::size_t done = plan.jobs.size() + plan.unreadable.size() - failed;
  if (done > 0) {
    curves.finish();
    logger().info("{}; {}", backend, filters_text(options.common));
  }
  logger().info("{} written, {} failed, {} left out", counted(done, "still"), failed,
                counted(plan.others, "other file"));
  if (!first_failure) return ExitCode::done;
  return done > 0 ? ExitCode::partial : *first_failure;
}

ExitCode run_image(const ImageOptions& options) {
  return options.out.empty() ? run_one(options) : run_folder(options);
}

OptionGroup image_group(ImageOptions& options) {
  OptionGroup group{"Still", {}, false};
  Option output = text_option("output", "OUT",
                              "the filtered still, as the second name; - is stdout in the input's "
                              "format, png:- in another (default: none)",
                              options.output);
  output.letter = 'o';
  group.options = {
      output,
      text_option("out", "DIR",
                  "folder of the results, made if missing: takes any number of stills and folders, "
                  "keeps their names and mirrors folders (default: none)",
                  options.out),
      {"quality", "N", "of JPEG and WebP, 1 to 100 (default: 95 for JPEG, WebP without loss)",
       [&](const std::string& text) {
         options.still.quality.reset();
         if (!text.empty())
           options.still.quality = static_cast<int>(read_integer("quality", text, 1, 100));
       }},
      overwrite_option(options.overwrite),
      text_option("plot", "FILE.png",
                  "draw original and result above their histograms of V, with the cumulative sum "
                  "in red (default: none)",
                  options.plot),
      switch_option("plot-rgb",
                    "draw the histograms of R, G and B behind those of V (default: off)",
                    options.plot_channels),
      text_option("plot-scalers", "FILE.png",
                  "draw original, max-abs and min-max side by side (default: none)",
                  options.plot_scalers),
      integer_option("repeat",
                     "filter the still N times, 1 to 1000000, and show its times (default: 1)", 1,
                     kMaxRepeats, options.repeat),
      curve_to_option(options.common)};
  return group;
}

}  // namespace

Command make_image_command() {
  const auto options = std::make_shared<ImageOptions>();
  Command command;
  command.name = "image";
  command.summary = "filter stills";
  command.details =
      "  A still is turned as its EXIF orientation says. With --out, one that fails is named and\n"
      "  counted, and the exit code is 3.\n"
      "  Nothing is bounded here unless asked for: the plain curve turns a dark, noisy photograph\n"
      "  into a field of noise that is of no use. --preset stable bounds it, as run does.\n";
  command.positionals = {
      {"IN",
       "a still: PNM always; PNG, JPEG, BMP, TIFF and WebP where OpenCV is built in; - is stdin",
       [options](const std::string& text) { options->files.insert(options->files.begin(), text); }},
      {"OUT",
       "the filtered still; its extension is its format; .npy or .tif where the result is "
       "floats; - is stdout; with --out, more stills and folders",
       [options](const std::string& text) { options->files.push_back(text); },
       true,
       false,
       {"output", "out"}}};
  command.groups = {image_group(*options), filter_group(options->common),
                    measuring_group(options->common), machine_group(options->common),
                    config_group(&options->common)};
  command.examples =
      "equalux image in.png out.png --plot figure.png    a still, and its histograms\n"
      "equalux image in.png out.png --preset stable      less noise than plain equalization\n"
      "equalux image in.png out.png --filter clahe       a curve for each part of the picture\n"
      "equalux image photos/ --out better/               every still of a folder\n"
      "equalux image - png:-                             from stdin to stdout\n"
      "equalux image eye.jpg mask.png --filter vessel:channel=green\n";
  command.usual_options = {"output",       "out",    "quality",  "overwrite",  "preset",
                           "list-presets", "filter", "strength", "clip-limit", "plot",
                           "backend",      "config", "quiet"};
  command.note = [options](const Settings& given) { note_knobs(options->common, given); };
  command.run = [options] { return run_image(*options); };
  return command;
}

}  // namespace equalux::cli

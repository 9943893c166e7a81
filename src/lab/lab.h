#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <equalux/image.h>
#include <equalux/params.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/core/processor.h"
#include "src/lab/experiment.h"
#include "src/lab/gpu_lab.h"
#include "src/lab/options.h"
#include "src/lab/table.h"

/// What an experiment has to work with: its options, its image, the machine, and the CSV that it
/// fills.
namespace equalux::cli::lab {

/// One run of an experiment. One thread at a time.
class Lab {
 public:
  /// Reads the image and asks for the device. Throws Error(usage, no_input, bad_input) for the
  /// image, and Error(unavailable) where a GPU is needed and none answers.
  Lab(const Experiment& experiment, const LabOptions& options);
  ~Lab();
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  [[nodiscard]] const LabOptions& options() const { return options_; }
  /// Empty where an experiment goes through sizes and no image was named.
  [[nodiscard]] const Image& image() const { return image_; }
  [[nodiscard]] const std::vector<FrameSize>& sizes() const;
  /// The image scaled to a size, or the test scene drawn at it.
  [[nodiscard]] Image image_of(const FrameSize& size) const;
  [[nodiscard]] std::uint64_t pixels() const;

  /// The knobs that the user set, for the chain that the user set or this one.
  [[nodiscard]] EqualizeParams params(Chain unless_set) const;
  /// The user's knobs for experiments that are about the staged chain.
  [[nodiscard]] EqualizeParams staged_params() const;
  [[nodiscard]] int repeats() const;
  [[nodiscard]] Budget budget() const { return {repeats(), options_.cell_seconds}; }

  /// The GPU; empty where the CPU alone is measured.
  [[nodiscard]] const std::optional<gpu_lab::DeviceFacts>& gpu() const { return gpu_; }
  /// The GPU's number. There has to be a GPU.
  [[nodiscard]] int device() const { return gpu_->device.number; }
  /// Whether --backend leaves the CPU in.
  [[nodiscard]] bool measures_cpu() const { return options_.common.backend != Backend::cuda; }
  [[nodiscard]] int cpu_threads() const;
  /// Backends to measure, "cpu" before "cuda".
  [[nodiscard]] std::vector<Backend> backends() const;

  /// A line of the CSV's head; before begin().
  void fact(std::string key, std::string value);
  /// What stands in a cell that was measured often, and how often.
  void repeat_facts(std::string statistic);
  /// Says in head and log what cannot be measured here.
  void absent(const std::string& what, const std::string& why);
  /// Creates the CSV.
  void begin(std::vector<std::string> columns);
  void add(std::vector<std::string> cells);
  /// Tells the terminal what comes next, of `count` in all; nothing where there is none.
  void progress(std::size_t done, std::size_t count, const std::string& what);
  /// Closes the CSV.
  const Table& finish();

  /// DIR/EXPERIMENT, to which an extension is put.
  [[nodiscard]] std::string stem() const;

 private:
  void read_image();
  void choose_gpu();
  void add_machine_facts();

  const Experiment& experiment_;
  LabOptions options_;
  std::string image_name_;
  Image image_;
  std::optional<gpu_lab::DeviceFacts> gpu_;
  Table head_;
  std::optional<TableWriter> writer_;
  bool line_shown_ = false;
};

/// A still, or the first frame of `test:WxH`.
[[nodiscard]] Image read_lab_image(const std::string& name);

/// One image through the product's processor, again and again. `image` stays the caller's. One
/// thread at a time.
class OneStill {
 public:
  /// Throws as make_processor() does.
  OneStill(const ConstImageView& image, const EqualizeParams& params, Backend backend,
           const CommonOptions& common);

  /// Waits for the result.
  void filter();
  /// The last result; filter() was called.
  [[nodiscard]] Image take_result();

 private:
  ConstImageView image_;
  std::unique_ptr<Processor> processor_;
  std::unique_ptr<FramePool> inputs_;
  std::unique_ptr<FramePool> outputs_;
  FramePtr result_;
};

/// A filtered copy of an image, on one backend.
[[nodiscard]] Image filtered(const ConstImageView& image, const EqualizeParams& params,
                             Backend backend, const LabOptions& options);
/// Whether a GPU gave the CPU's bytes: what it took means something only then.
class SameBytes {
 public:
  /// What the CPU makes of the lab's image; of `params` what changes bytes is taken.
  SameBytes(const Lab& lab, const EqualizeParams& params);
  /// "yes" or "no"
  [[nodiscard]] std::string text(const Image& result) const;

 private:
  std::string expected_;
};

/// A sentence about the column `same_bytes`.
[[nodiscard]] std::string same_bytes_line(const Table& table);

/// What a CPU filter gives of an image, for which it is configured here.
[[nodiscard]] Image filtered(Filter& filter, const ConstImageView& image);

/// Milliseconds of calls on the CPU: allocate, filter.
[[nodiscard]] std::vector<double> time_cpu_calls(const ConstImageView& image,
                                                 const EqualizeParams& params, int threads,
                                                 const Budget& budget);

/// Writes to memory that nobody has touched yet, which costs whoever does so first.
void touch(const ImageView& image);

/// Calls of a CPU filter on one image, for which it is configured before; none of them has kernels.
[[nodiscard]] gpu_lab::CallTimes time_cpu_filter(Filter& filter, const ConstImageView& image,
                                                 const Budget& budget);

/// Whether all samples of two images of one desc are the same.
[[nodiscard]] bool same_samples(const ConstImageView& a, const ConstImageView& b);

/// "8x4x2"
[[nodiscard]] std::string extent_text(const Extent3& extent);

}  // namespace equalux::cli::lab

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

/// Run of an experiment: its options, image, machine, and the CSV that it fills.
namespace equalux::cli::lab {

/// Environment of one run. One thread at a time.
class Lab {
 public:
  /// Reads the image and chooses the device. Throws Error(usage, no_input, bad_input) for the
  /// image, and Error(unavailable) where a GPU is needed and none works.
  Lab(const Experiment& experiment, const LabOptions& options);
  ~Lab();
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  [[nodiscard]] const LabOptions& options() const { return options_; }
  /// Returns the image; empty for an experiment over sizes without a named image.
  [[nodiscard]] const Image& image() const { return image_; }
  [[nodiscard]] const std::vector<FrameSize>& sizes() const;
  /// Returns the image scaled to a size, or the test scene drawn at it.
  [[nodiscard]] Image image_of(const FrameSize& size) const;
  [[nodiscard]] std::uint64_t pixels() const;

  /// Returns the user's parameters, with the chain that the user set or else this one.
  [[nodiscard]] EqualizeParams params(Chain unless_set) const;
  /// Returns the user's parameters for experiments on the staged chain.
  [[nodiscard]] EqualizeParams staged_params() const;
  [[nodiscard]] int repeats() const;
  [[nodiscard]] Budget budget() const { return {repeats(), options_.cell_seconds}; }

  /// Returns the GPU; empty where the CPU alone is measured.
  [[nodiscard]] const std::optional<gpu_lab::DeviceFacts>& gpu() const { return gpu_; }
  /// Returns the GPU's number; requires a GPU.
  [[nodiscard]] int device() const { return gpu_->device.number; }
  /// Returns false where --backend excludes the CPU.
  [[nodiscard]] bool measures_cpu() const { return options_.common.backend != Backend::cuda; }
  [[nodiscard]] int cpu_threads() const;
  /// Returns the backends to measure, "cpu" before "cuda".
  [[nodiscard]] std::vector<Backend> backends() const;

  /// Adds a line to the CSV's head; call before begin().
  void fact(std::string key, std::string value);
  /// Adds facts about cells with repeated measurements: the statistic, and the number of repeats.
  void repeat_facts(std::string statistic);
  /// Notes in the CSV's head and the log what cannot be measured here.
  void absent(const std::string& what, const std::string& why);
  /// Creates the CSV.
  void begin(std::vector<std::string> columns);
  void add(std::vector<std::string> cells);
  /// Shows on the terminal the next of `count` steps; nothing without a terminal.
  void progress(std::size_t done, std::size_t count, const std::string& what);
  /// Closes the CSV.
  const Table& finish();

  /// Returns DIR/EXPERIMENT, without an extension.
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

/// Reads a still, or draws the first frame of `test:WxH`.
[[nodiscard]] Image read_lab_image(const std::string& name);

/// Repeated calls of the product's processor on one image, which must outlive it. One thread at a
/// time.
class OneStill {
 public:
  /// Makes the processor. Throws as make_processor() does.
  OneStill(const ConstImageView& image, const EqualizeParams& params, Backend backend,
           const CommonOptions& common);

  /// Filters the image and waits for the result.
  void filter();
  /// Returns the last result; requires a call of filter().
  [[nodiscard]] Image take_result();

 private:
  ConstImageView image_;
  std::unique_ptr<Processor> processor_;
  std::unique_ptr<FramePool> inputs_;
  std::unique_ptr<FramePool> outputs_;
  FramePtr result_;
};

/// Returns a copy of the image, filtered on one backend.
[[nodiscard]] Image filtered(const ConstImageView& image, const EqualizeParams& params,
                             Backend backend, const LabOptions& options);
/// Check that a GPU's result has the CPU's bytes, without which its times mean nothing.
class SameBytes {
 public:
  /// Computes the CPU's result of the lab's image, with those of `params` that change bytes.
  SameBytes(const Lab& lab, const EqualizeParams& params);
  /// Returns "yes" or "no".
  [[nodiscard]] std::string text(const Image& result) const;

 private:
  std::string expected_;
};

/// Returns a sentence on the column `same_bytes`.
[[nodiscard]] std::string same_bytes_line(const Table& table);

/// Returns the result of a CPU filter, which it configures for the image.
[[nodiscard]] Image filtered(Filter& filter, const ConstImageView& image);

/// Times calls on the CPU, milliseconds: allocation and filter.
[[nodiscard]] std::vector<double> time_cpu_calls(const ConstImageView& image,
                                                 const EqualizeParams& params, int threads,
                                                 const Budget& budget);

/// Writes to all pages, so that page faults do not count as the filter's time.
void touch(const ImageView& image);

/// Times a CPU filter on one image, which it configures first; `kernels_ms` stays empty.
[[nodiscard]] gpu_lab::CallTimes time_cpu_filter(Filter& filter, const ConstImageView& image,
                                                 const Budget& budget);

/// Returns true where all samples of two images of one desc are equal.
[[nodiscard]] bool same_samples(const ConstImageView& a, const ConstImageView& b);

/// Returns such as "8x4x2".
[[nodiscard]] std::string extent_text(const Extent3& extent);

}  // namespace equalux::cli::lab

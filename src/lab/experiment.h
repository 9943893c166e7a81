#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/lab/frame_size.h"
#include "src/lab/options.h"
#include "src/lab/table.h"
#include "src/plot/figure.h"

/// Experiment of `equalux lab`: it measures into a CSV, from which tables and plots are made.
namespace equalux::cli::lab {

class Lab;

/// Report made of a table, on any machine.
struct Report {
  std::string markdown;             ///< text after the heading and the facts
  std::vector<plot::Panel> panels;  ///< panels of one picture; none = nothing to draw
};

enum class Needs : std::uint8_t {
  gpu,
  either,  ///< without a GPU, measures the CPU alone with a notice
};

/// Options of the chain that an experiment reads all.
enum class ChainOptions : std::uint8_t {
  none,
  curve,  ///< without those of the staged chain, which change no bytes
  all,
};

struct Experiment {
  std::string_view name;  ///< one of experiment_lines()
  Needs needs = Needs::gpu;
  int repeats = 9;  ///< default of --repeat
  void (*measure)(Lab&) = nullptr;
  Report (*report)(const Table&) = nullptr;
  ChainOptions chain = ChainOptions::none;
  /// Names of other options that it reads, but --out, which all do.
  std::vector<std::string_view> options = {};
  /// Default of --sizes; empty = the size of the image alone.
  std::vector<FrameSize> sizes = {};
  /// Description of the input where no image is named and sizes are given.
  std::string_view scene = "the test scene, drawn at each size";

  [[nodiscard]] bool reads(const GivenOption& option) const;
};

/// Returns all experiments, in the order of the reports.
[[nodiscard]] const std::vector<Experiment>& experiments();
/// Finds an experiment by name; null where there is none.
[[nodiscard]] const Experiment* find_experiment(std::string_view name);

// Measurement and report of each experiment. A measure_ function throws Error; a report_ function
// throws Error(bad_input) for a table of another experiment.
void measure_sweep(Lab& lab);
[[nodiscard]] Report report_sweep(const Table& table);
void measure_threads(Lab& lab);
[[nodiscard]] Report report_threads(const Table& table);
void measure_scans(Lab& lab);
[[nodiscard]] Report report_scans(const Table& table);
void measure_stages(Lab& lab);
[[nodiscard]] Report report_stages(const Table& table);
void measure_access(Lab& lab);
[[nodiscard]] Report report_access(const Table& table);
void measure_histograms(Lab& lab);
[[nodiscard]] Report report_histograms(const Table& table);
void measure_scalers(Lab& lab);
[[nodiscard]] Report report_scalers(const Table& table);
void measure_hashes(Lab& lab);
[[nodiscard]] Report report_hashes(const Table& table);
void measure_load(Lab& lab);
[[nodiscard]] Report report_load(const Table& table);
void measure_timeline(Lab& lab);
[[nodiscard]] Report report_timeline(const Table& table);
void measure_convolution(Lab& lab);
[[nodiscard]] Report report_convolution(const Table& table);
void measure_hessian(Lab& lab);
[[nodiscard]] Report report_hessian(const Table& table);
void measure_vessel(Lab& lab);
[[nodiscard]] Report report_vessel(const Table& table);

/// Writes STEM.md, then STEM.png and STEM.svg. Throws Error(cannot_create, write_failed), and
/// Error(unavailable) after the Markdown where gnuplot is missing.
void write_report(const Table& table, const Report& report, const std::string& stem);

}  // namespace equalux::cli::lab

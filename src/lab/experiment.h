#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/lab/frame_size.h"
#include "src/lab/table.h"
#include "src/plot/figure.h"

/// An experiment of `equalux lab`: it measures into a CSV, and everything else is made of that CSV.
namespace equalux::cli::lab {

class Lab;

/// What is made of a table, on any machine.
struct Report {
  std::string markdown;             ///< what follows the heading and the facts
  std::vector<plot::Panel> panels;  ///< of one picture; none = there is nothing to draw
};

enum class Needs : std::uint8_t {
  gpu,
  either,  ///< without a GPU it measures the CPU alone and says so
};

struct Experiment {
  std::string_view name;
  std::string_view summary;  ///< one line
  Needs needs = Needs::gpu;
  int repeats = 9;  ///< without --repeat
  void (*measure)(Lab&) = nullptr;
  Report (*report)(const Table&) = nullptr;
  /// Sizes that it goes through without --sizes; empty = it has the image's alone.
  std::vector<FrameSize> sizes = {};
  /// What it looks at then, where no image is named.
  std::string_view scene = "the test scene, drawn at each size";
};

/// All of them, in the order of the reports that they repeat.
[[nodiscard]] const std::vector<Experiment>& experiments();
/// Null where none is called so.
[[nodiscard]] const Experiment* find_experiment(std::string_view name);

// One file each. A measure_ throws Error; a report_ throws Error(bad_input) for a table that is not
// of its experiment.
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

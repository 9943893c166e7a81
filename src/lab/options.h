#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/params.h>

#include "src/cli/command.h"
#include "src/cli/options.h"
#include "src/lab/convolution/kernel.h"
#include "src/lab/frame_size.h"

/// Options of `equalux lab`. equalux has them too, for the table [lab] of config files and for
/// messages that name an option's command.
namespace equalux::cli::lab {

/// Option of the command line that only some experiments read.
struct GivenOption {
  enum class Of : std::uint8_t {
    experiment,
    curve,   ///< chain, whichever it is
    staged,  ///< staged chain alone
  };
  std::string name;
  Of of;
};

struct LabOptions {
  CommonOptions common;  ///< machine, and parameters of the chain
  std::optional<Chain> chain;
  std::string experiment;
  std::string input;  ///< image, or for `lab plot` a CSV
  std::string out = "lab";
  int repeat = 0;             ///< 0 = the experiment's default
  double cell_seconds = 0.5;  ///< time limit of the measurements of one value
  int most_bins = kMaxBins;
  int shift_value = -120;
  int call_ms = 1000;
  int frames = 16;
  std::vector<FrameSize> sizes;         ///< empty = the experiment's default
  std::string kernel_text = "sharpen";  ///< kernel of the report's Figure 8
  ConvolveParams kernel = read_kernel(kernel_text);
  std::string hessian_text = "channel=green";
  HessianParams hessian = read_hessian(hessian_text);
  std::string vessel_text = "channel=green";
  VesselParams vessel = read_vessel(vessel_text);
  int images = 10;                 ///< pictures per size, as in the report
  std::vector<GivenOption> given;  ///< in the order of --help
};

/// Name of an experiment and what it measures, in one line.
struct ExperimentLine {
  std::string_view name;
  std::string_view summary;
};
/// Returns the lines of all experiments, in the order of the reports. Builds without equalux-lab
/// have them too, for the manual page and shells' completions.
[[nodiscard]] std::span<const ExperimentLine> experiment_lines();
/// Argument in an experiment's place that draws the plots of a table again.
inline constexpr std::string_view kPlot = "plot";

/// Makes `equalux lab`, whose arguments and options go to `options`; without run().
[[nodiscard]] Command lab_command(const std::shared_ptr<LabOptions>& options);

}  // namespace equalux::cli::lab

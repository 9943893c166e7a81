#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <equalux/params.h>

#include "src/cli/command.h"
#include "src/cli/options.h"
#include "src/lab/convolution/kernel.h"
#include "src/lab/frame_size.h"

/// The options of `equalux lab`. The program equalux has them too, for the table [lab] of config
/// files and for lines that name an option's command.
namespace equalux::cli::lab {

struct LabOptions {
  CommonOptions common;  ///< machine, and the knobs of the chain
  std::optional<Chain> chain;
  std::string experiment;
  std::string input;  ///< image, or the CSV of `lab plot`
  std::string out = "lab";
  int repeat = 0;             ///< 0 = the experiment's own
  double cell_seconds = 0.5;  ///< when a value's measurements end, however few they are
  int most_bins = kMaxBins;
  int shift_value = -120;
  int call_ms = 1000;
  int frames = 16;
  std::vector<FrameSize> sizes;         ///< empty = the experiment's own
  std::string kernel_text = "sharpen";  ///< as in the report's Figure 8
  ConvolveParams kernel = read_kernel(kernel_text);
  std::string hessian_text = "channel=green";
  HessianParams hessian = read_hessian(hessian_text);
  std::string vessel_text = "channel=green";
  VesselParams vessel = read_vessel(vessel_text);
  int images = 10;  ///< pictures a size, as the report has them
};

/// `equalux lab` with arguments and options, which are set in `options`; without run().
[[nodiscard]] Command lab_command(const std::shared_ptr<LabOptions>& options);

}  // namespace equalux::cli::lab

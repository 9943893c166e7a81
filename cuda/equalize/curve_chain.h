#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cuda/equalize/excluded_pixels.h"
#include "src/equalize/equalize_chain.h"
#include "src/equalize/tone/tone_control.h"

/// Common parts of the GPU chains that compute curves.
namespace equalux::cuda {

/// Limits and history of a stream's curves, the sums of its curves, and the pixels that they leave
/// out. History and sums are in
/// device memory of the device that was current when the chain was configured. One thread at a
/// time; functions that read or write them here wait for the frames in flight.
class CurveChain : public EqualizeChain {
 public:
  /// Changes parameters from the next frame on. Other bins and fixed curves wait for the frames in
  /// flight; other limits do not.
  void update(const EqualizeParams& params) override;
  void reset() override;
  /// Saves the history and the surround, including the frames in flight.
  [[nodiscard]] std::string save() const override;
  void load(std::string_view state) override;
  void collect_curves() final { collects_ = true; }
  [[nodiscard]] std::optional<CurveSum> curve_sum() const final;

 protected:
  explicit CurveChain(const EqualizeParams& params) : params_(params), control_(params) {}

  /// Device memory in which a chain keeps its history and sums.
  struct Kept {
    tone::History* history = nullptr;
    const unsigned long long* curve_sums = nullptr;  ///< one per level
    int max_value = 0;                               ///< the largest level
  };
  /// Ends configure(). Calls the two functions below, for which the chain must be ready.
  void start_curves(const Kept& kept);
  /// Writes what kernels read about the parameters' bins. Called only while no kernel that reads it
  /// is in flight.
  virtual void upload_bins() = 0;
  /// Uploads the fixed curve of the parameters, if they have one.
  virtual void upload_curve() = 0;

  EqualizeParams params_;
  tone::Control control_;
  bool collects_ = false;
  std::uint64_t collected_ = 0;               ///< frames whose curves are in the sums
  std::unique_ptr<ExcludedPixels> excluded_;  ///< null in chains in which all pixels count

 private:
  Kept kept_;  ///< null until configured
};

}  // namespace equalux::cuda

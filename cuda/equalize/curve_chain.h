#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/equalize/equalize_chain.h"
#include "src/equalize/tone_control.h"

/// What the GPU's chains that make curves share.
namespace equalux::cuda {

/// Limits and history of a stream's curves, and their sum. The last two lie in device memory, of
/// the device that was current when the chain was configured. One thread at a time; what reads or
/// writes them here waits for the frames under way.
class CurveChain : public EqualizeChain {
 public:
  /// Other limits hold from the next frame on; other bins, and curves that are kept, wait for what
  /// is under way.
  void update(const EqualizeParams& params) override;
  void reset() override { control_.reset(); }
  /// The frames under way count to what is saved.
  [[nodiscard]] std::string save() const override;
  void load(std::string_view state) override;
  void collect_curves() final { collects_ = true; }
  [[nodiscard]] std::optional<CurveSum> curve_sum() const final;

 protected:
  explicit CurveChain(const EqualizeParams& params) : params_(params), control_(params) {}

  /// The device memory where a chain keeps its history and sums.
  struct Kept {
    tone::History* history = nullptr;
    const unsigned long long* curve_sums = nullptr;  ///< by level
    int max_value = 0;                               ///< levels go up to it
  };
  /// The last part of configure(). Calls the two below, for which the chain must be ready.
  void start_curves(const Kept& kept);
  /// Writes what kernels read of the parameters' bins; nothing that reads it is under way.
  virtual void upload_bins() = 0;
  /// Uploads the curve that the parameters bring, if they do.
  virtual void upload_curve() = 0;

  EqualizeParams params_;
  tone::Control control_;
  bool collects_ = false;
  std::uint64_t collected_ = 0;  ///< frames whose curves are in the sums

 private:
  Kept kept_;  ///< null until configured
};

}  // namespace equalux::cuda

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/filter.h>

#include "src/common/cuda_memory.h"
#include "src/common/filter_chain.h"

/// Filters for hosts that pass single frames in their own memory: the C interface and Python's.
namespace equalux {

struct HostOptions {
  Backend backend = Backend::cpu;  ///< where frames lie; not automatic
  int threads = 0;                 ///< threads of the CPU; 0 = one for each core
  int device = -1;                 ///< CUDA's ordinal; -1 = the device with most free memory
  /// Frames per second of frames without a timestamp.
  double rate = 30;
};

/// Chain of filters from specs. One thread at a time. Leaves the CUDA context of its callers'
/// threads current.
class HostFilter {
 public:
  /// Makes the chain. Throws as make_cpu_filter() and make_cuda_filter(), and where there is no
  /// spec.
  HostFilter(const std::vector<FilterSpec>& specs, const HostOptions& options);
  ~HostFilter();
  HostFilter(const HostFilter&) = delete;
  HostFilter& operator=(const HostFilter&) = delete;

  [[nodiscard]] bool accepts(PixelFormat format) const { return chain_.accepts(format); }
  /// Configures as Filter::configure(); frames count from 0 again.
  ImageDesc configure(const ImageDesc& input);
  [[nodiscard]] bool works_in_place() const { return chain_.works_in_place(); }

  /// Returns the context of the next frame where the host gives none: its number, and its time at
  /// the options' rate.
  [[nodiscard]] FrameContext next() const;
  /// Filters one frame of the configured description. On CUDA it only enqueues, ordered behind the
  /// frame before even if that was on another stream, which may be destroyed by now. Throws
  /// Error(usage) before configure(), for timestamps beyond 4e18 ns, and where rows of `out`
  /// overlap.
  void submit(const ConstImageView& in, const ImageView& out, const FrameContext& context);

  /// Changes options of a spec, counted from 0. Throws Error(usage) also where the change needs a
  /// new filter.
  void update(std::size_t index, const OptionValues& values);
  /// Forgets all frames; frames count from 0 again.
  void reset();
  /// Saves as save_filters(), after the frames under way, and restores. Throw Error(usage) before
  /// configure().
  [[nodiscard]] std::string save();
  void load(std::string_view state);

 private:
  static FilterChain make(const std::vector<FilterSpec>& specs, HostOptions& options);
  void require_configured() const;
  void finish();
  [[nodiscard]] bool on_cuda() const { return options_.backend == Backend::cuda; }

  /// While this is made and destroyed: the first member is the last to go.
  std::optional<KeptCudaContext> kept_;
  HostOptions options_;  ///< with the chosen device
  FilterChain chain_;
  std::vector<FilterSpec> specs_;
  bool configured_ = false;
  std::uint64_t index_ = 0;
  std::unique_ptr<CudaStreamEnd> stream_end_;  ///< CUDA: end of the last frame's work
};

}  // namespace equalux

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/filter.h>

#include "src/common/cuda_memory.h"
#include "src/common/filter_chain.h"

/// Filters for hosts that hand frames over one by one, in memory of their own: the C interface and
/// Python's.
namespace equalux {

struct HostOptions {
  Backend backend = Backend::cpu;  ///< not automatic: it says where frames lie
  int threads = 0;                 ///< of the CPU; 0 = all cores
  int device = -1;                 ///< of CUDA; -1 = the first with most free memory
  /// Frames in a second, for those whose time nobody tells.
  double rate = 30;
};

/// Throws Error(usage) for a number of threads that HostFilter does not take.
void check_threads(int threads);

/// Filters of specs, one after another. One thread at a time.
class HostFilter {
 public:
  /// Throws as make_cpu_filter() and make_cuda_filter() do, and where there is no spec.
  HostFilter(const std::vector<FilterSpec>& specs, const HostOptions& options);

  [[nodiscard]] bool accepts(PixelFormat format) const { return chain_.accepts(format); }
  /// As Filter::configure(). Frames are counted from 0 again.
  ImageDesc configure(const ImageDesc& input);
  [[nodiscard]] bool works_in_place() const { return chain_.works_in_place(); }

  /// What filters are told of the next frame where nobody tells them: its number, and its time at
  /// the options' rate.
  [[nodiscard]] FrameContext next() const;
  /// Filters one frame of configure()'s description. On CUDA it only enqueues, behind what the
  /// frame before has on another stream, which may be gone by then. Throws Error(usage) before
  /// configure(), for times too far from 0 to tell what lies between them, and where rows of `out`
  /// lie over each other.
  void submit(const ConstImageView& in, const ImageView& out, const FrameContext& context);

  /// Gives options of one of the specs, from 0, other values. Throws Error(usage) where that takes
  /// a new filter, too.
  void update(std::size_t index, const OptionValues& values);
  /// Forgets the frames, and counts them from 0 again.
  void reset();
  /// What save_filters() gives, behind the frames under way; and back. Throw Error(usage) before
  /// configure().
  [[nodiscard]] std::string save();
  void load(std::string_view state);

 private:
  static FilterChain make(const std::vector<FilterSpec>& specs, HostOptions& options);
  void require_configured() const;
  void finish();

  HostOptions options_;  ///< with the device that was chosen
  FilterChain chain_;
  std::vector<FilterSpec> specs_;
  bool configured_ = false;
  std::uint64_t index_ = 0;
  std::unique_ptr<CudaStreamEnd> stream_end_;  ///< behind the last frame, on CUDA
};

}  // namespace equalux

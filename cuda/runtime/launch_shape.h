#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>
#include <equalux/params.h>

/// How the kernels of the staged chain are launched: what the user asks for, within what the device
/// takes, and what is taken where nothing is asked for.
namespace equalux::cuda {

/// Extents of a launch, and how many pixels each of its threads has in flight.
struct LaunchShape {
  dim3 grid{1, 1, 1};
  dim3 block{1, 1, 1};
  int pixels_per_thread = 1;  ///< 1, 2, 4 or 8

  [[nodiscard]] std::uint64_t threads_of_block() const {
    return std::uint64_t{block.x} * block.y * block.z;
  }
  [[nodiscard]] std::uint64_t blocks() const { return std::uint64_t{grid.x} * grid.y * grid.z; }
};

/// What the current device takes.
struct LaunchLimits {
  Extent3 grid;
  Extent3 block;
  int threads_of_block = 0;
  int threads_of_multiprocessor = 0;
  int multiprocessors = 0;
};
/// Throws Error(unavailable) where no device answers.
[[nodiscard]] LaunchLimits launch_limits();

/// Throws Error(usage) that names the knob, its value and the device's limit where grid, block or
/// pixels-per-thread is none that the device takes. Every kernel of the chain is compiled for
/// kMostThreads threads a block, so that the device's limit is each kernel's too.
void check_shape(const StagedParams& knobs, const LaunchLimits& limits);

/// Pixels in flight where the knob is empty: a 16-byte access of floats.
inline constexpr int kDefaultPixelsPerThread = 4;

/// How many blocks there are where the grid is left to us.
enum class Blocks : std::uint8_t {
  any,       ///< a thread for each piece of work
  resident,  ///< at most what the device runs at a time: for blocks that have tables to make first
};
/// A shape for `items` pieces of work; without a knob a thread for each, in blocks of `block`
/// threads.
[[nodiscard]] LaunchShape shape_for(const StagedParams& knobs, const LaunchLimits& limits,
                                    std::uint64_t items, unsigned block, Blocks blocks);

}  // namespace equalux::cuda

#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>
#include <equalux/params.h>

/// Launch shapes of the staged chain's kernels: what the user asks for, within the device's limits,
/// and the defaults where nothing is asked for.
namespace equalux::cuda {

/// Grid and block of a launch, and how many pixels each thread has in flight.
struct LaunchShape {
  dim3 grid{1, 1, 1};
  dim3 block{1, 1, 1};
  int pixels_per_thread = 1;  ///< 1, 2, 4 or 8

  [[nodiscard]] std::uint64_t threads_of_block() const {
    return std::uint64_t{block.x} * block.y * block.z;
  }
  [[nodiscard]] std::uint64_t blocks() const { return std::uint64_t{grid.x} * grid.y * grid.z; }
};

/// Limits of the current device.
struct LaunchLimits {
  Extent3 grid;
  Extent3 block;
  int threads_of_block = 0;
  int threads_of_multiprocessor = 0;
  int multiprocessors = 0;
};
/// Asks the current device. Throws Error(unavailable) where none answers.
[[nodiscard]] LaunchLimits launch_limits();

/// Throws Error(usage) that names the knob, its value and the device's limit where grid, block or
/// pixels-per-thread exceeds what the device takes. Every kernel of the chain is compiled for
/// blocks of kMostThreads threads, so the device's limit holds for each of them.
void check_shape(const StagedParams& knobs, const LaunchLimits& limits);

/// Default of pixels-per-thread: 4 floats are one access of 16 bytes.
inline constexpr int kDefaultPixelsPerThread = 4;

/// Number of blocks where the user gives no grid.
enum class Blocks : std::uint8_t {
  any,       ///< as many as give each piece of work a thread
  resident,  ///< at most as many as the device runs at a time, for blocks that make tables first
};
/// Chooses a shape for `items` pieces of work: the user's block and grid, else blocks of `block`
/// threads, as many as `blocks` says.
[[nodiscard]] LaunchShape shape_for(const StagedParams& knobs, const LaunchLimits& limits,
                                    std::uint64_t items, unsigned block, Blocks blocks);

}  // namespace equalux::cuda

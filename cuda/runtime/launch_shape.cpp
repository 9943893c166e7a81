#include "cuda/runtime/launch_shape.h"

#include <algorithm>
#include <array>
#include <string>

#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

/// More threads would overflow the 64-bit element numbers of walk_in_flight().
constexpr double kMostThreadsOfLaunch = 0x1p59;

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "asking for a launch limit");
  return value;
}

std::string text(const Extent3& e) {
  return std::to_string(e.x) + "," + std::to_string(e.y) + "," + std::to_string(e.z);
}

void check_extent(const std::string& knob, const Extent3& value, const Extent3& most) {
  const std::array<int, 3> values{value.x, value.y, value.z};
  const std::array<int, 3> limits{most.x, most.y, most.z};
  constexpr std::array<const char*, 3> kAxes{"x", "y", "z"};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 1 && values[i] <= limits[i]) continue;
    throw Error(ExitCode::usage, knob + " is " + text(value) + ", must have " + kAxes[i] +
                                     " from 1 to " + std::to_string(limits[i]) + " on this device");
  }
}

std::int64_t threads_of(const Extent3& e) {
  return std::int64_t{e.x} * e.y * e.z;
}

dim3 dim(const Extent3& e) {
  return {static_cast<unsigned>(e.x), static_cast<unsigned>(e.y), static_cast<unsigned>(e.z)};
}

}  // namespace

LaunchLimits launch_limits() {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  LaunchLimits limits;
  limits.grid = {attribute(cudaDevAttrMaxGridDimX, device),
                 attribute(cudaDevAttrMaxGridDimY, device),
                 attribute(cudaDevAttrMaxGridDimZ, device)};
  limits.block = {attribute(cudaDevAttrMaxBlockDimX, device),
                  attribute(cudaDevAttrMaxBlockDimY, device),
                  attribute(cudaDevAttrMaxBlockDimZ, device)};
  limits.threads_of_block = attribute(cudaDevAttrMaxThreadsPerBlock, device);
  limits.threads_of_multiprocessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device);
  limits.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, device);
  return limits;
}

void check_shape(const StagedParams& knobs, const LaunchLimits& limits) {
  if (const auto& n = knobs.pixels_per_thread; n && *n != 1 && *n != 2 && *n != 4 && *n != 8) {
    throw Error(ExitCode::usage,
                "pixels-per-thread is " + std::to_string(*n) + ", must be 1, 2, 4 or 8");
  }
  if (knobs.block) {
    check_extent("block", *knobs.block, limits.block);
    if (threads_of(*knobs.block) > limits.threads_of_block) {
      throw Error(ExitCode::usage, "block is " + text(*knobs.block) + ", which are " +
                                       std::to_string(threads_of(*knobs.block)) +
                                       " threads, must be at most " +
                                       std::to_string(limits.threads_of_block) + " on this device");
    }
  }
  if (knobs.grid) {
    check_extent("grid", *knobs.grid, limits.grid);
    const double blocks = static_cast<double>(knobs.grid->x) * knobs.grid->y * knobs.grid->z;
    if (blocks * limits.threads_of_block > kMostThreadsOfLaunch) {
      throw Error(ExitCode::usage, "grid is " + text(*knobs.grid) + ", must have at most 2^59 / " +
                                       std::to_string(limits.threads_of_block) + " blocks");
    }
  }
}

LaunchShape shape_for(const StagedParams& knobs, const LaunchLimits& limits, std::uint64_t items,
                      unsigned block, Blocks blocks) {
  LaunchShape shape;
  shape.pixels_per_thread = knobs.pixels_per_thread.value_or(kDefaultPixelsPerThread);
  shape.block = knobs.block ? dim(*knobs.block) : dim3{block, 1, 1};
  if (knobs.grid) {
    shape.grid = dim(*knobs.grid);
    return shape;
  }
  const std::uint64_t threads = shape.threads_of_block();
  std::uint64_t most = static_cast<std::uint64_t>(limits.grid.x);
  if (blocks == Blocks::resident) {
    const auto each = static_cast<std::uint64_t>(limits.threads_of_multiprocessor);
    most = static_cast<std::uint64_t>(limits.multiprocessors) *
           std::max<std::uint64_t>(each / threads, 1);
  }
  const std::uint64_t wanted = (items + threads - 1) / threads;
  shape.grid.x = static_cast<unsigned>(std::clamp<std::uint64_t>(wanted, 1, most));
  return shape;
}

}  // namespace equalux::cuda

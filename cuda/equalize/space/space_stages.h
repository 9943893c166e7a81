#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "cuda/device/packed_frame.h"
#include "src/equalize/space.h"
#include "src/equalize/tone/tone_control.h"

/// The stages of the space chain, as host code calls them. Each enqueues a kernel on `stream` and
/// throws Error(unavailable) where a launch is refused.
namespace equalux::cuda {

/// Device memory of the stages. The counts are 0 between frames.
struct SpaceState {
  std::uint32_t counts[256];
  std::uint32_t curve[256];            ///< W
  std::uint64_t gains[256];            ///< one per v
  SpaceCodes codes[256];               ///< space_codes() of the gains
  std::uint8_t scaled[256][256];       ///< result of each code, by v and code
  std::uint8_t last_of_bin[256];       ///< for each v, the largest value in its bin
  unsigned long long curve_sums[256];  ///< sums of the frames' W, if they are collected
  tone::History history;
  SpaceTables tables;
};

/// Adds the values of a frame to the counts. `multiprocessors` is the device's number of them.
void space_histogram(Space space, const ConstImageView& in, SpaceState* state, int multiprocessors,
                     cudaStream_t stream);

/// Computes the curve from the counts, clears them, and updates the history. With `collects` the
/// curve is added to the sums.
void space_curve(const tone::Frame& tone, bool collects, SpaceState* state, cudaStream_t stream);

/// Computes the table of scaled codes.
void space_table(Space space, SpaceState* state, cudaStream_t stream);

/// Writes k of saturation for each of the 256 values of a result. To be enqueued after
/// space_curve().
void space_factors(Space space, const saturation::Rule& rule, const SpaceState* state,
                   std::uint16_t* factors, cudaStream_t stream);

/// Writes the frame's result.
void space_apply(Space space, const ConstImageView& in, const ImageView& out,
                 const SpaceState* state, int multiprocessors, cudaStream_t stream);

}  // namespace equalux::cuda

#pragma once

/// Sizes of the work of a warp, which kernels of several filters share.
namespace equalux::cuda {

inline constexpr int kLanes = 32;
/// Bytes that a lane copies at a time, to and from aligned addresses.
inline constexpr int kVectorBytes = 16;
/// Bytes that a warp works on at a time: three vectors for each lane.
inline constexpr int kChunkBytes = 3 * kLanes * kVectorBytes;
/// Bytes of a table of counters: a row of 32 words, one for each lane, for each of 256 values.
inline constexpr int kTableBytes = 256 * kLanes * 4;

}  // namespace equalux::cuda

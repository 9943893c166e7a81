#pragma once

#include <cstdint>

/// Connected components by union-find in one array: a pixel's label is the index of another pixel
/// of its component, never a later one, or its own at the root. Joins are atomic minima (after
/// Komura 2015 and Playne and Hawick 2018); a warp looks at 32 pixels of a row, whose runs begin as
/// one.
namespace equalux::cuda {

/// A lane's pixel.
struct Pixel {
  int x;
  int y;
  int lane;
  int width;

  __device__ std::uint32_t index() const {
    return static_cast<std::uint32_t>(y) * static_cast<std::uint32_t>(width) +
           static_cast<std::uint32_t>(x);
  }
};

/// Calls body(pixel) for all pixels of a plane, and some outside it, by blocks of 32 x 8 threads,
/// as many as there are: a warp has 32 pixels of a row.
template <typename Body>
__device__ __forceinline__ void for_pixels(int width, int height, const Body& body) {
  const int across = (width + 31) / 32;
  const int parts = across * ((height + 7) / 8);
  for (int part = static_cast<int>(blockIdx.x); part < parts; part += static_cast<int>(gridDim.x)) {
    body(Pixel{part % across * 32 + static_cast<int>(threadIdx.x),
               part / across * 8 + static_cast<int>(threadIdx.y), static_cast<int>(threadIdx.x),
               width});
  }
}

/// The root of a label. Others may join components meanwhile.
__device__ __forceinline__ std::uint32_t root_of(const std::uint32_t* labels, std::uint32_t at) {
  const volatile std::uint32_t* now = labels;
  std::uint32_t next = now[at];
  while (next != at) {
    at = next;
    next = now[at];
  }
  return at;
}

/// The same, halving the way for those who come after. A label that another thread has set
/// meanwhile may be lost where it is that of no root any more; that thread goes on from the label
/// that it found there.
__device__ __forceinline__ std::uint32_t shortened_root_of(std::uint32_t* labels,
                                                           std::uint32_t at) {
  volatile std::uint32_t* now = labels;
  std::uint32_t next = now[at];
  while (next != at) {
    const std::uint32_t after = now[next];
    if (after != next) now[at] = after;
    at = next;
    next = after;
  }
  return at;
}

/// `kShorten`: where ways may be long, across a whole frame.
template <bool kShorten>
__device__ __forceinline__ void join(std::uint32_t* labels, std::uint32_t a, std::uint32_t b) {
  while (true) {
    a = kShorten ? shortened_root_of(labels, a) : root_of(labels, a);
    b = kShorten ? shortened_root_of(labels, b) : root_of(labels, b);
    if (a == b) return;
    if (a < b) {
      const std::uint32_t other = a;
      a = b;
      b = other;
    }
    // The later root gets the earlier one as its label, unless it is no root any more.
    const std::uint32_t before = atomicMin(labels + a, b);
    if (before == a) return;
    a = before;
  }
}

/// The first lane of the run of set lanes that this lane, which is set, lies in.
__device__ __forceinline__ int run_begin(std::uint32_t set, int lane) {
  const std::uint32_t gaps = ~set & ((1U << lane) - 1);
  return gaps == 0 ? 0 : 32 - __clz(static_cast<int>(gaps));
}

/// Lanes from `begin` on that are set, without a gap.
__device__ __forceinline__ int run_length(std::uint32_t set, int begin) {
  const std::uint32_t from = ~(set >> begin);  // its lowest gap; shifted-in zeros are gaps
  return from == 0 ? 32 : __ffs(static_cast<int>(from)) - 1;
}

/// First labels: a pixel that is set has its run's first pixel of the warp. For whole warps.
__device__ __forceinline__ void begin_label(std::uint32_t* labels, const Pixel& pixel, bool set) {
  const std::uint32_t all = __ballot_sync(~0U, set);
  if (!set) return;
  const auto back = static_cast<std::uint32_t>(pixel.lane - run_begin(all, pixel.lane));
  labels[pixel.index()] = pixel.index() - back;
}

/// Joins a set pixel with its neighbours to the left and above; set(dx, dy) tells of them, and is
/// not asked outside the plane. Joins that a neighbour makes as well are left out.
template <bool kCorners, typename Set>
__device__ __forceinline__ void join_neighbours(std::uint32_t* labels, const Pixel& pixel,
                                                const Set& set) {
  const std::uint32_t i = pixel.index();
  const bool left = pixel.x > 0 && set(-1, 0);
  if (left && pixel.lane == 0) join<true>(labels, i, i - 1);
  if (pixel.y == 0) return;
  const auto width = static_cast<std::uint32_t>(pixel.width);
  const bool up_left = pixel.x > 0 && set(-1, -1);
  if (set(0, -1)) {
    if (!(left && up_left)) join<true>(labels, i, i - width);
    return;
  }
  if constexpr (kCorners) {
    if (up_left && !left) join<true>(labels, i, i - width - 1);
    if (pixel.x + 1 < pixel.width && set(1, -1) && !set(1, 0)) join<true>(labels, i, i - width + 1);
  }
}

}  // namespace equalux::cuda

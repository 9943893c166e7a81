#pragma once

#include <cstdint>

/// Connected components by union-find in one array. A pixel's label is the index of a pixel of its
/// component that is never a later one, and a root's label is its own index. Joins are atomic
/// minima (after Komura 2015 and Playne and Hawick 2018). A warp handles 32 pixels of a row, and
/// each run of set pixels among them begins as one component, which saves most joins.
namespace equalux::cuda {

/// The pixel that a lane handles.
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

/// Calls body(pixel) for all pixels of a plane, and for some beyond its right and lower edge.
/// Blocks of 32 x 8 threads walk the plane with the grid's stride; a warp has 32 pixels of a row,
/// so that its accesses are coalesced.
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

/// Finds the root of a label. Other threads may join components meanwhile; reads are volatile, so
/// that their labels are seen.
__device__ __forceinline__ std::uint32_t root_of(const std::uint32_t* labels, std::uint32_t at) {
  const volatile std::uint32_t* now = labels;
  std::uint32_t next = now[at];
  while (next != at) {
    at = next;
    next = now[at];
  }
  return at;
}

/// Finds the root and halves the path to it, which shortens later searches. The plain store may
/// overwrite a label that another thread set meanwhile, but only of a pixel that is no root any
/// more; the other thread goes on from the label that it replaced, so no join is lost.
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

/// Joins the components of two pixels. kShorten halves the paths: for components that may reach
/// across a whole frame.
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
    // Hangs the later root below the earlier one, unless another thread made it a non-root first.
    const std::uint32_t before = atomicMin(labels + a, b);
    if (before == a) return;
    a = before;
  }
}

/// Finds the first lane of the run of set lanes that contains this lane, which is set itself.
__device__ __forceinline__ int run_begin(std::uint32_t set, int lane) {
  const std::uint32_t gaps = ~set & ((1U << lane) - 1);
  return gaps == 0 ? 0 : 32 - __clz(static_cast<int>(gaps));
}

/// Counts the set lanes from `begin` on, up to the first gap.
__device__ __forceinline__ int run_length(std::uint32_t set, int begin) {
  const std::uint32_t from = ~(set >> begin);  // lowest set bit: the first gap
  return from == 0 ? 32 : __ffs(static_cast<int>(from)) - 1;
}

/// Gives each set pixel the index of the first pixel of its run within the warp as its label. All
/// 32 lanes call it.
__device__ __forceinline__ void begin_label(std::uint32_t* labels, const Pixel& pixel, bool set) {
  const std::uint32_t all = __ballot_sync(~0U, set);
  if (!set) return;
  const auto back = static_cast<std::uint32_t>(pixel.lane - run_begin(all, pixel.lane));
  labels[pixel.index()] = pixel.index() - back;
}

/// Joins a set pixel with its neighbours to the left and above. set(dx, dy) tells whether a
/// neighbour is set, and is not asked outside the plane. Joins that a neighbouring thread makes
/// anyway are left out, since each costs an atomic.
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

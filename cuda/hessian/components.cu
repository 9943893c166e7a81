#include <algorithm>
#include <climits>

#include <equalux/error.h>

#include "cuda/device/dependent_launch.cuh"
#include "cuda/device/labels.cuh"
#include "cuda/hessian/class_planes.h"

/// Hysteresis, small components and holes: turns a plane of vessel_class() into one of 0 and 1.
///
/// Union-find in two stages (after Oliveira and Lotufo 2010). A block finds the components of its
/// 32 x 32 tile in shared memory, where a run of pixels of a row is one element. Then only pixels
/// along the sides of tiles are joined in device memory, and the size of a component is added up
/// once per tile. So most atomics stay in shared memory.
namespace equalux::cuda {
namespace {

constexpr std::uint32_t kMark = 0x80000000U;
constexpr int kTile = 32;
constexpr int kTilePixels = kTile * kTile;
/// Most components that a tile may have: those of a chessboard.
constexpr int kTileComponents = kTilePixels / 2;
constexpr int kRowsOfWarp = 4;
constexpr dim3 kBlock(kTile, kTile / kRowsOfWarp);

/// Components of a plane, tile by tile: number n of tile t is at kTileComponents t + n of each
/// list.
struct TileComponents {
  std::uint16_t* numbers;  ///< of each pixel's component within its tile, if it is in one
  std::uint32_t* labels;
  std::uint32_t* areas;   ///< pixels of a component, with kMark where it contains a strong pixel
  std::uint32_t* counts;  ///< components in each tile
};

/// A plane of classes, cut into tiles.
struct Tiles {
  DeviceClasses classes;
  unsigned across;
  unsigned down;

  __host__ __device__ static Tiles of(const DeviceClasses& classes) {
    return {classes, static_cast<unsigned>(classes.width + kTile - 1) / kTile,
            static_cast<unsigned>(classes.height + kTile - 1) / kTile};
  }
  __device__ bool has(int x, int y) const {
    return static_cast<unsigned>(x) < static_cast<unsigned>(classes.width) &&
           static_cast<unsigned>(y) < static_cast<unsigned>(classes.height);
  }
  __device__ std::uint32_t index(int x, int y) const {
    return static_cast<std::uint32_t>(y) * static_cast<std::uint32_t>(classes.width) +
           static_cast<std::uint32_t>(x);
  }
  /// Finds the component of a pixel in the lists of all tiles.
  __device__ std::uint32_t component(const TileComponents& all, int x, int y) const {
    const unsigned tile =
        static_cast<unsigned>(y) / kTile * across + static_cast<unsigned>(x) / kTile;
    return tile * kTileComponents + all.numbers[index(x, y)];
  }
};

/// Pixels that a thread handles of its block's tile: kRowsOfWarp of one column.
struct TilePixels {
  std::uint32_t first;  ///< index in the plane
  std::uint32_t width;
  int rows;  ///< that lie in the plane

  __device__ explicit TilePixels(const Tiles& tiles) {
    const unsigned x = blockIdx.x % tiles.across * kTile + threadIdx.x;
    const unsigned y = blockIdx.x / tiles.across * kTile + threadIdx.y * kRowsOfWarp;
    width = static_cast<std::uint32_t>(tiles.classes.width);
    first = y * width + x;
    rows = x < width ? max(0, min(tiles.classes.height - static_cast<int>(y), kRowsOfWarp)) : 0;
  }
  [[nodiscard]] __device__ std::uint32_t index(int row) const {
    return first + static_cast<std::uint32_t>(row) * width;
  }
};

/// Loads the classes of a thread's pixels, 0 outside the plane.
__device__ __forceinline__ void load_classes(const Tiles& tiles, const TilePixels& pixels,
                                             std::uint8_t (&classes)[kRowsOfWarp]) {
#pragma unroll
  for (int i = 0; i < kRowsOfWarp; ++i)
    classes[i] = i < pixels.rows ? tiles.classes.first[pixels.index(i)] : std::uint8_t{0};
}

/// Finds the first entry of a block's tile in the lists of all tiles.
__device__ __forceinline__ std::uint32_t list_of_tile() {
  return blockIdx.x * kTileComponents;
}

/// Shared memory of a block for its tile's components; entries of a run are at its
/// first pixel.
struct SharedTile {
  std::uint32_t rows[kTile];  ///< bits of the pixels that are in components
  std::uint32_t labels[kTilePixels];
  std::uint32_t areas[kTilePixels];  ///< of roots, and later their numbers
  std::uint32_t count;
};

/// Calls join_lanes(own, above) for each pair of runs of a row and the row above that touch, once
/// per pair.
template <bool kCorners, typename Join>
__device__ __forceinline__ void for_touching(std::uint32_t row, std::uint32_t above, int lane,
                                             const Join& join_lanes) {
  const std::uint32_t both = row & above;
  if ((both & ~(both << 1)) >> lane & 1U) join_lanes(lane, lane);
  if constexpr (kCorners) {
    const std::uint32_t alone = row & ~above;
    if ((alone & above << 1 & ~(row << 1)) >> lane & 1U) join_lanes(lane, lane - 1);
    if ((alone & above >> 1 & ~(row >> 1)) >> lane & 1U) join_lanes(lane, lane + 1);
  }
}

/// Content of most tiles, which has a short cut: no pixel in a component, or all.
enum class Mostly : std::uint8_t { none, all };

/// Finds the components of a block's tile. `set` and `marked` are bit masks of the warp's rows:
/// pixels in components, and strong ones. All threads of the block call it.
template <bool kCorners, Mostly kMostly>
__device__ void label_tile(const TilePixels& pixels, const TileComponents& out, SharedTile& tile,
                           const std::uint32_t (&set)[kRowsOfWarp],
                           const std::uint32_t (&marked)[kRowsOfWarp]) {
  const auto lane = static_cast<int>(threadIdx.x);
  const int first_row = static_cast<int>(threadIdx.y) * kRowsOfWarp;
  const auto run_of = [](std::uint32_t row, int y, int at) {
    return static_cast<std::uint32_t>(y * kTile + run_begin(row, at));
  };
  bool begins[kRowsOfWarp];
  if (lane == 0 && threadIdx.y == 0) tile.count = 0;
#pragma unroll
  for (int i = 0; i < kRowsOfWarp; ++i) {
    begins[i] = ((set[i] & ~(set[i] << 1)) >> lane & 1U) != 0;
    if (lane == 0) tile.rows[first_row + i] = set[i];
    const auto at = static_cast<std::uint32_t>((first_row + i) * kTile + lane);
    if (begins[i]) {
      tile.labels[at] = at;
      tile.areas[at] = 0;
    }
  }
  const std::uint32_t list = list_of_tile();
  const bool first_thread = lane == 0 && threadIdx.y == 0;
  if constexpr (kMostly == Mostly::none) {
    if (__syncthreads_or((set[0] | set[1] | set[2] | set[3]) != 0 ? 1 : 0) == 0) {
      if (first_thread) out.counts[blockIdx.x] = 0;
      return;
    }
  } else if (__syncthreads_and((set[0] & set[1] & set[2] & set[3]) == ~0U ? 1 : 0) != 0) {
    if (first_thread) {
      out.counts[blockIdx.x] = 1;
      out.labels[list] = list;
      out.areas[list] = kTilePixels;
    }
#pragma unroll
    for (int i = 0; i < kRowsOfWarp; ++i)
      out.numbers[pixels.index(i)] = 0;
    return;
  }
  std::uint32_t above = first_row == 0 ? 0 : tile.rows[first_row - 1];
#pragma unroll
  for (int i = 0; i < kRowsOfWarp; ++i) {
    const int y = first_row + i;
    for_touching<kCorners>(set[i], above, lane, [&](int own, int other) {
      join<false>(tile.labels, run_of(set[i], y, own), run_of(above, y - 1, other));
    });
    above = set[i];
  }
  __syncthreads();
  std::uint32_t roots[kRowsOfWarp];
#pragma unroll
  for (int i = 0; i < kRowsOfWarp; ++i) {
    if (!begins[i]) continue;
    const auto at = static_cast<std::uint32_t>((first_row + i) * kTile + lane);
    roots[i] = root_of(tile.labels, at);
    const int length = run_length(set[i], lane);
    const std::uint32_t run = (length == 32 ? ~0U : (1U << length) - 1) << lane;
    atomicAdd(&tile.areas[roots[i]], static_cast<std::uint32_t>(length));
    if ((marked[i] & run) != 0) atomicOr(&tile.areas[roots[i]], kMark);
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kRowsOfWarp; ++i) {
    const auto at = static_cast<std::uint32_t>((first_row + i) * kTile + lane);
    if (!begins[i] || roots[i] != at) continue;
    const std::uint32_t own = atomicAdd(&tile.count, 1U);
    out.labels[list + own] = list + own;
    out.areas[list + own] = tile.areas[at];
    tile.areas[at] = own;
  }
  __syncthreads();
  if (first_thread) out.counts[blockIdx.x] = tile.count;
#pragma unroll
  for (int i = 0; i < kRowsOfWarp; ++i) {
    std::uint32_t own = begins[i] ? tile.areas[roots[i]] : 0;
    own = __shfl_sync(~0U, own, run_begin(set[i], lane));
    if (set[i] >> lane & 1U) out.numbers[pixels.index(i)] = static_cast<std::uint16_t>(own);
  }
}

/// Finds which components of a block's tile are wanted(area of the whole component), as one bit
/// each. All threads of the block call it; a barrier must follow.
template <typename Wanted>
__device__ __forceinline__ void find_wanted(const TileComponents& all, std::uint32_t* bits,
                                            const Wanted& wanted) {
  const std::uint32_t list = list_of_tile();
  const std::uint32_t count = all.counts[blockIdx.x];
  for (std::uint32_t first = threadIdx.y * kTile; first < count; first += kTile * kBlock.y) {
    const std::uint32_t own = first + threadIdx.x;
    const bool is_wanted = own < count && wanted(all.areas[all.labels[list + own]]);
    const std::uint32_t word = __ballot_sync(~0U, is_wanted);
    if (threadIdx.x == 0) bits[first / kTile] = word;
  }
}

/// Tells whether a pixel's component is wanted, from the bits of find_wanted().
__device__ __forceinline__ bool is_wanted(const TileComponents& all, const std::uint32_t* bits,
                                          std::uint32_t pixel) {
  const std::uint32_t own = all.numbers[pixel];
  return (bits[own / kTile] >> own % kTile & 1U) != 0;
}

/// Finds the components of all pixels of class above 0 within each tile. A block of 32 x 8 threads
/// has a tile of 32 x 32 pixels, a warp four rows as bit masks, which ballots make. Labels and
/// areas are in shared memory, 8 KiB.
__global__ void label_vessels_kernel(Tiles tiles, TileComponents out) {
  __shared__ SharedTile tile;
  const TilePixels pixels(tiles);
  wait_then_release();
  std::uint8_t classes[kRowsOfWarp];
  load_classes(tiles, pixels, classes);
  std::uint32_t set[kRowsOfWarp];
  std::uint32_t strong[kRowsOfWarp];
#pragma unroll
  for (int i = 0; i < kRowsOfWarp; ++i) {
    set[i] = __ballot_sync(~0U, classes[i] != 0);
    strong[i] = __ballot_sync(~0U, classes[i] == 2);
  }
  label_tile<true, Mostly::none>(pixels, out, tile, set, strong);
}

/// Joins components across the upper, left and right sides of a tile, with one warp for each side
/// and one pixel of the side per lane.
template <bool kVessels>
__global__ void join_tiles_kernel(Tiles tiles, TileComponents all) {
  const auto left = static_cast<int>(blockIdx.x % tiles.across * kTile);
  const auto top = static_cast<int>(blockIdx.x / tiles.across * kTile);
  const auto lane = static_cast<int>(threadIdx.x);
  const auto side = static_cast<int>(threadIdx.y);
  const int x = side == 0 ? left + lane : side == 1 ? left : left + kTile - 1;
  const int y = side == 0 ? top : top + lane;
  const auto set = [&](int dx, int dy) {
    if (!tiles.has(x + dx, y + dy)) return false;
    return (tiles.classes.first[tiles.index(x + dx, y + dy)] != 0) == kVessels;
  };
  const auto join_with = [&](int dx, int dy) {
    join<true>(all.labels, tiles.component(all, x, y), tiles.component(all, x + dx, y + dy));
  };
  wait_then_release();
  if (!set(0, 0)) return;
  const bool has_left = set(-1, 0);
  const bool has_up = set(0, -1);
  const bool has_up_left = set(-1, -1);
  if (side == 0) {
    // Left out where the pixel to the left makes the same join.
    if (has_up && !(has_left && has_up_left)) join_with(0, -1);
    if constexpr (kVessels) {
      if (!has_up && has_up_left && !has_left) join_with(-1, -1);
      if (!has_up && set(1, -1) && !set(1, 0)) join_with(1, -1);
    }
  } else if (side == 1) {
    if (has_left && !(lane > 0 && has_up && has_up_left)) join_with(-1, 0);
    if constexpr (kVessels) {
      if (lane > 0 && !has_left && !has_up && has_up_left) join_with(-1, -1);
    }
  } else if constexpr (kVessels) {
    if (lane > 0 && !has_up && set(1, -1) && !set(1, 0)) join_with(1, -1);
  }
}

/// Replaces labels by roots, and adds each component's pixels and mark to its root: one warp per
/// tile, one component per lane. Sizes above `enough` need not be exact, so that atomics for large
/// components are left out.
__global__ void add_up_kernel(TileComponents all, int tiles, std::uint32_t enough) {
  const int tile = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  wait_then_release();
  if (tile >= tiles) return;
  const std::uint32_t list = static_cast<std::uint32_t>(tile) * kTileComponents;
  const std::uint32_t count = all.counts[tile];
  for (std::uint32_t i = threadIdx.x; i < count; i += kTile) {
    const std::uint32_t own = list + i;
    const std::uint32_t root = root_of(all.labels, own);
    if (root == own) continue;
    all.labels[own] = root;
    const std::uint32_t area = __ldcg(all.areas + own);
    const std::uint32_t held = __ldcg(all.areas + root);
    if ((area & ~held & kMark) != 0) atomicOr(all.areas + root, kMark);
    if ((held & ~kMark) <= enough) atomicAdd(all.areas + root, area & ~kMark);
  }
}

/// Sets pixels of components that are vessels to 1 and all others to 0, and finds the components of
/// the zeros within each tile. Blocks and tiles as in label_vessels_kernel.
__global__ void keep_kernel(Tiles tiles, TileComponents vessels, TileComponents holes,
                            std::uint32_t min_size) {
  __shared__ SharedTile tile;
  __shared__ std::uint32_t kept_ones[kTileComponents / kTile];
  const TilePixels pixels(tiles);
  wait_then_release();
  std::uint8_t classes[kRowsOfWarp];
  load_classes(tiles, pixels, classes);
  find_wanted(vessels, kept_ones, [&](std::uint32_t area) {
    return (area & kMark) != 0 && (area & ~kMark) >= min_size;
  });
  __syncthreads();
  std::uint32_t set[kRowsOfWarp];
  constexpr std::uint32_t kNone[kRowsOfWarp] = {};
#pragma unroll
  for (int i = 0; i < kRowsOfWarp; ++i) {
    const bool kept = classes[i] != 0 && is_wanted(vessels, kept_ones, pixels.index(i));
    if (classes[i] != (kept ? 1 : 0)) tiles.classes.first[pixels.index(i)] = kept ? 1 : 0;
    set[i] = __ballot_sync(~0U, !kept && i < pixels.rows);
  }
  label_tile<false, Mostly::all>(pixels, holes, tile, set, kNone);
}

/// Fills small holes with 1. Blocks and tiles as in label_vessels_kernel.
__global__ void fill_kernel(Tiles tiles, TileComponents holes, std::uint32_t most_hole) {
  __shared__ std::uint32_t filled[kTileComponents / kTile];
  const TilePixels pixels(tiles);
  wait_then_release();
  find_wanted(holes, filled, [&](std::uint32_t area) { return area <= most_hole; });
  __syncthreads();
  // Ends here for most tiles, which have no small hole.
  const std::uint32_t words = (holes.counts[blockIdx.x] + kTile - 1) / kTile;
  if (__ballot_sync(~0U, threadIdx.x < words && filled[threadIdx.x] != 0) == 0) return;
  std::uint8_t classes[kRowsOfWarp];
  load_classes(tiles, pixels, classes);
#pragma unroll
  for (int i = 0; i < kRowsOfWarp; ++i) {
    if (i < pixels.rows && classes[i] == 0 && is_wanted(holes, filled, pixels.index(i)))
      tiles.classes.first[pixels.index(i)] = 1;
  }
}

std::size_t pixels_of(int width, int height) {
  const std::int64_t pixels = std::int64_t{width} * height;
  if (pixels > INT_MAX) {
    throw Error(ExitCode::usage, "vessel: " + std::to_string(width) + "x" + std::to_string(height) +
                                     " are too many pixels for a GPU, must be at most 2147483647");
  }
  return static_cast<std::size_t>(pixels);
}

std::size_t tiles_of(int width, int height) {
  const Tiles tiles = Tiles::of({nullptr, width, height});
  return std::size_t{tiles.across} * tiles.down;
}

std::uint32_t saturated(std::int64_t size) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(size, 0, INT_MAX));
}

}  // namespace

DeviceComponents::DeviceComponents(int width, int height)
    : numbers_(allocate_device<std::uint16_t>(pixels_of(width, height))),
      labels_(allocate_device<std::uint32_t>(4 * kTileComponents * tiles_of(width, height))),
      counts_(allocate_device<std::uint32_t>(2 * tiles_of(width, height))),
      device_(LaunchDevice::of(reinterpret_cast<const void*>(&fill_kernel))) {}

void DeviceComponents::keep_vessels(const DeviceClasses& classes, std::int64_t min_size,
                                    std::int64_t most_hole, cudaStream_t stream) {
  const Tiles tiles = Tiles::of(classes);
  const std::size_t count = tiles_of(classes.width, classes.height);
  const std::size_t list = count * kTileComponents;
  const TileComponents vessels{numbers_.get(), labels_.get(), labels_.get() + list, counts_.get()};
  const TileComponents holes{numbers_.get(), labels_.get() + 2 * list, labels_.get() + 3 * list,
                             counts_.get() + count};
  const auto grid = static_cast<unsigned>(count);
  const unsigned lists = (grid + kBlock.y - 1) / kBlock.y;
  const auto all = static_cast<int>(count);
  constexpr const char* kWhat = "launching hysteresis";
  launch_early(device_, kWhat, &label_vessels_kernel, grid, kBlock, stream, tiles, vessels);
  launch_early(device_, kWhat, &join_tiles_kernel<true>, grid, dim3(kTile, 3), stream, tiles,
               vessels);
  launch_early(device_, kWhat, &add_up_kernel, lists, kBlock, stream, vessels, all,
               saturated(min_size));
  launch_early(device_, kWhat, &keep_kernel, grid, kBlock, stream, tiles, vessels, holes,
               saturated(min_size));
  launch_early(device_, kWhat, &join_tiles_kernel<false>, grid, dim3(kTile, 2), stream, tiles,
               holes);
  launch_early(device_, kWhat, &add_up_kernel, lists, kBlock, stream, holes, all,
               saturated(most_hole));
  launch_early(device_, kWhat, &fill_kernel, grid, kBlock, stream, tiles, holes,
               saturated(most_hole));
}

}  // namespace equalux::cuda

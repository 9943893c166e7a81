#include "cuda/clahe/clahe.h"
#include "cuda/clahe/clahe_samples.cuh"
#include "cuda/clahe/clahe_tables.cuh"
#include "cuda/clahe/clahe_yuv.cuh"
#include "cuda/device/chunk_copy.cuh"
#include "cuda/runtime/check.h"
#include "src/clahe/tile_curves.h"

namespace equalux::cuda {
namespace {

constexpr int kWarps = kLineThreads / kLanes;
/// Chunks that a warp keeps in shared memory: one is scaled while the other is being copied.
constexpr int kSlots = 2;

/// Scales four packed pixels in consecutive words. The tables' inverses are multiplied by
/// kGainScale, as scale_rounded() requires.
template <typename Form, typename Tables>
__device__ __forceinline__ void scale_four(const Tables& tables, const ColumnMix* columns,
                                           std::uint32_t* words) {
  constexpr int kBytes = 4 * Form::kStep;
  ColumnMix mix[4];
  load_mixes(columns, mix);
  std::uint32_t scaled[kBytes];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    std::uint32_t code[Form::kColours];
    std::uint32_t v = 0;
#pragma unroll
    for (int c = 0; c < Form::kColours; ++c) {
      code[c] = byte_times_256(words, i * Form::kStep + Form::kFirst + c);
      v = max(v, code[c]);
    }
    const float gain = tables.gain(v >> 6, mix[i]);
#pragma unroll
    for (int c = 0; c < Form::kColours; ++c)
      scaled[i * Form::kStep + Form::kFirst + c] = scale_rounded(code[c], gain);
    if constexpr (Form::kCopied >= 0) {
      scaled[i * Form::kStep + Form::kCopied] = byte_of(words, i * Form::kStep + Form::kCopied);
    }
  }
#pragma unroll
  for (int w = 0; w < Form::kStep; ++w)
    words[w] = pack(scaled[4 * w], scaled[4 * w + 1], scaled[4 * w + 2], scaled[4 * w + 3]);
}

/// A packed line: chunks go through shared memory, so that all accesses to device memory have 16
/// bytes and are coalesced. With three-byte pixels a lane scales 48 neighbouring bytes, whose
/// vectors lie in different banks for the eight lanes of a quarter-warp; else one vector at a time.
template <typename Form>
class PackedApply {
 public:
  static constexpr float kScale = kGainScale;
  static constexpr int kSlotBytes = kWarps * kSlots * kChunkBytes;

  __device__ PackedApply(const ClaheFrame& f, int line, std::uint8_t* slots)
      : f_(f),
        in_(row_of(f, 0, line)),
        out_(out_row_of(f, 0, line)),
        slots_(slots + warp() * (kSlots * kChunkBytes)),
        bytes_(f.width * Form::kStep) {}

  /// Starts the asynchronous copies of the first chunks.
  __device__ __forceinline__ void begin() {
    for (int i = 0; i < kSlots; ++i)
      load(i);
  }

  template <typename Tables>
  __device__ void run(const Tables& tables) {
    const int chunks = (bytes_ + kChunkBytes - 1) / kChunkBytes;
    for (int i = 0; warp() + i * kWarps < chunks; ++i) {
      copies_wait<kSlots - 1>();
      __syncwarp();
      std::uint8_t* slot = slots_ + i % kSlots * kChunkBytes;
      const int first = (warp() + i * kWarps) * kChunkBytes;
      scale(tables, f_.columns + first / Form::kStep, slot);
      __syncwarp();
      const int bytes = min(bytes_ - first, kChunkBytes);
      if (f_.aligned && bytes == kChunkBytes) {
        store_whole<kChunkBytes>(out_ + first, slot, lane());
      } else if (f_.aligned) {
        store_some<true>(out_ + first, slot, bytes, lane());
      } else {
        store_some<false>(out_ + first, slot, bytes, lane());
      }
      __syncwarp();
      load(i + kSlots);
    }
  }

 private:
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % kLanes; }
  static __device__ int warp() { return static_cast<int>(threadIdx.x) / kLanes; }

  /// Starts the copy of the warp's chunk number i, if the line has one.
  __device__ void load(int i) {
    const int first = (warp() + i * kWarps) * kChunkBytes;
    std::uint8_t* slot = slots_ + i % kSlots * kChunkBytes;
    if (first < bytes_) {
      const int bytes = min(bytes_ - first, kChunkBytes);
      if (f_.aligned && bytes == kChunkBytes) {
        load_whole<kChunkBytes>(slot, in_ + first, lane());
      } else if (f_.aligned) {
        load_some<true, kChunkBytes>(slot, in_ + first, bytes, lane());
      } else {
        load_some<false, kChunkBytes>(slot, in_ + first, bytes, lane());
      }
    }
    copies_commit();
  }

  template <typename Tables>
  static __device__ __forceinline__ void scale(const Tables& tables, const ColumnMix* columns,
                                               std::uint8_t* slot) {
    if constexpr (Form::kWordTables) {
      constexpr int kBytes = 16 * Form::kStep;  // of a lane's 16 columns
      const ColumnMix* mixes = columns + lane() * kMixVector;
#pragma unroll
      for (int k = 0; k < kChunkBytes / kLanes / kBytes; ++k) {
        std::uint8_t* mine = slot + (k * kLanes + lane()) * kBytes;
        std::uint32_t words[kBytes / 4];
        load_words<kBytes>(mine, words);
#pragma unroll
        for (int four = 0; four < 4; ++four) {
          scale_four<Form>(tables, mixes + (4 * k + four) * (kLanes * kMixVector),
                           words + Form::kStep * four);
        }
        store_words<kBytes>(mine, words);
      }
    } else {
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        const int vector = k * kLanes + lane();
        std::uint32_t words[4];
        load_words<16>(slot + vector * 16, words);
        scale_four<Form>(tables, columns + vector * kMixVector, words);
        store_words<16>(slot + vector * 16, words);
      }
    }
  }

  const ClaheFrame& f_;
  const std::uint8_t* in_;
  std::uint8_t* out_;
  std::uint8_t* slots_;
  int bytes_;
};

/// Scales a frame: a block of 128 threads has one line of cells, because the interpolated tables,
/// which it makes first, serve all of the line's pixels. Shared memory has 1 KiB of tables per tile
/// column, the inverses and the warps' chunks. Small blocks, so that many of them overlap the
/// latency of their loads. The tables replace four look-ups of curves and a bilinear interpolation
/// per pixel by one or two look-ups and a multiply-add.
template <typename Form>
__global__ void __launch_bounds__(kLineThreads)
    clahe_apply_kernel(const __grid_constant__ ClaheFrame f) {
  using Apply = std::conditional_t<Form::kYuv, YuvApply<Form>, PackedApply<Form>>;
  extern __shared__ __align__(16) std::uint32_t tables[];
  __shared__ float inverse[256];
  __shared__ __align__(16) std::uint8_t slots[Apply::kSlotBytes];
  const int line = static_cast<int>(blockIdx.x);
  for (int v = static_cast<int>(threadIdx.x); v < 256; v += kLineThreads)
    inverse[v] = tiles::gain_inverse(v) * Apply::kScale;
  const LineMix mix = f.line_mixes[line];
  Apply apply(f, line, slots);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(tables);
  if constexpr (Form::kWordTables) {
    // The frame existed before the tiles were counted, so blocks that start early may load it while
    // the curves are being made. Later blocks find finished curves and load those first, which
    // would else queue behind the frame.
    const bool early = line < f.early_lines;
    if (early) apply.begin();
    wait_then_release();
    mix_word_tables(f, mix, tables, [&] {
      if (!early) apply.begin();
    });
    __syncthreads();
    apply.run(WordTables{bytes, inverse});
  } else {
    if constexpr (!Form::kYuv) apply.begin();
    wait_then_release();
    mix_tables(f, mix, reinterpret_cast<float*>(tables));
    __syncthreads();
    apply.run(LineTables{bytes, inverse});
  }
}

/// Bytes of the tables of one line.
template <typename Form>
std::size_t table_bytes(const ClaheFrame& frame) {
  const int columns = frame.tiles_x + (Form::kWordTables ? 0 : 1);
  return static_cast<std::size_t>(columns) * kTileTableBytes;
}

}  // namespace

int clahe_early_lines(const ClaheFrame& frame, const LaunchDevice& device) {
  if (!device.dependent_launch) return 0;
  int at_once = 0;
  for_form(frame.format, [&](auto form) {
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &at_once, clahe_apply_kernel<decltype(form)>, kLineThreads,
              table_bytes<decltype(form)>(frame)),
          "asking how many blocks run at once");
  });
  return at_once * device.multiprocessors;
}

void clahe_apply(const ClaheFrame& frame, const LaunchDevice& device, cudaStream_t stream) {
  for_form(frame.format, [&](auto form) {
    launch_early(device, "launching the scaling by tiles", clahe_apply_kernel<decltype(form)>,
                 dim3(static_cast<unsigned>(frame.lines)), dim3(kLineThreads),
                 table_bytes<decltype(form)>(frame), stream, frame);
  });
}

}  // namespace equalux::cuda

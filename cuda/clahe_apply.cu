#include "check.h"
#include "chunk_copy.cuh"
#include "clahe.h"
#include "clahe_samples.cuh"
#include "tile_curves.h"

namespace equalux::cuda {
namespace {

/// A block has a line, so that its tables serve some thousand pixels. Small blocks: many of them wait
/// for memory side by side.
constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kLanes;
/// Chunks that a warp keeps in shared memory: one in work, one on its way.
constexpr int kSlots = 2;

/// What the gains of a line are made from, in shared memory: for each tile column a table of
/// 512 mix_rows() + 1, from which one fused multiply-add makes gain_numerator(); and gain_inverse().
/// All are whole numbers below 2^24, or scaled by powers of two, so that floats hold them exactly.
struct LineTables {
  const std::uint8_t* tables;
  const float* inverse;

  /// The gain of value v, given times 4.
  [[nodiscard]] __device__ __forceinline__ float gain(std::uint32_t four_v, ColumnMix mix) const {
    const auto* level =
        reinterpret_cast<const float*>(tables + ((mix & 0xFFFFU) | four_v));
    const float left = level[0];
    const float right = level[kTileTableBytes / 4];
    const float of_right = __uint_as_float(mix & 0xFFFF0000U);
    const float inverse_of_v =
        *reinterpret_cast<const float*>(reinterpret_cast<const std::uint8_t*>(inverse) + four_v);
    return __fmaf_rn(right - left, of_right, left) * inverse_of_v;
  }
};

/// Mixes the curves above and below a line, four levels a thread. A table more repeats the last:
/// where there is one tile column, what is right of it has no part but is read.
__device__ __forceinline__ void mix_tables(const ClaheFrame& f, const LineMix& line,
                                           float* tables) {
  const auto row = [&](int tile_row) {
    return reinterpret_cast<const uint2*>(f.levels) + tile_row * f.tiles_x * 64;
  };
  const uint2* above = row(line.above);
  const uint2* below = row(line.below);
  const int weight = line.weight;
  const auto mixed = [&](std::uint32_t a, std::uint32_t b) {
    const int level = tiles::mix_rows(static_cast<int>(a), static_cast<int>(b), weight);
    return static_cast<float>(2 * tiles::kWhole * level + 1);
  };
  for (int i = static_cast<int>(threadIdx.x); i < 64 * f.tiles_x; i += kThreads) {
    const uint2 a = __ldcg(above + i);
    const uint2 b = __ldcg(below + i);
    const float4 four{mixed(a.x & 0xFFFFU, b.x & 0xFFFFU), mixed(a.x >> 16, b.x >> 16),
                      mixed(a.y & 0xFFFFU, b.y & 0xFFFFU), mixed(a.y >> 16, b.y >> 16)};
    reinterpret_cast<float4*>(tables)[i] = four;
    if (i >= 64 * (f.tiles_x - 1)) reinterpret_cast<float4*>(tables)[i + 64] = four;
  }
}

/// The mixes of four neighbouring columns, the first a whole multiple of four.
__device__ __forceinline__ void load_mixes(const ColumnMix* from, ColumnMix (&mix)[4]) {
  const uint4 v = __ldg(reinterpret_cast<const uint4*>(from));
  mix[0] = v.x;
  mix[1] = v.y;
  mix[2] = v.z;
  mix[3] = v.w;
}

/// Scales four pixels of a packed form that lie in consecutive words; inverses are times kGainScale.
template <typename Form>
__device__ __forceinline__ void scale_four(const LineTables& tables, const ColumnMix* columns,
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

/// Packed lines go through shared memory in chunks, so that all accesses have 16 bytes. A lane
/// scales 48 neighbouring bytes of three-byte pixels, which meet in no bank, or three vectors.
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
        bytes_(f.width * Form::kStep) {
    for (int i = 0; i < kSlots; ++i) load(i);
  }

  __device__ void run(const LineTables& tables) {
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

  /// Starts to bring the warp's chunk number i in, if there is one.
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

  static __device__ __forceinline__ void scale(const LineTables& tables, const ColumnMix* columns,
                                               std::uint8_t* slot) {
    if constexpr (Form::kStep == 3) {
      std::uint8_t* mine = slot + lane() * 48;
      const ColumnMix* mixes = columns + lane() * 16;
      std::uint32_t words[12];
      load_group<48>(mine, words);
#pragma unroll
      for (int four = 0; four < 4; ++four)
        scale_four<Form>(tables, mixes + 4 * four, words + 3 * four);
      put<48>(mine, words);
    } else {
      constexpr int kPixels = 16 / Form::kStep;
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        const int vector = k * kLanes + lane();
        const ColumnMix* mixes = columns + vector * kPixels;
        std::uint32_t words[4];
        load_group<16>(slot + vector * 16, words);
#pragma unroll
        for (int four = 0; four < kPixels / 4; ++four)
          scale_four<Form>(tables, mixes + 4 * four, words + Form::kStep * four);
        put<16>(slot + vector * 16, words);
      }
    }
  }

  template <int kBytes>
  static __device__ __forceinline__ void put(std::uint8_t* to,
                                             const std::uint32_t (&words)[kBytes / 4]) {
#pragma unroll
    for (int i = 0; i < kBytes / 16; ++i) {
      reinterpret_cast<uint4*>(to)[i] =
          uint4{words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]};
    }
  }

  const ClaheFrame& f_;
  const std::uint8_t* in_;
  std::uint8_t* out_;
  std::uint8_t* slots_;
  int bytes_;
};

/// factor gain, rounded to nearest with halves to even in one operation.
__device__ __forceinline__ int rounded_product(int factor, float gain) {
  constexpr float kOne = 12582912.0F;  // 1.5 2^23: the last bit stands for 1
  return __float_as_int(__fmaf_rn(static_cast<float>(factor), gain, kOne)) - __float_as_int(kOne);
}

__device__ __forceinline__ std::uint32_t clamped_byte(int x) {
  return static_cast<std::uint32_t>(x < 0 ? 0 : (x > 255 ? 255 : x));
}

/// A cell of YCbCr: chroma, and its luma, whose results replace it.
template <typename Form>
struct Cell {
  int luma[Form::kRows][Form::kColumns];
  int cb;
  int cr;

  /// A missing sample has been given its neighbour's luma and mix, which leaves the mean gain.
  __device__ __forceinline__ void scale(const ClaheFrame& f, const LineTables& tables,
                                        const ColumnMix (&mix)[Form::kColumns]) {
    const int above = value_above_luma(f.weights, cb, cr);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < Form::kColumns; ++k) {
      float column = 0;
#pragma unroll
      for (int r = 0; r < Form::kRows; ++r) {
        const int y = luma[r][k] - f.weights.luma_offset;
        const int v = y < 0 ? 0 : yuv_value(f.weights, luma[r][k], above);
        const float gain = tables.gain(static_cast<std::uint32_t>(4 * v), mix[k]);
        column = r == 0 ? gain : column + gain;
        if (y >= 0) luma[r][k] = f.weights.luma_offset + rounded_product(y, gain);
      }
      sum = k == 0 ? column : sum + column;
    }
    const float mean = sum * (1.0F / (Form::kColumns * Form::kRows));
    cb = static_cast<int>(clamped_byte(128 + rounded_product(cb - 128, mean)));
    cr = static_cast<int>(clamped_byte(128 + rounded_product(cr - 128, mean)));
  }
};

/// Lines of YCbCr: eight luma columns a thread with their chroma, straight from device memory and
/// back.
template <typename Form>
class YuvApply {
 public:
  static constexpr float kScale = 1;
  static constexpr int kSlotBytes = 16;  // unused

  __device__ YuvApply(const ClaheFrame& f, int line, std::uint8_t*)
      : f_(f), line_(line), rows_(f, line, Form::kRows) {}

  __device__ void run(const LineTables& tables) {
    const bool may_be_whole = f_.aligned && (Form::kRows == 1 || rows_.both);
    for (int x = static_cast<int>(threadIdx.x) * kColumns; x < f_.width;
         x += kThreads * kColumns) {
      if (may_be_whole && x + kColumns <= f_.width) {
        whole(tables, x);
      } else {
        for (int c = x / Form::kColumns; c < (min(x + kColumns, f_.width) + Form::kColumns - 1) /
                                                 Form::kColumns;
             ++c) {
          single(tables, c);
        }
      }
    }
  }

 private:
  static constexpr int kColumns = 8;
  static constexpr int kCells = kColumns / Form::kColumns;
  static constexpr int kLumaBytes = kColumns * Form::kLumaStep;
  static constexpr int kChromaBytes = kCells * Form::kChromaStep;
  static constexpr bool kOwnCr = Form::kCrPlane != Form::kCbPlane;

  [[nodiscard]] __device__ int luma_row(int r) const {
    return r == 0 ? rows_.luma.first : rows_.luma.second;
  }

  /// Replaces a byte of consecutive words, which is 0 before.
  static __device__ __forceinline__ void put(std::uint32_t* words, int at, int value) {
    words[at / 4] |= static_cast<std::uint32_t>(value) << (8 * (at % 4));
  }

  __device__ __forceinline__ void whole(const LineTables& tables, int x) const {
    const int chroma_at = x / Form::kColumns * Form::kChromaStep;
    std::uint32_t luma[Form::kRows][kLumaBytes / 4];
    std::uint32_t cb[kChromaBytes / 4];
    std::uint32_t cr[kChromaBytes / 4];
#pragma unroll
    for (int r = 0; r < Form::kRows; ++r)
      load_group<kLumaBytes>(row_of(f_, 0, luma_row(r)) + x * Form::kLumaStep, luma[r]);
    if constexpr (!Form::kPacked) {
      load_group<kChromaBytes>(row_of(f_, Form::kCbPlane, line_) + chroma_at, cb);
      if constexpr (kOwnCr)
        load_group<kChromaBytes>(row_of(f_, Form::kCrPlane, line_) + chroma_at, cr);
    }
    ColumnMix mix[kColumns];
    load_eight(f_.columns + x, mix);
    std::uint32_t new_luma[Form::kRows][kLumaBytes / 4] = {};
    std::uint32_t new_cb[kChromaBytes / 4] = {};
    std::uint32_t new_cr[kChromaBytes / 4] = {};
#pragma unroll
    for (int c = 0; c < kCells; ++c) {
      const std::uint32_t* from_cb = Form::kPacked ? luma[0] : cb;
      const std::uint32_t* from_cr = Form::kPacked ? luma[0] : (kOwnCr ? cr : cb);
      Cell<Form> cell;
      ColumnMix own[Form::kColumns];
      cell.cb = static_cast<int>(byte_of(from_cb, Form::cb_at(c)));
      cell.cr = static_cast<int>(byte_of(from_cr, Form::cr_at(c)));
#pragma unroll
      for (int k = 0; k < Form::kColumns; ++k) {
        own[k] = mix[Form::kColumns * c + k];
#pragma unroll
        for (int r = 0; r < Form::kRows; ++r)
          cell.luma[r][k] =
              static_cast<int>(byte_of(luma[r], Form::luma_at(Form::kColumns * c + k)));
      }
      cell.scale(f_, tables, own);
#pragma unroll
      for (int k = 0; k < Form::kColumns; ++k) {
#pragma unroll
        for (int r = 0; r < Form::kRows; ++r)
          put(new_luma[r], Form::luma_at(Form::kColumns * c + k), cell.luma[r][k]);
      }
      put(Form::kPacked ? new_luma[0] : new_cb, Form::cb_at(c), cell.cb);
      put(Form::kPacked ? new_luma[0] : (kOwnCr ? new_cr : new_cb), Form::cr_at(c), cell.cr);
    }
#pragma unroll
    for (int r = 0; r < Form::kRows; ++r)
      store_group<kLumaBytes>(out_row_of(f_, 0, luma_row(r)) + x * Form::kLumaStep, new_luma[r]);
    if constexpr (!Form::kPacked) {
      store_group<kChromaBytes>(out_row_of(f_, Form::kCbPlane, line_) + chroma_at, new_cb);
      if constexpr (kOwnCr)
        store_group<kChromaBytes>(out_row_of(f_, Form::kCrPlane, line_) + chroma_at, new_cr);
    }
  }

  static __device__ __forceinline__ void load_eight(const ColumnMix* from,
                                                    ColumnMix (&mix)[kColumns]) {
    ColumnMix four[4];
    load_mixes(from, four);
#pragma unroll
    for (int i = 0; i < 4; ++i) mix[i] = four[i];
    load_mixes(from + 4, four);
#pragma unroll
    for (int i = 0; i < 4; ++i) mix[4 + i] = four[i];
  }

  /// A cell sample by sample, wherever it lies and whatever it lacks.
  __device__ void single(const LineTables& tables, int c) const {
    Cell<Form> cell;
    ColumnMix mix[Form::kColumns];
    cell.cb = row_of(f_, Form::kCbPlane, line_)[Form::cb_at(c)];
    cell.cr = row_of(f_, Form::kCrPlane, line_)[Form::cr_at(c)];
    for (int k = 0; k < Form::kColumns; ++k) {
      const int x = min(Form::kColumns * c + k, f_.width - 1);
      mix[k] = f_.columns[x];
      for (int r = 0; r < Form::kRows; ++r)
        cell.luma[r][k] = row_of(f_, 0, luma_row(r))[Form::luma_at(x)];
    }
    const std::uint8_t extra = copied_luma(c);
    cell.scale(f_, tables, mix);
    for (int k = 0; k < Form::kColumns; ++k) {
      const int x = Form::kColumns * c + k;
      if (x >= f_.width) continue;
      for (int r = 0; r < Form::kRows; ++r)
        out_row_of(f_, 0, luma_row(r))[Form::luma_at(x)] =
            static_cast<std::uint8_t>(cell.luma[r][k]);
    }
    out_row_of(f_, Form::kCbPlane, line_)[Form::cb_at(c)] = static_cast<std::uint8_t>(cell.cb);
    out_row_of(f_, Form::kCrPlane, line_)[Form::cr_at(c)] = static_cast<std::uint8_t>(cell.cr);
    // Packed 4:2:2 has a second luma byte in its last cell whatever the width.
    const int past = Form::kColumns * c + 1;
    if (Form::kPacked && past >= f_.width) out_row_of(f_, 0, line_)[Form::luma_at(past)] = extra;
  }

  [[nodiscard]] __device__ std::uint8_t copied_luma(int c) const {
    return Form::kPacked ? row_of(f_, 0, line_)[Form::luma_at(Form::kColumns * c + 1)]
                         : std::uint8_t{0};
  }

  const ClaheFrame& f_;
  int line_;
  LineRows rows_;
};

template <typename Form>
struct ApplyOf {
  using Type = YuvApply<Form>;
};
template <int kBytes, int kColor>
struct ApplyOf<PackedForm<kBytes, kColor>> {
  using Type = PackedApply<PackedForm<kBytes, kColor>>;
};

template <typename Form>
__global__ void __launch_bounds__(kThreads) clahe_apply_kernel(const __grid_constant__ ClaheFrame f) {
  using Apply = typename ApplyOf<Form>::Type;
  extern __shared__ __align__(16) float tables[];
  __shared__ float inverse[256];
  __shared__ __align__(16) std::uint8_t slots[Apply::kSlotBytes];
  const int line = static_cast<int>(blockIdx.x);
  for (int v = static_cast<int>(threadIdx.x); v < 256; v += kThreads)
    inverse[v] = tiles::gain_inverse(v) * Apply::kScale;
  const LineMix mix = f.line_mixes[line];
  // The frame was there before the tiles were counted, which is over.
  Apply apply(f, line, slots);
  wait_then_release();
  mix_tables(f, mix, tables);
  __syncthreads();
  apply.run({reinterpret_cast<const std::uint8_t*>(tables), inverse});
}

}  // namespace

void clahe_apply(const ClaheFrame& frame, const LaunchDevice& device, cudaStream_t stream) {
  for_form(frame.format, [&](auto form) {
    EarlyLaunch launch(device);
    const std::size_t tables = (static_cast<std::size_t>(frame.tiles_x) + 1) * kTileTableBytes;
    const cudaLaunchConfig_t config = launch.config(
        dim3(static_cast<unsigned>(frame.lines)), dim3(kThreads), stream, tables);
    check(cudaLaunchKernelEx(&config, clahe_apply_kernel<decltype(form)>, frame),
          "launching the scaling by tiles");
  });
}

}  // namespace equalux::cuda

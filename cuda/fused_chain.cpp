#include "fused_chain.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "check.h"
#include "fused_config.h"
#include "fused_kernels.h"
#include "tone_curve.h"

namespace equalux::cuda {
namespace {

const void* kernel_for(PixelFormat format, bool aligned) {
  if (const void* kernel = fused_packed_kernel(format, aligned)) return kernel;
  if (const void* kernel = fused_420_kernel(format, aligned)) return kernel;
  return fused_422_444_kernel(format, aligned);
}

bool is_aligned(const void* data, std::ptrdiff_t stride) {
  return reinterpret_cast<std::uintptr_t>(data) % kVectorBytes == 0 && stride % kVectorBytes == 0;
}

/// Columns of luma in a chunk; see the layouts' kPixels.
std::uint32_t chunk_pixels(PixelFormat format) {
  const FormatTraits& t = traits(format);
  if (t.model != ColorModel::yuv) return static_cast<std::uint32_t>(kChunkBytes / t.step[0]);
  return t.planes == 1 ? kChunkBytes / 2 : 16 * kLanes;
}

}  // namespace

FusedChain::Launch FusedChain::prepare(bool aligned) const {
  Launch launch;
  launch.kernel = kernel_for(desc_.format, aligned);
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, launch.kernel), "loading the fused kernel");
  // The sizes belong to the architecture that the kernel was compiled for, not to the device's.
  const FusedConfig config = fused_config(attributes.ptxVersion * 10);
  launch.block = static_cast<unsigned>(config.threads());
  launch.shared_bytes = static_cast<std::size_t>(config.table_bytes() + config.ring_bytes());
  check(cudaFuncSetAttribute(launch.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(launch.shared_bytes)),
        "asking for shared memory");
  return launch;
}

void FusedChain::configure(const ImageDesc& desc) {
  desc_ = desc;
  aligned_ = prepare(true);
  unaligned_ = prepare(false);
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device),
        "asking for the multiprocessors");
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "asking for the compute capability");
  overlaps_launches_ = major >= 9;
  const bool yuv = traits(desc.format).model == ColorModel::yuv;
  frame_ = FusedParams{};
  frame_.scaler = params_.scaler;
  frame_.weights = yuv ? yuv_weights(desc.matrix, desc.range) : YuvWeights{0, 255, 0, 0, 0, 0};
  frame_.yuv = YuvFloats::of(frame_.weights);
  frame_.height = static_cast<std::uint32_t>(desc.height);

  FusedState state{};
  const std::int64_t bins = params_.bins == 0 ? 256 : params_.bins;
  const std::int64_t most = frame_.weights.luma_max;
  for (int v = 255; v >= 0; --v) {
    const bool joined = v < 255 && bin_of(v + 1, bins, most) == bin_of(v, bins, most);
    state.last_of_bin[v] = joined ? state.last_of_bin[v + 1] : static_cast<std::uint8_t>(v);
  }
  state_ = allocate_device<FusedState>(1);
  check(cudaMemcpy(state_.get(), &state, sizeof state, cudaMemcpyHostToDevice),
        "uploading the bins");
  frame_.state = state_.get();
}

void FusedChain::enqueue(const ConstImageView& in, const ImageView& out, FieldOrder field_order,
                         cudaStream_t stream) {
  const FormatTraits& t = traits(desc_.format);
  FusedParams p = frame_;
  p.interlaced = field_order != FieldOrder::progressive;
  bool aligned = true;
  bool tight = t.planes == 1 && t.model != ColorModel::yuv;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.planes); ++i) {
    p.in[i] = in.data[i];
    p.out[i] = out.data[i];
    p.in_stride[i] = in.stride[i];
    p.out_stride[i] = out.stride[i];
    aligned = aligned && is_aligned(in.data[i], in.stride[i]) &&
              is_aligned(out.data[i], out.stride[i]);
  }
  const auto row = static_cast<std::ptrdiff_t>(row_bytes(desc_, 0));
  tight = tight && in.stride[0] == row && out.stride[0] == row;
  const auto width = static_cast<std::uint32_t>(desc_.width);
  auto lines = static_cast<std::uint32_t>(plane_rows(desc_, t.planes - 1));
  p.width = width;
  if (tight && std::uint64_t{lines} * static_cast<std::uint64_t>(row) <= UINT32_MAX) {
    // One long line; its alignment is that of the first byte. The kernel counts a line's bytes in
    // 32 bits.
    p.width = width * lines;
    lines = 1;
    aligned = is_aligned(in.data[0], 0) && is_aligned(out.data[0], 0);
  }
  const std::uint32_t pixels = chunk_pixels(desc_.format);
  p.chunks_per_line = FastDivisor::of((p.width + pixels - 1) / pixels);
  p.chunks = p.chunks_per_line.divisor * lines;

  const Launch& launch = aligned ? aligned_ : unaligned_;
  const std::uint32_t warps = launch.block / kLanes;
  const unsigned grid = std::clamp((p.chunks + warps - 1) / warps, 1U,
                                   static_cast<std::uint32_t>(multiprocessors_));
  std::array<cudaLaunchAttribute, 2> attributes{};
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(launch.block);
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = stream;
  config.attrs = attributes.data();
  config.numAttrs = overlaps_launches_ ? 2 : 1;
  std::array<void*, 1> arguments{&p};
  check(cudaLaunchKernelExC(&config, launch.kernel, arguments.data()), "launching the fused kernel");
}

}  // namespace equalux::cuda

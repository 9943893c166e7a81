#include "cuda/equalize/fused/fused_chain.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>

#include <equalux/error.h>

#include "cuda/device/plane_pair.h"
#include "cuda/equalize/curve_ahead.h"
#include "cuda/equalize/fused/fused_config.h"
#include "cuda/equalize/fused/fused_kernels.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/launch_device.h"
#include "cuda/runtime/trace.h"
#include "cuda/runtime/view_strides.h"
#include "src/equalize/fixed_curve.h"
#include "src/equalize/space.h"
#include "src/equalize/tone/tone_curve.h"

namespace equalux::cuda {
namespace {

const void* kernel_for(PixelFormat format, Access access, bool saturates = false) {
  if (saturates) {
    if (const void* kernel = fused_packed_saturated_kernel(format, access)) return kernel;
    if (const void* kernel = fused_420_saturated_kernel(format, access)) return kernel;
    return fused_422_444_saturated_kernel(format, access);
  }
  if (const void* kernel = fused_packed_kernel(format, access)) return kernel;
  if (const void* kernel = fused_420_kernel(format, access)) return kernel;
  return fused_422_444_kernel(format, access);
}

/// Returns true where Access::flat takes the planes: both of chroma have one stride, and offsets
/// fit in 31 bits.
template <typename View>
bool is_flat(const View& image) {
  const FormatTraits& t = traits(image.desc.format);
  if (t.planes == 3 && image.stride[1] != image.stride[2]) return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.planes); ++i) {
    const std::int64_t rows = plane_rows(image.desc, static_cast<int>(i));
    if (rows * std::abs(image.stride[i]) > INT32_MAX) return false;
  }
  return true;
}

/// Columns of luma in a chunk, as kPixels of the layouts.
std::uint32_t chunk_pixels(PixelFormat format) {
  const FormatTraits& t = traits(format);
  if (t.model != ColorModel::yuv) return static_cast<std::uint32_t>(kChunkBytes / t.step[0]);
  return t.planes == 1 ? kChunkBytes / 2 : 16 * kLanes;
}

/// Returns true where kernels of other processes may run on the device at the same time (MPS), and
/// where that is unknown.
bool shares_device([[maybe_unused]] int device) {
  int shared = 1;
#if CUDART_VERSION >= 12040
  const cudaError_t status = cudaDeviceGetAttribute(&shared, cudaDevAttrMpsEnabled, device);
  if (status != cudaSuccess) shared = 1;
  ignore(status);
#endif
  return shared != 0;
}

/// Returns true where launches in a stream are captured, not run, and where that is unknown.
bool may_capture(cudaStream_t stream) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &capture) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return true;
  }
  return capture != cudaStreamCaptureStatusNone;
}

/// Number of configured chains on a device. The lock is held from a look at the number to the
/// launch that relies on it.
struct DeviceChains {
  std::mutex mutex;
  int count = 0;
};

DeviceChains& chains_on(int device) {
  static std::array<DeviceChains, 64> chains;
  return chains[static_cast<std::size_t>(device) % chains.size()];
}

/// Throws Error(usage) where a cell of the grid's histogram could overflow. Only a frame near 2^31
/// pixels gives `workers` blocks that much, where they are less than five.
void check_counts(unsigned workers, std::uint64_t block_samples, int multiprocessors) {
  const std::uint64_t blocks = (workers + kGridCopies - 1) / kGridCopies;
  if (blocks * block_samples > kMostGridCount) {
    throw Error(ExitCode::usage, "equalize: the frame is too large for a device with " +
                                     std::to_string(multiprocessors) + " multiprocessors");
  }
}

}  // namespace

FusedChain::~FusedChain() {
  leave_device();
}

void FusedChain::leave_device() noexcept {
  if (device_ < 0) return;
  // Wait first: as soon as this chain is not counted, another one may overlap its launches.
  ignore(cudaDeviceSynchronize());
  DeviceChains& chains = chains_on(device_);
  const std::lock_guard lock(chains.mutex);
  --chains.count;
  device_ = -1;
}

/// Counts this chain on the device, then waits for launches in flight. A chain that was alone may
/// have overlapping ones: beside this chain's first launch, either would have a part of its blocks
/// resident and wait for the rest for ever.
void FusedChain::join_device(int device) {
  device_ = device;
  {
    DeviceChains& chains = chains_on(device_);
    const std::lock_guard lock(chains.mutex);
    ++chains.count;
  }
  check(cudaDeviceSynchronize(), "waiting for other chains' frames");
}

/// Returns true where a launch may overlap the end of the one before it, with so many chains on the
/// device.
///
/// All blocks of a launch wait for each other, so all must be resident at the same time. A
/// cooperative launch guarantees that, but never overlaps. An ordinary launch with programmatic
/// dependent launch is as safe where the grid fits the device and all else on it ends by itself;
/// only a second launch of this kind would not. So launches overlap while the chain is alone on the
/// device, once a cooperative launch has shown that the grid fits what the stream may use. A
/// captured launch may be replayed at any time, beside any chains, and never overlaps.
bool FusedChain::may_overlap(cudaStream_t stream, unsigned grid, int chains) const {
  if (!overlaps_launches_ || stream != last_stream_ || grid > proven_grid_) return false;
  return chains == 1 && !may_capture(stream);
}

FusedChain::Launch FusedChain::prepare(Access access, bool saturates) const {
  Launch launch;
  launch.kernel = kernel_for(desc_.format, access, saturates);
  if (launch.kernel == nullptr) return launch;
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, launch.kernel), "loading the fused kernel");
  // Sizes follow the architecture that the kernel was compiled for, which may be older than the
  // device.
  const FusedConfig config = fused_config(attributes.ptxVersion * 10);
  launch.block = static_cast<unsigned>(config.threads());
  launch.shared_bytes = static_cast<std::size_t>(config.table_bytes() + config.ring_bytes() +
                                                 (saturates ? config.open_cell_bytes() : 0));
  check(cudaFuncSetAttribute(launch.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(launch.shared_bytes)),
        "asking for shared memory");
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, launch.kernel, config.threads(),
                                                      launch.shared_bytes),
        "asking how many blocks fit");
  if (resident == 0) {
    throw cuda_error(cudaErrorCooperativeLaunchTooLarge, "fitting a block of the fused kernel");
  }
  return launch;
}

void FusedChain::prepare_launches(bool saturates) {
  for (int access = 0; access < kAccesses; ++access) {
    (saturates ? saturated_launches_ : launches_of_)[static_cast<std::size_t>(access)] =
        prepare(static_cast<Access>(access), saturates);
  }
}

void FusedChain::configure(const ImageDesc& desc) {
  leave_device();
  desc_ = desc;
  prepare_launches(false);
  saturated_launches_ = {};
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device),
        "asking for the multiprocessors");
  int cooperative = 0;
  check(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device),
        "asking for cooperative launches");
  if (cooperative == 0) throw cuda_error(cudaErrorNotSupported, "preparing cooperative launches");
  overlaps_launches_ = launches_ == Launches::overlapping && !shares_device(device) &&
                       LaunchDevice::of(kernel_for(desc.format, Access::spans)).dependent_launch;
  proven_grid_ = 0;
  join_device(device);
  const bool yuv = traits(desc.format).model == ColorModel::yuv;
  frame_ = FusedParams{};
  frame_.scaler = params_.scaler;
  frame_.weights = yuv ? space_weights(params_.space, desc) : YuvWeights{0, 255, 0, 0, 0, 0};
  const Sampling sampling = sampling_of(desc.format);
  frame_.luma_offsets = static_cast<std::uint32_t>(frame_.weights.luma_offset) * 0x01010101U;
  const auto samples = static_cast<float>(cell_columns(sampling) * cell_rows(sampling));
  frame_.yuv = YuvFloats::of(frame_.weights, samples * kGainScale * kChromaScale);
  frame_.code_base = kCodeBase + static_cast<float>(frame_.weights.luma_offset);
  frame_.yuv_codes = YuvCodeFloats::of(frame_.weights);
  frame_.padding_value =
      yuv ? yuv_value(frame_.weights, 0, value_above_luma(frame_.weights, 0, 0)) : 0;
  frame_.height = static_cast<std::uint32_t>(desc.height);
  frame_.samples = static_cast<std::uint32_t>(desc.width) * frame_.height;
  frame_.per_sample = 1.0 / frame_.samples;

  state_ = allocate_device<FusedState>(1);
  fill_device(state_.get(), 0, sizeof(FusedState), "clearing the histograms");
  excluded_->configure(desc, frame_.weights);
  frame_.state = state_.get();
  colours_.configure(desc);
  if (params_.space == Space::luma && params_.saturation != 1) colours_.prepare();
  start_curves({&state_->history, state_->curve_sums, frame_.weights.luma_max});
}

void FusedChain::upload_bins() {
  ahead_of_.reset();
  std::array<double, 256> inverse{};
  for (std::size_t v = 1; v < inverse.size(); ++v)
    inverse[v] = 1.0 / static_cast<double>(v);
  const std::array last_of_bin = last_levels_of_bins(params_.bins, frame_.weights.luma_max);
  upload(&state_->inverse, inverse.data(), sizeof inverse, "uploading the values");
  upload(&state_->last_of_bin, last_of_bin.data(), sizeof last_of_bin, "uploading the bins");
}

void FusedChain::upload_curve() {
  frame_.fixed_curve = params_.curve.has_value();
  if (!params_.curve) return;
  const CurveTable curve = curve_table(*params_.curve, frame_.weights.luma_max);
  upload(state_->fixed_curve, curve.data(), sizeof curve, "uploading the curve");
}

void FusedChain::update(const EqualizeParams& params) {
  if (params.space == Space::luma && params.saturation != 1) colours_.prepare();
  CurveChain::update(params);
  frame_.scaler = params.scaler;
}

void FusedChain::load(std::string_view state) {
  CurveChain::load(state);
  ahead_of_.reset();
}

/// Makes the curve ahead of a frame, unless the frame before it has done so with the same limits.
void FusedChain::look_ahead(const tone::Frame& tone, cudaStream_t stream) {
  const bool made = tone.fresh || ahead_of_ == tone.limits;
  if (tone.over_time && !made) {
    curve_ahead(state_.get(), tone, static_cast<std::uint32_t>(frame_.weights.luma_max), stream);
  }
  ahead_of_.reset();
  if (tone.over_time) ahead_of_ = tone.limits;
}

void FusedChain::process(const ConstImageView& in, const ImageView& out,
                         const FrameContext& context) {
  const TraceRange range("fused");
  FusedParams p = frame_;
  p.opencv_curve = params_.compatible == Compatible::opencv;
  p.shapes_curve = control_.active() || p.fixed_curve || p.opencv_curve;
  if (control_.active() && !p.fixed_curve) p.tone = control_.next(context);
  const saturation::Rule rule = p.tone.saturation;
  const bool recolours = params_.space == Space::luma && colours_.changes(rule);
  if (recolours && rule.most != saturation::kOne) p.factors_of_results = colours_.factors();
  enqueue(in, out, context, p);
  context.mark("fused");
  if (recolours) colours_.enqueue(out, rule, context);
}

void FusedChain::saturate(const ImageView& frame, const saturation::Rule& rule,
                          const std::uint16_t* factors, const FrameContext& context) {
  const TraceRange range("saturation");
  FusedParams p = frame_;
  p.shapes_curve = true;
  p.tone.saturation = rule;
  p.factors = factors;
  enqueue(frame, frame, context, p);
  context.mark("saturation");
}

FusedChain::Placed FusedChain::place(const ConstImageView& in, const ImageView& out,
                                     FusedParams& p) const {
  const FormatTraits& t = traits(desc_.format);
  check_strides("equalize", in);
  check_strides("equalize", out);
  bool aligned = true;
  bool tight = t.planes == 1 && t.model != ColorModel::yuv;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.planes); ++i) {
    p.in[i] = in.data[i];
    p.out[i] = out.data[i];
    p.in_stride[i] = static_cast<std::int32_t>(in.stride[i]);
    p.out_stride[i] = static_cast<std::int32_t>(out.stride[i]);
    aligned =
        aligned &&
        PlanePair{in.data[i], out.data[i], in.stride[i], out.stride[i]}.is_multiple(kVectorBytes);
  }
  const auto row = static_cast<std::ptrdiff_t>(row_bytes(desc_, 0));
  tight = tight && in.stride[0] == row && out.stride[0] == row;
  p.width = static_cast<std::uint32_t>(desc_.width);
  auto lines = static_cast<std::uint32_t>(plane_rows(desc_, t.planes - 1));
  if (tight && std::uint64_t{lines} * static_cast<std::uint64_t>(row) <= UINT32_MAX) {
    // A frame without padding is one long line, whose alignment is that of its first byte. The
    // kernel counts a line's bytes in 32 bits.
    p.width *= lines;
    lines = 1;
    aligned = PlanePair{in.data[0], out.data[0]}.is_multiple(kVectorBytes);
  }
  const bool flat = aligned && launch_for(Access::flat, false).kernel != nullptr &&
                    p.width % kPartColumns == 0 && !p.lacks_rows && !p.interlaced && is_flat(in) &&
                    is_flat(out);
  return {flat ? Access::flat : (aligned ? Access::spans : Access::bytes), lines};
}

unsigned FusedChain::divide(const Launch& launch, const Placed& placed, FusedParams& p) const {
  const Sampling sampling = sampling_of(desc_.format);
  const auto columns_of_cell = static_cast<std::uint32_t>(cell_columns(sampling));
  const std::uint32_t samples = columns_of_cell * static_cast<std::uint32_t>(cell_rows(sampling));
  // Whole cells are counted, also those that the frame has only in part.
  const std::uint32_t pixels = chunk_pixels(desc_.format);
  const std::uint32_t cells = (p.width + columns_of_cell - 1) / columns_of_cell;
  const std::uint32_t chunk_samples = pixels / columns_of_cell * samples;
  const bool flat = placed.access == Access::flat;
  const std::uint32_t parts = flat ? kLanes : 1;  // parts of a chunk
  p.columns = flat ? p.width / kPartColumns : (p.width + pixels - 1) / pixels;
  p.by_columns = FastDivisor::of(p.columns);
  p.parts = p.columns * placed.lines;
  const std::uint32_t chunks = (p.parts + parts - 1) / parts;
  p.padding = chunks * chunk_samples - placed.lines * cells * samples;

  // Over time an extra block keeps the history, except on a device with a single multiprocessor.
  const std::uint32_t warps_each = launch.block / kLanes;
  const std::uint32_t most = std::min(static_cast<std::uint32_t>(multiprocessors_), kMostBlocks);
  const std::uint32_t keepers = p.tone.over_time && most > 1 ? 1 : 0;
  p.workers = std::clamp((chunks + warps_each - 1) / warps_each, 1U, most - keepers);
  const std::uint32_t warps = p.workers * warps_each;
  p.chunks_of_warp = chunks / warps;
  p.longer_warps = chunks % warps;
  check_counts(p.workers, std::uint64_t{p.chunks_of_warp + 1} * warps_each * chunk_samples,
               multiprocessors_);
  p.step = {warps * parts / p.columns, warps * parts % p.columns};
  return p.workers + keepers;
}

void FusedChain::enqueue(const ConstImageView& in, const ImageView& out,
                         const FrameContext& context, FusedParams p) {
  const auto stream = static_cast<cudaStream_t>(context.stream);
  const Sampling sampling = sampling_of(desc_.format);
  p.interlaced = context.field_order != FieldOrder::progressive;
  // 4:2:0: a last row alone, or, interlaced, one of a field alone.
  p.lacks_rows = cell_rows(sampling) == 2 && desc_.height % (p.interlaced ? 4 : 2) != 0;
  p.has_partial_cells = p.lacks_rows || (cell_columns(sampling) == 2 && desc_.width % 2 != 0);
  const Placed placed = place(in, out, p);
  const bool saturates = params_.space == Space::value &&
                         traits(desc_.format).model != ColorModel::gray &&
                         saturation::changes(p.tone.saturation);
  // Loaded on first use, as loading takes its time and few frames need them.
  if (saturates && launch_for(Access::bytes, true).kernel == nullptr) prepare_launches(true);
  if (saturates) {
    const auto samples = static_cast<float>(cell_columns(sampling) * cell_rows(sampling));
    p.yuv = YuvFloats::of(p.weights, samples * 0x1p-16f);
  }
  const Launch& launch = launch_for(placed.access, saturates);
  const unsigned grid = divide(launch, placed, p);
  p.collects_curve = collects_ && !p.fixed_curve;
  collected_ += p.collects_curve ? 1 : 0;
  look_ahead(p.tone, stream);
  p.excludes = excluded_->active();
  if (p.excludes) excluded_->enqueue(in, context, state_.get(), stream);
  start(launch, grid, p, stream);
}

void FusedChain::start(const Launch& launch, unsigned grid, FusedParams& params,
                       cudaStream_t stream) {
  DeviceChains& chains = chains_on(device_);
  const std::lock_guard lock(chains.mutex);
  const bool overlaps = may_overlap(stream, grid, chains.count);
  cudaLaunchAttribute attribute{};
  if (overlaps) {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  } else {
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(launch.block);
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  std::array<void*, 1> arguments{&params};
  check(cudaLaunchKernelExC(&config, launch.kernel, arguments.data()),
        "launching the fused kernel");
  // A captured launch has not run yet, so it proves nothing.
  const bool is_news = stream != last_stream_ || grid > proven_grid_;
  if (!overlaps && is_news && !may_capture(stream)) {
    proven_grid_ = stream == last_stream_ ? std::max(proven_grid_, grid) : grid;
    last_stream_ = stream;
  }
}

}  // namespace equalux::cuda

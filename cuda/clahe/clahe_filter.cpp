#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include <equalux/clahe.h>
#include <equalux/error.h>

#include "cuda/clahe/clahe.h"
#include "cuda/equalize/fused/fused_config.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/filter_device.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/trace.h"
#include "src/clahe/tile_curves.h"
#include "src/clahe/tile_grid.h"
#include "src/clahe/tile_state.h"
#include "src/common/filter_recipe.h"

namespace equalux {
namespace {

using cuda::ClaheFrame;
using cuda::TileState;

/// Blocks that count, for each multiprocessor: as many as it runs at a time.
constexpr int kCountingBlocks = 6;

/// Neighbouring bytes of device memory, each a copy of the host's.
template <typename T>
cuda::DevicePointer<T> upload(const std::vector<T>& host, const char* what) {
  cuda::DevicePointer<T> device = cuda::allocate_device<T>(host.size());
  cuda::upload(device.get(), host.data(), host.size() * sizeof(T), what);
  return device;
}

/// The mixes of formats with word_tables().
std::vector<cuda::ColumnMix> word_mixes(const TileAxis& columns, int width) {
  std::vector<cuda::ColumnMix> mixes(static_cast<std::size_t>(width) + cuda::kChunkBytes, 0);
  for (int x = 0; x < width; ++x) {
    const auto cell = static_cast<std::size_t>(x);
    mixes[static_cast<std::size_t>(cuda::mix_place(x))] =
        static_cast<std::uint32_t>(columns.weight[cell]) << 24 |
        columns.first[cell] * cuda::kTileTableBytes;
  }
  return mixes;
}

/// The mix of each pixel column. What chunks have beyond the last is anything that can be read.
std::vector<cuda::ColumnMix> column_mixes(const TileAxis& columns, int cell_columns, int width) {
  const TileSpans spans(columns);
  std::vector<cuda::ColumnMix> mixes(static_cast<std::size_t>(width) + cuda::kChunkBytes, 0);
  for (const TileSpan& span : spans.spans) {
    for (int x = span.begin * cell_columns; x < std::min(span.end * cell_columns, width); ++x) {
      const float weight =
          static_cast<float>(spans.weight[static_cast<std::size_t>(x / cell_columns)]) /
          static_cast<float>(tiles::kFullWeight);
      mixes[static_cast<std::size_t>(x)] =
          std::bit_cast<std::uint32_t>(weight) |
          static_cast<std::uint32_t>(span.left) * cuda::kTileTableBytes;
    }
  }
  return mixes;
}

std::vector<cuda::LineMix> line_mixes(const TileAxis& rows, int lines) {
  std::vector<cuda::LineMix> mixes;
  for (int line = 0; line < lines; ++line) {
    const auto at = static_cast<std::size_t>(line);
    mixes.push_back(
        {rows.first[at], static_cast<std::uint8_t>(rows.second(line)), rows.weight[at]});
  }
  return mixes;
}

/// Adaptive equalization on one GPU.
class CudaClaheFilter final : public TunableFilter<ClaheParams> {
 public:
  CudaClaheFilter(const ClaheParams& params, const CudaOptions& options)
      : TunableFilter(params), control_(params.curve), device_(options) {}

  ~CudaClaheFilter() override { device_.use_to_free(); }

  [[nodiscard]] bool accepts(PixelFormat format) const override { return takes(params_, format); }

  ImageDesc configure(const ImageDesc& input) override {
    validate(params_, Backend::cuda, &input);
    equalux::validate(input);
    device_.use();
    launch_device_ = cuda::clahe_device();
    // Frames under way may still read what is replaced here.
    cuda::check(cudaDeviceSynchronize(), "waiting for the frames under way");
    desc_ = input;
    describe(input);
    const CellCount cells = cells_of(input);
    const TileAxis columns(params_.tiles_x, cells.columns);
    columns_ = upload(cuda::word_tables(input.format)
                          ? word_mixes(columns, input.width)
                          : column_mixes(columns, frame_.cell_columns, input.width),
                      "uploading the columns' mixes");
    lines_ = upload(line_mixes(TileAxis(params_.tiles_y, cells.rows), cells.rows),
                    "uploading the lines' mixes");
    const auto tiles = static_cast<std::size_t>(tile_count());
    states_ = upload(std::vector<TileState>(tiles), "clearing the tiles");
    levels_ = cuda::allocate_device<std::uint16_t>(256 * tiles);
    frame_.columns = columns_.get();
    frame_.line_mixes = lines_.get();
    frame_.states = states_.get();
    frame_.levels = levels_.get();
    control_.reset();
    return input;
  }

  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    if (in.desc != desc_ || out.desc != desc_) {
      throw Error(ExitCode::usage, "clahe: the frame is not what the filter was configured for");
    }
    device_.use();
    const cuda::TraceRange range("clahe");
    const auto stream = static_cast<cudaStream_t>(context.stream);
    ClaheFrame frame = frame_;
    frame.interlaced = context.field_order != FieldOrder::progressive;
    frame.aligned = true;
    for (int p = 0; p < traits(desc_.format).planes; ++p) {
      cuda::PlanePair& plane = frame.planes[static_cast<std::size_t>(p)];
      plane = cuda::PlanePair::of_plane(in, out, p);
      frame.aligned = frame.aligned && plane.is_multiple(16);
    }
    frame.tone = control_.next(context);
    cuda::clahe_count(frame, launch_device_, stream);
    context.mark("histogram");
    cuda::clahe_curve(frame, launch_device_, stream);
    context.mark("curve");
    cuda::clahe_apply(frame, launch_device_, stream);
    context.mark("apply");
  }

  bool retune(const ClaheParams& params) override {
    validate(params, Backend::cuda, desc_.width == 0 ? nullptr : &desc_);
    if (params.tiles_x != params_.tiles_x || params.tiles_y != params_.tiles_y) return false;
    control_.update(params.curve);
    params_ = params;
    return true;
  }

  void reset() override { control_.reset(); }

  [[nodiscard]] std::string save() const override {
    if (!states_) return "{}";
    std::vector<tone::History> histories;
    for (const TileState& state : states())
      histories.push_back(state.history);
    return save_tiles(params_, control_, histories, frame_.weights.luma_max);
  }

  void load(std::string_view text) override {
    if (!states_) return;
    std::vector<tone::History> histories(static_cast<std::size_t>(tile_count()));
    load_tiles(text, params_, control_, histories, frame_.weights.luma_max);
    std::vector<TileState> loaded = states();
    for (std::size_t tile = 0; tile < loaded.size(); ++tile)
      loaded[tile].history = histories[tile];
    cuda::upload(states_.get(), loaded.data(), loaded.size() * sizeof(TileState),
                 "writing the tiles' histories");
  }

 private:
  [[nodiscard]] int tile_count() const { return params_.tiles_x * params_.tiles_y; }

  /// The tiles when the frames under way are done.
  [[nodiscard]] std::vector<TileState> states() const {
    device_.use();
    std::vector<TileState> all(static_cast<std::size_t>(tile_count()));
    cuda::check(cudaDeviceSynchronize(), "waiting for the frames under way");
    cuda::check(cudaMemcpy(all.data(), states_.get(), all.size() * sizeof(TileState),
                           cudaMemcpyDeviceToHost),
                "reading the tiles' histories");
    return all;
  }

  /// What all frames have in common.
  void describe(const ImageDesc& desc) {
    const FormatTraits& t = traits(desc.format);
    const bool yuv = t.model == ColorModel::yuv;
    const CellCount cells = cells_of(desc);
    frame_ = ClaheFrame{};
    frame_.format = desc.format;
    frame_.width = desc.width;
    frame_.height = desc.height;
    frame_.lines = cells.rows;
    frame_.cell_columns = 1 << t.chroma_shift_x;
    frame_.weights = yuv ? yuv_weights(desc.matrix, desc.range) : YuvWeights{0, 255, 0, 0, 0, 0};
    frame_.tiles_x = params_.tiles_x;
    frame_.tiles_y = params_.tiles_y;
    const auto copy_edges = [](const TileAxis& axis, auto& edges) {
      std::copy(axis.edge.begin(), axis.edge.end(), edges.begin());
    };
    copy_edges(TileAxis(params_.tiles_x, cells.columns), frame_.edge_x);
    copy_edges(TileAxis(params_.tiles_y, cells.rows), frame_.edge_y);
    const int wanted = launch_device_.multiprocessors * kCountingBlocks / tile_count();
    frame_.bands = std::clamp(wanted, 1, cells.rows / params_.tiles_y);
  }

  tone::Control control_;
  cuda::FilterDevice device_;
  cuda::LaunchDevice launch_device_;
  ImageDesc desc_;
  ClaheFrame frame_;
  cuda::DevicePointer<cuda::ColumnMix> columns_;
  cuda::DevicePointer<cuda::LineMix> lines_;
  cuda::DevicePointer<TileState> states_;
  cuda::DevicePointer<std::uint16_t> levels_;
};

}  // namespace

std::unique_ptr<Filter> make_cuda_filter(const ClaheParams& params, const CudaOptions& options) {
  validate(params, Backend::cuda);
  return std::make_unique<CudaClaheFilter>(params, options);
}

}  // namespace equalux

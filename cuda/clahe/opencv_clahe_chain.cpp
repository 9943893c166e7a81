#include "cuda/clahe/opencv_clahe_chain.h"

#include <algorithm>
#include <vector>

#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/trace.h"

namespace equalux::cuda {
namespace {

/// Counting blocks per multiprocessor.
constexpr int kOpencvCountingBlocks = 8;

void append_mixes(const opencv::Axis& axis, std::vector<OpencvMix>& mixes) {
  for (std::size_t at = 0; at < axis.first.size(); ++at)
    mixes.push_back({axis.first[at], axis.second[at], axis.weight[at]});
}

}  // namespace

void OpencvClaheChain::configure(const ImageDesc& desc) {
  device_ = opencv_clahe_device();
  depth_ = traits(desc.format).depth;
  grid_ = opencv::Grid(params_, desc.width, desc.height);
  frame_ = OpencvFrame{};
  frame_.words = depth_ != 8;
  frame_.width = desc.width;
  frame_.height = desc.height;
  frame_.tiles_x = grid_.x.tiles;
  frame_.tiles_y = grid_.y.tiles;
  frame_.tile_width = grid_.x.size;
  frame_.tile_height = grid_.y.size;
  const int tiles = grid_.x.tiles * grid_.y.tiles;
  frame_.bands = std::clamp(device_.multiprocessors * kOpencvCountingBlocks / tiles, 1,
                            std::min(grid_.y.size, 65535));
  frame_.rule = opencv::tile_rule(params_.curve.clip_limit, grid_, depth_);
  std::vector<std::int32_t> sources = grid_.x.source;
  sources.insert(sources.end(), grid_.y.source.begin(), grid_.y.source.end());
  sources_ = uploaded(sources, "uploading the tiles' pixels");
  frame_.source_x = sources_.get();
  frame_.source_y = sources_.get() + grid_.x.source.size();
  std::vector<OpencvMix> mixes;
  append_mixes(grid_.x, mixes);
  append_mixes(grid_.y, mixes);
  mixes_ = uploaded(mixes, "uploading the pixels' mixes");
  frame_.columns = mixes_.get();
  frame_.rows = mixes_.get() + desc.width;
  const std::size_t words = static_cast<std::size_t>(tiles) * (std::size_t{1} << depth_);
  counts_ = allocate_device<std::uint32_t>(words);
  levels_ = allocate_device<std::uint16_t>(words);
  fill_device(counts_.get(), 0, words * sizeof(std::uint32_t), "clearing the tiles");
  frame_.counts = counts_.get();
  frame_.levels = levels_.get();
}

void OpencvClaheChain::process(const ConstImageView& in, const ImageView& out,
                               const FrameContext& context) {
  const TraceRange range("clahe");
  const auto stream = static_cast<cudaStream_t>(context.stream);
  OpencvFrame frame = frame_;
  frame.plane = PlanePair::of_plane(in, out, 0);
  frame.aligned = frame.plane.is_multiple(2);
  opencv_clahe_count(frame, device_, stream);
  context.mark("histogram");
  opencv_clahe_tables(frame, device_, stream);
  context.mark("curve");
  opencv_clahe_apply(frame, device_, stream);
  context.mark("apply");
}

void OpencvClaheChain::update(const ClaheParams& params) {
  params_ = params;
  frame_.rule = opencv::tile_rule(params_.curve.clip_limit, grid_, depth_);
}

}  // namespace equalux::cuda

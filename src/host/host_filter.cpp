#include "src/host/host_filter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <equalux/device.h>

#include "src/cpu/common/parallel.h"
#include "src/options/option_values.h"

namespace equalux {
namespace {

/// Limit of timestamps in nanoseconds, 126 years, so that differences do not overflow.
constexpr std::int64_t kFurthestPts = 4'000'000'000'000'000'000;

/// Catches strides in pixels, or 0, a usual mistake of C callers.
void check_rows(const ImageView& out) {
  for (int p = 0; p < traits(out.desc.format).planes; ++p) {
    const auto bytes = static_cast<std::ptrdiff_t>(row_bytes(out.desc, p));
    const std::ptrdiff_t stride = out.stride[static_cast<std::size_t>(p)];
    if (plane_rows(out.desc, p) > 1 && stride < bytes && stride > -bytes) {
      throw_usage("rows of plane " + std::to_string(p) + " of out are " + std::to_string(stride) +
                  " bytes apart, must be " + std::to_string(bytes) + " or more");
    }
  }
}

}  // namespace

FilterChain HostFilter::make(const std::vector<FilterSpec>& specs, HostOptions& options) {
  if (specs.empty()) throw_usage("there is no filter, must be one or more");
  check_threads(options.threads);
  std::vector<std::unique_ptr<Filter>> filters;
  if (options.backend != Backend::cuda) {
    for (const FilterSpec& spec : specs)
      filters.push_back(make_cpu_filter(spec, {}, {.threads = options.threads}));
    return FilterChain(std::move(filters));
  }
  // Errors of specs are reported on machines without a device, too.
  for (const FilterSpec& spec : specs)
    throw_violations(violations(spec, {}, Backend::cuda));
  options.device = choose_cuda_device(options.device).number;
  for (const FilterSpec& spec : specs) {
    // Separate launches, as the host has work of its own on the device.
    filters.push_back(
        make_cuda_filter(spec, {}, {.device = options.device, .launches = Launches::separate}));
  }
  return FilterChain(std::move(filters), &cuda_frame_memory());
}

HostFilter::HostFilter(const std::vector<FilterSpec>& specs, const HostOptions& options)
    : kept_(std::in_place, options.backend == Backend::cuda),
      options_(options),
      chain_(make(specs, options_)),
      specs_(specs) {
  if (on_cuda()) stream_end_ = make_cuda_stream_end(options_.device);
  kept_.reset();
}

HostFilter::~HostFilter() {
  kept_.emplace(on_cuda());
}

void HostFilter::require_configured() const {
  if (!configured_) throw_usage("the filter has no frames' size and format yet");
}

ImageDesc HostFilter::configure(const ImageDesc& input) {
  const KeptCudaContext kept(on_cuda());
  finish();
  configured_ = false;
  const ImageDesc output = chain_.configure(input);
  configured_ = true;
  index_ = 0;
  return output;
}

FrameContext HostFilter::next() const {
  FrameContext context;
  context.index = index_;
  const double ns = static_cast<double>(index_) * 1e9 / options_.rate;
  context.pts_ns = static_cast<std::int64_t>(std::min(ns, static_cast<double>(kFurthestPts)));
  return context;
}

void HostFilter::submit(const ConstImageView& in, const ImageView& out,
                        const FrameContext& context) {
  const KeptCudaContext kept(on_cuda());
  require_configured();
  if (context.pts_ns < -kFurthestPts || context.pts_ns > kFurthestPts) {
    throw_usage("pts_ns is " + std::to_string(context.pts_ns) + ", must be within " +
                std::to_string(kFurthestPts) + " of 0");
  }
  check_rows(out);
  // The memory between filters is shared by frames on all streams.
  if (stream_end_) stream_end_->order(context.stream);
  chain_.submit(in, out, context);
  if (stream_end_) stream_end_->mark(context.stream);
  index_ = context.index + 1;
}

void HostFilter::update(std::size_t index, const OptionValues& values) {
  const KeptCudaContext kept(on_cuda());
  if (index >= specs_.size()) {
    throw_usage("filter " + std::to_string(index) + " is not there, must be 0 to " +
                std::to_string(specs_.size() - 1));
  }
  finish();
  if (!chain_.filters()[index]->update(values)) {
    throw_usage(specs_[index].name +
                " makes frames of another format with that, which takes a new filter");
  }
}

void HostFilter::reset() {
  const KeptCudaContext kept(on_cuda());
  finish();
  for (const auto& filter : chain_.filters())
    filter->reset();
  index_ = 0;
}

std::string HostFilter::save() {
  const KeptCudaContext kept(on_cuda());
  require_configured();
  finish();
  return save_filters(chain_.filters());
}

void HostFilter::load(std::string_view state) {
  const KeptCudaContext kept(on_cuda());
  require_configured();
  finish();
  load_filters(chain_.filters(), state);
}

void HostFilter::finish() {
  if (stream_end_) stream_end_->finish();
}

}  // namespace equalux

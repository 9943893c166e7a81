#include "live_control.h"

#include <utility>
#include <vector>

#include "log.h"
#include "settings.h"

namespace equalux::cli {
namespace {

/// The equalize filters of the chain that can be changed while they run.
std::vector<Steering::Equalizer> equalizers_of(const CommonOptions& common) {
  std::vector<Steering::Equalizer> equalizers;
  const std::vector<FilterSpec> chain = filter_chain(common);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (chain[i].name != "equalize") continue;
    EqualizeParams params = common.equalize;
    for (const auto& [key, value] : chain[i].options)
      set_option(params, key, value);
    if (params.chain == Chain::fused) equalizers.push_back({i, params});
  }
  return equalizers;
}

}  // namespace

OptionGroup live_group(LiveOptions& options) {
  OptionGroup group{"Live", {}, false};
  group.options = {
      text_option("control", "PATH",
                  "take changes while frames move over a Unix socket: a JSON object a line, as "
                  "{\"strength\":0.6,\"filter\":true}, with the keys strength, clip-limit, floor, "
                  "ceiling, max-gain, temporal-ms, brighten-ms, darken-ms, scaler, filter and "
                  "preset; answers with state and counters (default: none)",
                  options.control)};
  return group;
}

LiveControl::LiveControl(const LiveOptions& options, const CommonOptions& common)
    : watched_(options.watched()),
      steering_(equalizers_of(common), preset_names(), preset_options) {
  if (!options.control.empty()) socket_ = open_control_socket(options.control, api_);
}

void LiveControl::attach(RunOptions& run) {
  run.on_submit = [this](Processor& processor, Frame& frame) { steering_.apply(processor, frame); };
  if (!watched_) return;
  run.on_open = [this, before = std::move(run.on_open)](const StreamInfo& info) {
    if (before) before(info);
    monitor_.open(info);
  };
  run.on_frame = [this, before = std::move(run.on_frame)](const Frame& frame) {
    if (before) before(frame);
    monitor_.add(frame);
  };
}

}  // namespace equalux::cli

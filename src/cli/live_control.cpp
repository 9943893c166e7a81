#include "live_control.h"

#include <cstdio>
#include <fstream>
#include <utility>
#include <vector>

#include <equalux/error.h>

#include "settings.h"

namespace equalux::cli {
namespace {

/// The token itself, or the first line of the file that it names.
[[maybe_unused]] std::string token_of(const std::string& text) {
  if (!text.starts_with('@')) return text;
  const std::string path = text.substr(1);
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) {
    throw Error(ExitCode::usage,
                "--serve-token " + text + " cannot be read, must be @FILE with the token in it");
  }
  return line;
}

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
                  "ceiling, max-gain, temporal-ms, brighten-ms, darken-ms, scaler, filter, "
                  "recording and preset; answers with state and counters (default: none)",
                  options.control),
      text_option("serve", "ADDRESS:PORT",
                  "serve a page to look on and to steer with, a JSON API and /metrics for "
                  "Prometheus; PORT alone is 127.0.0.1:PORT, which only this machine reaches; any "
                  "other address needs --serve-token (default: none)",
                  options.serve),
      text_option(
          "serve-token", "TOKEN|@FILE",
          "what callers of --serve must know, 16 characters or more, or the first line of a "
          "file (default: none)",
          options.serve_token)};
  return group;
}

LiveControl::LiveControl(const LiveOptions& options, const CommonOptions& common,
                         RecordSwitch* recording)
    : watched_(options.watched()),
      pictures_(!options.serve.empty()),
      steering_(equalizers_of(common), preset_names(), preset_options) {
  if (recording != nullptr) steering_.allow_recording(*recording);
  if (!options.control.empty()) socket_ = open_control_socket(options.control, api_);
  if (options.serve.empty()) {
    if (!options.serve_token.empty()) {
      throw Error(ExitCode::usage, "--serve-token has no page to guard, must stand with --serve");
    }
    return;
  }
#ifdef EQUALUX_HAVE_HTTP
  page_ = open_page_server({options.serve, token_of(options.serve_token)}, api_, monitor_);
  if (!common.quiet) std::fprintf(stderr, "equalux: the page is at %s\n", page_->url().c_str());
#else
  throw Error(ExitCode::unavailable,
              "--serve needs libmicrohttpd and OpenCV, which this build does not have; must be "
              "--control PATH");
#endif
}

void LiveControl::attach(RunOptions& run) {
  run.on_submit = [this](Processor& processor, Frame& frame) { steering_.apply(processor, frame); };
  if (!watched_) return;
  run.keep_original = run.keep_original || pictures_;
  run.on_open = [this, before = std::move(run.on_open)](const StreamInfo& info) {
    if (before) before(info);
    monitor_.open(info);
  };
  run.on_frame = [this, before = std::move(run.on_frame)](const Frame& frame) {
    if (before) before(frame);
    monitor_.add(frame);
  };
}

void LiveControl::watch(const Recorder& recorder) {
  monitor_.watch_recording([&recorder] { return recorder.counts(); });
}

}  // namespace equalux::cli

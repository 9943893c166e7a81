#include "pipelines/gstreamer/encode/encoders.h"

#include "pipelines/container/output/stream_plan.h"
#include "pipelines/files/file_names.h"
#include "pipelines/gstreamer/encode/encoder_table.h"
#include "pipelines/live/stream_address.h"

namespace equalux {
namespace {

std::string quality_text(const gst::EncoderSpec& spec) {
  if (!spec.quality) return {};
  const gst::QualityScale& scale = *spec.quality;
  return "; --quality " + std::to_string(scale.best) + " (best) to " + std::to_string(scale.worst) +
         ", default " + std::to_string(scale.standard);
}

std::string why_not(const gst::EncoderSpec& spec) {
  const std::string element(spec.element);
  if (gst::has_element(element.c_str())) return {};
  const bool device = (!spec.quality && !spec.always_lossless) || element.starts_with("nv") ||
                      element.starts_with("va");
  return "GStreamer has no element " + element + ": needs " + gst::package_of(element) +
         (device ? " and a device that it drives" : "");
}

}  // namespace

std::vector<EncoderListing> list_encoders() {
  gst::start_up();
  std::vector<EncoderListing> list;
  for (const gst::EncoderSpec& spec : gst::encoder_specs()) {
    EncoderListing entry;
    entry.name = spec.name;
    entry.description = std::string(spec.title) + quality_text(spec);
    if (!spec.lossless.empty()) entry.description += "; --lossless";
    entry.reason = why_not(spec);
    entry.available = entry.reason.empty();
    list.push_back(std::move(entry));
  }
  return list;
}

void check_encoder_options(const std::string& name, std::optional<int> quality, bool lossless) {
  const gst::EncoderSpec& spec = gst::encoder_spec(name);
  if (lossless && quality && !spec.always_lossless) {
    throw Error(ExitCode::usage, "--quality and --lossless exclude each other");
  }
  if (lossless && spec.lossless.empty() && !spec.always_lossless) {
    throw Error(ExitCode::usage,
                "--lossless: " + name + " has no lossless mode; --encoder x264 and ffv1 have one");
  }
  if (quality && !spec.quality) {
    throw Error(ExitCode::usage, "--quality: " + name + " has no scale of quality; leave it out");
  }
  if (quality && (*quality < spec.quality->best || *quality > spec.quality->worst)) {
    throw Error(ExitCode::usage, "--quality is " + std::to_string(*quality) + ", must be " +
                                     std::to_string(spec.quality->best) + " to " +
                                     std::to_string(spec.quality->worst) + " for " + name);
  }
}

std::string_view default_encoder(const std::string& path) {
  return is_webm(path) ? "vp9" : kDefaultEncoder;
}

bool is_webm(const std::string& path) {
  return extension_of(path) == "webm";
}

bool is_matroska(const std::string& path) {
  return is_webm(path) || extension_of(path) == "mkv";
}

void check_encoder_fits(const std::string& name, const std::string& path) {
  const gst::EncoderSpec& spec = gst::encoder_spec(name);
  if (is_stream_address(path) && spec.codec != "h264") {
    std::string names;
    for (const gst::EncoderSpec& other : gst::encoder_specs()) {
      if (other.codec == "h264") names += (names.empty() ? "" : ", ") + std::string(other.name);
    }
    throw Error(
        ExitCode::usage,
        "--encoder " + name + " makes no H.264, which is streamed; must be " + "one of " + names);
  }
  if (is_webm(path) && spec.codec != "vp9") {
    throw Error(ExitCode::usage, "--encoder " + name +
                                     " does not fit in webm; use --encoder vp9, or an output .mkv");
  }
  if (!is_stream_address(path)) check_video_codec(std::string(spec.codec), container_kind(path));
}

void check_encoder(const std::string& name, std::optional<int> quality, bool lossless) {
  check_encoder_options(name, quality, lossless);
  gst::start_up();
  if (const std::string reason = why_not(gst::encoder_spec(name)); !reason.empty()) {
    throw Error(ExitCode::unavailable, "--encoder " + name + ": " + reason);
  }
}

}  // namespace equalux

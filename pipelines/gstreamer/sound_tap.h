#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <gst/app/gstappsink.h>

#include "pipelines/core/sound.h"
#include "pipelines/gstreamer/gst_common.h"

/// Sound out of GStreamer's pipelines, as sinks take it.
namespace equalux::gst {

/// What a launch string ends with whose live sound is tapped.
inline constexpr const char* kSoundChain =
    "audioconvert name=equalux_sound_in ! audioresample ! "
    "audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2 ! "
    "appsink name=equalux_sound sync=false async=false drop=true max-buffers=200 "
    "enable-last-sample=false";

/// The sound at the end of kSoundChain in a live pipeline, on its running time. Outlives the
/// pipeline, and then gives nothing more.
class SoundTap final : public SoundFeed {
 public:
  /// Null where nothing has been linked to the chain: the stream has no sound.
  [[nodiscard]] static std::shared_ptr<SoundTap> of(GstElement* pipeline);
  explicit SoundTap(GstElement* appsink) : sink_(GST_ELEMENT(gst_object_ref(appsink))) {}
  [[nodiscard]] std::optional<SoundChunk> pull() override;

 private:
  ElementPtr sink_;
};

/// The first sound of a file, read as it is pulled, from where skip_towards() says; that begins
/// it. `shift_ns` is what frames' times have more than the file's. Where it cannot be decoded, one
/// warning that starts with `name` says so, and it gives nothing.
[[nodiscard]] std::shared_ptr<SoundFeed> make_file_sound(const std::string& name,
                                                         const std::string& path,
                                                         std::int64_t shift_ns);

}  // namespace equalux::gst

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <gst/app/gstappsink.h>

#include "pipelines/core/sound.h"
#include "pipelines/gstreamer/gst_common.h"

/// Sound from GStreamer pipelines in the form that sinks take.
namespace equalux::gst {

/// End of a launch string from which live sound is taken.
inline constexpr const char* kSoundChain =
    "audioconvert name=equalux_sound_in ! audioresample ! "
    "audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2 ! "
    "appsink name=equalux_sound sync=false async=false drop=true max-buffers=200 "
    "enable-last-sample=false";

/// Reads the sound at the end of kSoundChain in a live pipeline, on its running time. May outlive
/// the pipeline, and then gives nothing.
class SoundTap final : public SoundFeed {
 public:
  /// Null where nothing is linked to the chain: the stream has no sound.
  [[nodiscard]] static std::shared_ptr<SoundTap> of(GstElement* pipeline);
  explicit SoundTap(GstElement* appsink) : sink_(GST_ELEMENT(gst_object_ref(appsink))) {}
  [[nodiscard]] std::optional<SoundChunk> pull() override;

 private:
  ElementPtr sink_;
};

/// Makes a feed of a file's first sound, which is read as it is pulled, from where skip_towards()
/// says; that starts it. `shift_ns` is the frames' time minus the file's. Where the sound cannot be
/// decoded, one warning that starts with `name` says so, and the feed gives nothing.
[[nodiscard]] std::shared_ptr<SoundFeed> make_file_sound(const std::string& name,
                                                         const std::string& path,
                                                         std::int64_t shift_ns);

}  // namespace equalux::gst

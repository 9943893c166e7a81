#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/dict.h>
#include <libavutil/mathematics.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

#include "pipelines/core/source.h"

/// Owners of libav's objects, and small helpers: error texts, ratios, options.
namespace equalux {

struct CloseInput {
  void operator()(AVFormatContext* context) const noexcept { avformat_close_input(&context); }
};
using InputContext = std::unique_ptr<AVFormatContext, CloseInput>;

/// Frees a muxer whose file is closed already, or was never opened.
struct FreeMuxer {
  void operator()(AVFormatContext* context) const noexcept { avformat_free_context(context); }
};
using MuxerContext = std::unique_ptr<AVFormatContext, FreeMuxer>;

struct FreePacket {
  void operator()(AVPacket* packet) const noexcept { av_packet_free(&packet); }
};
using PacketPtr = std::unique_ptr<AVPacket, FreePacket>;

struct FreeBitstreamFilter {
  void operator()(AVBSFContext* context) const noexcept { av_bsf_free(&context); }
};
using BitstreamFilter = std::unique_ptr<AVBSFContext, FreeBitstreamFilter>;

/// Options for libav, which removes those that it understood.
class Dictionary {
 public:
  Dictionary() = default;
  ~Dictionary() { av_dict_free(&entries_); }
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;

  void set(const char* key, const std::string& value) {
    av_dict_set(&entries_, key, value.c_str(), 0);
  }
  [[nodiscard]] AVDictionary** address() { return &entries_; }

 private:
  AVDictionary* entries_ = nullptr;
};

inline constexpr AVRational kNanoseconds{1, 1'000'000'000};
inline constexpr AVRational kMicroseconds{1, AV_TIME_BASE};

/// Allocates a packet; throws std::bad_alloc.
[[nodiscard]] PacketPtr make_packet();
/// Gives a codec a copy of `bytes` as its extradata; throws std::bad_alloc.
void set_extradata(AVCodecParameters& codec, std::span<const std::uint8_t> bytes);
/// Returns libav's text for an error code.
[[nodiscard]] std::string av_text(int error);
[[nodiscard]] inline Rational to_rational(AVRational r) {
  return {r.num, r.den};
}
/// Returns the nearest ratio that libav can hold.
[[nodiscard]] AVRational to_av(Rational r);
/// Returns a tag's value; empty where it is not set.
[[nodiscard]] std::string tag_of(const AVDictionary* tags, const char* key);

/// Returns "video", "audio", "subtitle", "attachment" or "data".
[[nodiscard]] const char* kind_name(const AVStream& stream);
/// Returns libavcodec's name of a stream's codec; "unknown" where it has none.
[[nodiscard]] const char* codec_name(const AVStream& stream);
[[nodiscard]] inline bool is_attached_picture(const AVStream& stream) {
  return stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
         (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
}

/// Sends libav's messages to the log at debug level, instead of stderr. Cheap to call again.
void route_libav_log();

}  // namespace equalux

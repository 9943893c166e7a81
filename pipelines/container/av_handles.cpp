#include "pipelines/container/av_handles.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <limits>
#include <mutex>
#include <new>
#include <string_view>

#include "src/common/log.h"

namespace equalux {
namespace {

void log_line(void* source, int level, const char* format, va_list arguments) {
  if (level > AV_LOG_INFO || !logger().writes(LogLevel::debug)) return;
  std::array<char, 1024> text{};
  int print_prefix = 1;
  av_log_format_line2(source, level, format, arguments, text.data(), static_cast<int>(text.size()),
                      &print_prefix);
  std::string_view line(text.data());
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
    line.remove_suffix(1);
  if (!line.empty()) logger().debug("libav: {}", line);
}

}  // namespace

PacketPtr make_packet() {
  PacketPtr packet(av_packet_alloc());
  if (!packet) throw std::bad_alloc();
  return packet;
}

void set_extradata(AVCodecParameters& codec, std::span<const std::uint8_t> bytes) {
  auto* copy = static_cast<std::uint8_t*>(av_mallocz(bytes.size() + AV_INPUT_BUFFER_PADDING_SIZE));
  if (copy == nullptr) throw std::bad_alloc();
  std::copy(bytes.begin(), bytes.end(), copy);
  av_freep(&codec.extradata);
  codec.extradata = copy;
  codec.extradata_size = static_cast<int>(bytes.size());
}

std::string av_text(int error) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(error, text.data(), text.size());
  return text.data();
}

AVRational to_av(Rational r) {
  AVRational result{0, 1};
  if (r.den != 0) {
    av_reduce(&result.num, &result.den, r.num, r.den, std::numeric_limits<int>::max());
  }
  return result;
}

std::string tag_of(const AVDictionary* tags, const char* key) {
  const AVDictionaryEntry* entry = av_dict_get(tags, key, nullptr, 0);
  return entry != nullptr ? entry->value : "";
}

const char* kind_name(const AVStream& stream) {
  switch (stream.codecpar->codec_type) {
    case AVMEDIA_TYPE_VIDEO:
      return "video";
    case AVMEDIA_TYPE_AUDIO:
      return "audio";
    case AVMEDIA_TYPE_SUBTITLE:
      return "subtitle";
    case AVMEDIA_TYPE_ATTACHMENT:
      return "attachment";
    default:
      return "data";
  }
}

const char* codec_name(const AVStream& stream) {
  return stream.codecpar->codec_id == AV_CODEC_ID_NONE
             ? "unknown"
             : avcodec_get_name(stream.codecpar->codec_id);
}

void route_libav_log() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback(log_line); });
}

}  // namespace equalux

#include "pipelines/container/side_data.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace equalux {
namespace {

constexpr std::array<AVPacketSideDataType, 6> kOfPictures{
    AV_PKT_DATA_DISPLAYMATRIX,       AV_PKT_DATA_STEREO3D,
    AV_PKT_DATA_SPHERICAL,           AV_PKT_DATA_MASTERING_DISPLAY_METADATA,
    AV_PKT_DATA_CONTENT_LIGHT_LEVEL, AV_PKT_DATA_ICC_PROFILE};

std::span<const AVPacketSideData> all_side_data(const AVStream& stream) {
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
  return {stream.codecpar->coded_side_data,
          static_cast<std::size_t>(stream.codecpar->nb_coded_side_data)};
#else
  return {stream.side_data, static_cast<std::size_t>(stream.nb_side_data)};
#endif
}

std::span<const std::byte> bytes_of(const AVPacketSideData& entry) {
  return std::as_bytes(std::span(entry.data, entry.size));
}

}  // namespace

void copy_side_data(AVStream& out, const AVStream& in) {
  for (const AVPacketSideData& entry : all_side_data(in)) {
    set_side_data(out, entry.type, bytes_of(entry));
  }
}

void copy_picture_side_data(AVStream& out, const AVStream& in,
                            std::span<const AVPacketSideDataType> but) {
  for (const AVPacketSideData& entry : all_side_data(in)) {
    if (std::find(but.begin(), but.end(), entry.type) != but.end()) continue;
    if (std::find(kOfPictures.begin(), kOfPictures.end(), entry.type) != kOfPictures.end()) {
      set_side_data(out, entry.type, bytes_of(entry));
    }
  }
}

std::span<const std::byte> side_data(const AVStream& stream, AVPacketSideDataType type) {
  for (const AVPacketSideData& entry : all_side_data(stream)) {
    if (entry.type == type) return bytes_of(entry);
  }
  return {};
}

void set_side_data(AVStream& out, AVPacketSideDataType type, std::span<const std::byte> bytes) {
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
  AVPacketSideData* entry = av_packet_side_data_new(
      &out.codecpar->coded_side_data, &out.codecpar->nb_coded_side_data, type, bytes.size(), 0);
  std::uint8_t* copy = entry != nullptr ? entry->data : nullptr;
#else
  std::uint8_t* copy = av_stream_new_side_data(&out, type, bytes.size());
#endif
  if (copy == nullptr) throw std::bad_alloc();
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
}

}  // namespace equalux

#include "pipelines/container/output/packet_journal.h"

#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>

extern "C" {
#include <libavutil/crc.h>
}

#include "pipelines/container/alpha_packet.h"
#include "pipelines/container/input/open_input.h"
#include "pipelines/core/sink.h"

namespace equalux {
namespace {

std::vector<PacketNote> read_notes(const std::string& path, std::uint64_t count) {
  std::vector<PacketNote> notes;
  if (count == 0) return notes;
  std::error_code failure;
  const std::uint64_t present = std::filesystem::file_size(path, failure);
  if (failure || present / sizeof(PacketNote) < count) {
    throw CannotResume(path + ": does not tell of " + std::to_string(count) + " packets");
  }
  const std::uint64_t bytes = count * sizeof(PacketNote);
  notes.resize(count);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(notes.data()), static_cast<std::streamsize>(bytes))) {
    throw CannotResume(path + ": cannot be read");
  }
  std::filesystem::resize_file(path, bytes, failure);
  if (failure) throw CannotResume(path + ": cannot be continued: " + failure.message());
  return notes;
}

}  // namespace

PacketNote note_of(const EncodedPacket& packet) {
  std::uint32_t crc = 0;
  for (const std::span<const std::byte> bytes : {packet.data, packet.alpha}) {
    if (bytes.empty()) continue;
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    crc = av_crc(av_crc_get_table(AV_CRC_32_IEEE), crc, data, bytes.size());
  }
  return {packet.pts_ns,
          packet.dts_ns,
          packet.duration_ns,
          static_cast<std::uint32_t>(packet.data.size() + packet.alpha.size()),
          crc,
          packet.keyframe ? 1U : 0U,
          0};
}

std::size_t read_noted(const std::string& path, const std::vector<PacketNote>& notes,
                       const std::function<void(const EncodedPacket&, bool)>& take) {
  InputContext input;
  try {
    input = open_input(path);
  } catch (const Error& error) {
    throw CannotResume(error.what());
  }
  const int video = filtered_stream(*input);
  const PacketPtr packet = make_packet();
  std::size_t count = 0;
  for (; count < notes.size() && av_read_frame(input.get(), packet.get()) >= 0;
       av_packet_unref(packet.get())) {
    if (packet->stream_index != video) continue;
    const PacketNote& note = notes[count];
    EncodedPacket taken;
    taken.data = {reinterpret_cast<const std::byte*>(packet->data),
                  static_cast<std::size_t>(packet->size)};
    taken.alpha = alpha_packet(*packet);
    taken.pts_ns = note.pts_ns;
    taken.dts_ns = note.dts_ns;
    taken.duration_ns = note.duration_ns;
    taken.keyframe = note.keyframe != 0;
    const PacketNote found = note_of(taken);
    if (found.size != note.size || found.crc != note.crc) break;
    take(taken, note.behind_checkpoint != 0);
    ++count;
  }
  return count;
}

PacketJournal::PacketJournal(const std::string& path, std::uint64_t count)
    : earlier_(read_notes(path, count)),
      file_(path, count == 0 ? TextFile::Start::from_empty : TextFile::Start::at_end) {}

void PacketJournal::append(const EncodedPacket& packet) {
  PacketNote note = note_of(packet);
  note.behind_checkpoint = std::exchange(behind_checkpoint_, false) ? 1 : 0;
  file_.append({reinterpret_cast<const char*>(&note), sizeof note});
}

void PacketJournal::checkpoint() {
  file_.flush();
  behind_checkpoint_ = true;
}

}  // namespace equalux

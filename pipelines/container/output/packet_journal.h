#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pipelines/container/output/writer.h"
#include "pipelines/core/text_file.h"

/// A record of every packet of a video that is being written. With it the packets of a partial file
/// get their exact times back, and damaged ones are found.
namespace equalux {

/// Note of one packet; the journal file is an array of these in the machine's byte order.
struct PacketNote {
  std::int64_t pts_ns = 0;
  std::int64_t dts_ns = 0;
  std::int64_t duration_ns = 0;
  std::uint32_t size = 0;  ///< with that of its transparency, as in the checksum
  std::uint32_t crc = 0;
  std::uint32_t keyframe = 0;           ///< 0 or 1
  std::uint32_t behind_checkpoint = 0;  ///< 0 or 1
};
static_assert(sizeof(PacketNote) == 40);

[[nodiscard]] PacketNote note_of(const EncodedPacket& packet);

/// Reads the packets of the first video of a file that agree with `notes`, and passes each to
/// `take` with the times of its note and whether a checkpoint precedes it. Stops at the first that
/// is missing or differs; returns their number. Throws CannotResume where the file cannot be
/// opened.
std::size_t read_noted(const std::string& path, const std::vector<PacketNote>& notes,
                       const std::function<void(const EncodedPacket&, bool)>& take);

/// Writes notes of packets into a file. One thread at a time.
class PacketJournal {
 public:
  /// Continues after the first `count` notes of the file, or starts a new one with 0. Throws
  /// CannotResume where the file has fewer notes, Error(cannot_create).
  PacketJournal(const std::string& path, std::uint64_t count);

  /// Notes that were in the file, in the order of the packets; the caller may move them away.
  [[nodiscard]] std::vector<PacketNote>& earlier() { return earlier_; }

  /// Notes a packet. Throws Error(write_failed).
  void append(const EncodedPacket& packet);
  /// Marks a checkpoint and starts writing all notes to the disk. Throws Error(write_failed).
  void checkpoint();

 private:
  std::vector<PacketNote> earlier_;
  TextFile file_;
  bool behind_checkpoint_ = false;
};

}  // namespace equalux

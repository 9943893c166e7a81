#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pipelines/container/output/writer.h"
#include "pipelines/files/text_file.h"

/// What is known of every packet of a video that is being written: with it, the partial file's
/// packets get their exact times back, and a damaged one is found out.
namespace equalux {

/// One packet; the file is an array of these, in the machine's byte order.
struct PacketNote {
  std::int64_t pts_ns = 0;
  std::int64_t dts_ns = 0;
  std::int64_t duration_ns = 0;
  std::uint32_t size = 0;  ///< with its transparency's, as the sum behind it
  std::uint32_t crc = 0;
  std::uint32_t keyframe = 0;           ///< 0 or 1
  std::uint32_t behind_checkpoint = 0;  ///< 0 or 1
};
static_assert(sizeof(PacketNote) == 40);

[[nodiscard]] PacketNote note_of(const EncodedPacket& packet);

/// Hands the noted packets of the first video of a file to `take`, one by one with the times of
/// their notes, and whether a checkpoint was made before it, up to the first that is missing or not
/// the one that was noted; returns how many.
/// Throws CannotResume where the file cannot be opened.
std::size_t read_noted(const std::string& path, const std::vector<PacketNote>& notes,
                       const std::function<void(const EncodedPacket&, bool)>& take);

/// One thread at a time.
class PacketJournal {
 public:
  /// Goes on behind the first `count` notes, or starts again with 0. Throws CannotResume where
  /// fewer are there, Error(cannot_create).
  PacketJournal(const std::string& path, std::uint64_t count);

  /// The notes that were there, in the order of the packets; the caller may take them.
  [[nodiscard]] std::vector<PacketNote>& earlier() { return earlier_; }

  /// Throws Error(write_failed).
  void append(const EncodedPacket& packet);
  /// A checkpoint: what was noted goes on its way to the disk. Throws Error(write_failed).
  void checkpoint();

 private:
  std::vector<PacketNote> earlier_;
  TextFile file_;
  bool behind_checkpoint_ = false;
};

}  // namespace equalux

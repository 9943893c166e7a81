#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <equalux/image.h>

#include "pipelines/core/source.h"
#include "src/cli/batch/report.h"

/// Contact sheet of a batch: a small frame of each file before and after the filters.
namespace equalux::cli {

/// Takes two stills out of a stream. wrap() is called before the run, add_result() in the sink's
/// thread, the others after the run.
class StillTap {
 public:
  /// Largest size of a still in pixels.
  static constexpr int kWidth = 240;
  static constexpr int kHeight = 180;

  /// Makes a tap; `max_frames` is the run's limit, 0 = none, and `first` the number of the first
  /// result, where an earlier run wrote those before it.
  explicit StillTap(std::uint64_t max_frames, std::uint64_t first = 0)
      : max_frames_(max_frames), first_(first) {}

  /// Wraps the source to keep the frame in the middle of its stream, and some before it: a stream
  /// may hold far fewer frames than its header declares.
  [[nodiscard]] std::unique_ptr<Source> wrap(std::unique_ptr<Source> source);
  /// Keeps a filtered frame, if it is one of those.
  void add_result(const Frame& frame);

  /// Writes both stills side by side to a PPM file; does nothing where one is missing. `software`
  /// opens the input again, for frames that were in a device's memory. Throws Error.
  void write(const std::string& path, const std::function<std::unique_ptr<Source>()>& software);

 private:
  friend class TappedSource;
  [[nodiscard]] bool looks_at(std::uint64_t index) const;
  /// Returns the number of the result nearest to the middle of the stream.
  [[nodiscard]] std::optional<std::uint64_t> middle() const;

  std::uint64_t max_frames_;
  std::uint64_t first_;
  std::uint64_t number_ = 0;  // number of the frame expected in the middle
  std::uint64_t frames_ = 0;  // frames that the source gave
  // Stills by frame number. Each map is written by one thread while frames move.
  std::map<std::uint64_t, Image> before_;
  std::map<std::uint64_t, Image> after_;
};

/// Writes the stills of all outcomes as a PNG. Returns false where there are none, or this build
/// writes no PNG. Throws Error(cannot_create, write_failed).
bool write_contact_sheet(const std::string& path, const std::vector<Outcome>& outcomes,
                         const std::string& out);

}  // namespace equalux::cli

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

/// The contact sheet: of each file of a batch one frame before and after the filters, small.
namespace equalux::cli {

/// Takes the frames out of a stream. wrap() is called before the run, add_result() on the sink's
/// thread, the rest after it.
class StillTap {
 public:
  /// Pixels of a still, at most.
  static constexpr int kWidth = 240;
  static constexpr int kHeight = 180;

  /// `max_frames` of the run, 0 = all.
  explicit StillTap(std::uint64_t max_frames) : max_frames_(max_frames) {}

  /// The source, with a look at the frame in the middle of its stream; and at some before it, since
  /// a stream may hold far fewer frames than its header lets expect.
  [[nodiscard]] std::unique_ptr<Source> wrap(std::unique_ptr<Source> source);
  /// A filtered frame.
  void add_result(const Frame& frame);

  /// Writes both stills side by side into a PPM file; does nothing where one of them is missing.
  /// `software` opens the input once more where its frames lay on a device. Throws Error.
  void write(const std::string& path, const std::function<std::unique_ptr<Source>()>& software);

 private:
  friend class TappedSource;
  [[nodiscard]] bool looks_at(std::uint64_t index) const;
  /// The result nearest to the middle of what there was.
  [[nodiscard]] std::optional<std::uint64_t> middle() const;

  std::uint64_t max_frames_;
  std::uint64_t number_ = 0;  // of the frame that is expected in the middle
  std::uint64_t frames_ = 0;  // that came out of the source
  // By index. Each is written by one thread while frames move.
  std::map<std::uint64_t, Image> before_;
  std::map<std::uint64_t, Image> after_;
};

/// The stills of the outcomes, before and after, as a PNG. False where there are none, or this
/// build writes no PNG. Throws Error(cannot_create, write_failed).
bool write_contact_sheet(const std::string& path, const std::vector<Outcome>& outcomes,
                         const std::string& out);

}  // namespace equalux::cli

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pipelines/core/frame_pool.h"
#include "pipelines/core/source.h"
#include "src/cli/stream/io_factory.h"

/// Any finite input as frames in bgr, one at a time.
namespace equalux::cli {

/// One thread, but for cancel(), which any thread may call.
class ClipReader {
 public:
  /// Throws Error as make_source() does.
  ClipReader(std::string input, const InputOptions& options);

  /// Called first; may wait for whoever writes the input. Throws Error as Source::open() does, and
  /// some Error after cancel().
  void open();

  /// False at the end, and after cancel().
  [[nodiscard]] bool next();

  /// Makes a waiting or later open() throw, and next() return false, soon.
  void cancel() noexcept { source_->cancel(); }

  /// The frame that next() found; it stays until next() is called again.
  [[nodiscard]] ConstImageView picture() const {
    return converted_.empty() ? frame_->image : converted_.view();
  }
  [[nodiscard]] const StreamInfo& info() const { return info_; }
  /// Asked after the end: what the input promised and did not hold.
  [[nodiscard]] std::optional<std::string> shortfall() const { return source_->shortfall(); }
  [[nodiscard]] const std::string& input() const { return input_; }

 private:
  std::string input_;
  std::unique_ptr<Source> source_;
  StreamInfo info_;
  std::unique_ptr<FramePool> pool_;
  FramePtr frame_;
  Image converted_;  // empty where the source gives bgr
};

}  // namespace equalux::cli

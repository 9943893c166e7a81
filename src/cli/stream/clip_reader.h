#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pipelines/core/frame_pool.h"
#include "pipelines/core/source.h"
#include "src/cli/stream/io_factory.h"

/// Reader of any finite input as bgr frames, one at a time.
namespace equalux::cli {

/// Reader. One thread, except for cancel(), which any thread may call.
class ClipReader {
 public:
  /// Makes the reader. Throws Error as make_source() does.
  ClipReader(std::string input, const InputOptions& options);

  /// Opens the input; may wait for its writer. Throws Error as Source::open() does, and an Error
  /// after cancel().
  void open();

  /// Reads a frame; returns false at the end and after cancel().
  [[nodiscard]] bool next();

  /// Makes a waiting or later open() throw, and next() return false, soon.
  void cancel() noexcept { source_->cancel(); }

  /// Returns the frame of the last next(), valid until the following one.
  [[nodiscard]] ConstImageView picture() const {
    return converted_.empty() ? frame_->image : converted_.view();
  }
  [[nodiscard]] const StreamInfo& info() const { return info_; }
  /// Returns, after the end, what the input promised and did not hold.
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

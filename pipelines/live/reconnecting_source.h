#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "pipelines/core/source.h"

/// A live source that is opened again after a loss: a camera unplugged and plugged in again, a
/// stream cut off.
namespace equalux {

/// Makes the source again, not yet open. Called on other threads than the source's, one at a time.
/// Throws Error where there is nothing to open, as open() does.
using SourceFactory = std::function<std::unique_ptr<Source>()>;

struct ReconnectOptions {
  /// True where an orderly end of the stream counts as a loss, too.
  bool end_is_loss = true;
  std::chrono::milliseconds first_wait{500};       ///< before the first attempt; doubled after each
  std::chrono::milliseconds longest_wait{10'000};  ///< between two attempts
  std::chrono::milliseconds placeholder_period{100};
  /// Time without a frame after which read() throws; empty = never.
  std::optional<std::chrono::milliseconds> give_up;
};

/// Makes a source that uses the source of `make`, and makes it again if it is live and fails,
/// stalls or ends. Meanwhile read() gives placeholders (draw_placeholder(), Frame::placeholder) at
/// placeholder_period, so that outputs keep running. Timestamps follow real time; the first frame
/// after a gap, and the first placeholder, are marked as discontinuities, and timings.reconnects
/// counts. A source that is not live is passed through as it is.
///
/// open() throws what the first source's open() throws: a source that never existed is an error.
/// read() throws Error(bad_input) where the source comes back with frames of another size or
/// format.
[[nodiscard]] std::unique_ptr<Source> make_reconnecting_source(
    SourceFactory make, const ReconnectOptions& options = {});

}  // namespace equalux

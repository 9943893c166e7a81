#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "pipelines/core/source.h"

/// A live source that comes back: a camera pulled out and plugged in again, a stream cut off.
namespace equalux {

/// Makes the source again, not yet open. Called on other threads than the source's, one at a time.
/// Throws Error where there is nothing to open, as open() does.
using SourceFactory = std::function<std::unique_ptr<Source>()>;

struct ReconnectOptions {
  /// Whether an orderly end of the stream is a loss too, or simply its end.
  bool end_is_loss = true;
  std::chrono::milliseconds first_wait{500};       ///< before the first try; doubled after each
  std::chrono::milliseconds longest_wait{10'000};  ///< between two tries
  std::chrono::milliseconds placeholder_period{100};
  /// The read() after so long without a frame throws what was wrong; empty = never.
  std::optional<std::chrono::milliseconds> give_up;
};

/// The source that `make` makes, and makes again where it turned out live and then failed, stalled
/// or ended. Meanwhile read() gives placeholders (draw_placeholder(), Frame::placeholder) at
/// placeholder_period, so that what hangs on the output goes on. Timestamps go on as time does; the
/// first frame after a gap, and the first placeholder, are marked as discontinuities, and
/// timings.reconnects counts. A source that is not live is passed through as it is.
///
/// open() throws what the first source's open() throws: what was never there is an error. read()
/// throws Error(bad_input) where the source comes back with frames of another size or format.
[[nodiscard]] std::unique_ptr<Source> make_reconnecting_source(
    SourceFactory make, const ReconnectOptions& options = {});

}  // namespace equalux

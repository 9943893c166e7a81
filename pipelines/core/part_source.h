#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "pipelines/core/source.h"

/// A part of a stream that has an end.
namespace equalux {

/// Times count from the stream's first frame.
struct Part {
  std::int64_t from_ns = 0;           ///< the first frame is the first one at or behind it
  std::optional<std::int64_t> to_ns;  ///< no frame at or behind it; unset = all that follow
};

/// Frames of `source` within `part`, with times that start at 0; what a container holds beside them
/// is cut to the same part. Frames before it are dropped, by open() already; so many of them are
/// decoded as the source needs to give the same frames as from its start. open() throws as the
/// source's, and Error(usage) for a live source and where no frame lies in the part. A source that
/// ends before `to_ns` is told of in a line.
[[nodiscard]] std::unique_ptr<Source> make_part_source(std::unique_ptr<Source> source,
                                                       const Part& part);

}  // namespace equalux

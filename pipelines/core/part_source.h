#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "pipelines/core/source.h"

/// A part of a stream, between two times.
namespace equalux {

/// Start and end of a part; times count from the stream's first frame.
struct Part {
  std::int64_t from_ns = 0;           ///< the first frame is the first one at or after this time
  std::optional<std::int64_t> to_ns;  ///< no frame at or after this time; unset = to the end
};

/// Makes a source of the frames of `source` within `part`, with times that start at 0; what a
/// container holds beside them is cut to the same part. Frames before it are dropped, already by
/// open(); as many of them are decoded as the source needs to give the same frames as from its
/// start. open() throws as the source's does, and Error(usage) for a live source and where no frame
/// is in the part. A source that ends before `to_ns` is logged.
[[nodiscard]] std::unique_ptr<Source> make_part_source(std::unique_ptr<Source> source,
                                                       const Part& part);

}  // namespace equalux

#pragma once

#include <memory>
#include <string>

#include "pipelines/core/sink.h"
#include "pipelines/core/source.h"

/// YUV4MPEG2: raw video in a pipe or a file, without any library.
namespace equalux {

/// Reads 4:2:0, 4:2:2, 4:4:4 and mono of 8 and more bits from `path`, or from standard input for
/// "-". Where the filters take no YCbCr, 8-bit frames come as bgr (or rgb). open() throws
/// Error(no_input, bad_input); shortfall() tells of a stream that ends within a frame.
[[nodiscard]] std::unique_ptr<Source> make_y4m_source(const std::string& path);

/// Writes YCbCr and gray frames to `path` (through NAME.partial.EXT), or to standard output for
/// "-". open() throws Error(usage) for RGB frames and Error(cannot_create). A reader that went away
/// gives Error(write_failed), for which the process ignores SIGPIPE from then on. `resume` is the
/// checkpoint() of an earlier sink of that path; open() throws CannotResume where its file does not
/// fit.
[[nodiscard]] std::unique_ptr<Sink> make_y4m_sink(const std::string& path,
                                                  const std::string& resume = {});

}  // namespace equalux

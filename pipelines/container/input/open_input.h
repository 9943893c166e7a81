#pragma once

#include <string>

#include "pipelines/container/av_handles.h"
#include "pipelines/container/read_stop.h"

/// Opening of files for reading by libavformat.
namespace equalux {

/// Returns true for the address of a file on a web server.
[[nodiscard]] bool is_web_address(const std::string& path);

/// Returns the name that makes libavformat open a file, whatever characters it contains.
[[nodiscard]] std::string file_url(const std::string& path);

/// Throws Error(no_input) where the file is missing, a folder or unreadable, and Error(bad_input)
/// where it is empty or not a regular file. Does not check web addresses.
void check_readable(const std::string& path);

/// Opens a file and analyses its streams. Throws as check_readable, and Error(bad_input) where
/// libavformat does not know it. Of web addresses only files of known length are opened, and none
/// that refer to other addresses. `stop`, if not null, ends waits for the server and must outlive
/// the result; call stop->begin() before each read of such a file.
[[nodiscard]] InputContext open_input(const std::string& path, ReadStop* stop = nullptr);

/// Opens a file as open_input() does, but leaves its streams with what the head of the container
/// tells. Analysis decodes pictures, which takes 10 to 50 ms and is needless for our own files.
[[nodiscard]] InputContext open_head(const std::string& path, ReadStop* stop = nullptr);

/// Returns true for a stream without a container, which has no timestamps and at most a frame rate.
[[nodiscard]] bool is_elementary(const AVInputFormat& format);

/// Returns the stream that is filtered: the first video that is no cover art; -1 where there is
/// none.
[[nodiscard]] int filtered_stream(const AVFormatContext& input);

}  // namespace equalux

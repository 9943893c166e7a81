#pragma once

#include <string>

#include "pipelines/container/av_handles.h"
#include "pipelines/container/read_stop.h"

/// Opens files for reading by libavformat.
namespace equalux {

/// True for the address of a file on a web server.
[[nodiscard]] bool is_web_address(const std::string& path);

/// The name that libavformat takes for a file, whatever characters it holds.
[[nodiscard]] std::string file_url(const std::string& path);

/// Throws Error(no_input) where the file is missing, a folder or unreadable, Error(bad_input) where
/// it is another thing than a regular file, or empty. Says nothing of a web address.
void check_readable(const std::string& path);

/// Opens a file and learns its streams. Throws as check_readable, and Error(bad_input) where
/// libavformat does not know it. Of a web address only a file of known length is opened, and
/// nothing that refers to other addresses; `stop`, where it is not null, ends the waits for it and
/// must outlive what is returned. Each read of such a file starts with stop->begin().
[[nodiscard]] InputContext open_input(const std::string& path, ReadStop* stop = nullptr);

/// True for a stream without a container, which tells no times, and at most a rate.
[[nodiscard]] bool is_elementary(const AVInputFormat& format);

/// The stream that is filtered: the first video that is no cover art; -1 where there is none.
[[nodiscard]] int filtered_stream(const AVFormatContext& input);

}  // namespace equalux

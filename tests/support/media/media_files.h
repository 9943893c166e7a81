#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "pipelines/container/output/writer.h"
#include "tests/support/temp_folder.h"

/// Files for container tests: made by the ffmpeg program, read back by ffprobe.
namespace equalux::test {

/// True where the ffmpeg and ffprobe programs are installed.
[[nodiscard]] bool have_ffmpeg();

/// Runs a shell command and returns what it printed; throws where it fails.
std::string shell(const std::string& command);
/// ffmpeg -y with these arguments.
void ffmpeg(const std::string& arguments);
/// Has players turn the first track of an mp4 by a quarter. ffmpeg's option for it differs by
/// version.
void turn_mp4(const std::string& path);
/// ffprobe's JSON.
[[nodiscard]] nlohmann::json ffprobe(const std::string& arguments, const std::string& path);
/// Presentation times of the first video stream by ffprobe, in nanoseconds.
[[nodiscard]] std::vector<std::int64_t> ffprobe_times(const std::string& path);
/// How many frames of video ffmpeg decodes out of a file; throws where it finds an error.
[[nodiscard]] int decoded_frames(const std::string& path);

/// A file's video as an encoder would deliver it.
struct EncodedVideo {
  EncodedVideoFormat format;
  struct Packet {
    std::vector<std::byte> data;
    std::int64_t pts_ns = 0;
    std::int64_t dts_ns = 0;
    std::int64_t duration_ns = 0;
    bool keyframe = false;
  };
  std::vector<Packet> packets;
};
[[nodiscard]] EncodedVideo read_video(const std::string& path);

/// Feeds packets [first, last) to a writer.
void feed(ContainerWriter& writer, const EncodedVideo& video, std::size_t first = 0,
          std::size_t last = SIZE_MAX);

/// Copies `input` to `output` through a ContainerWriter, its video included.
void remux(const std::string& input, const std::string& output);

}  // namespace equalux::test

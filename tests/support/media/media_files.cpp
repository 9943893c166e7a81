#include "tests/support/media/media_files.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "pipelines/container/av_handles.h"
#include "pipelines/container/input/open_input.h"
#include "src/common/json_text.h"

namespace equalux::test {

bool have_ffmpeg() {
  // To start them takes longer than many a test.
  static const bool found =
      std::system("command -v ffmpeg >/dev/null && command -v ffprobe >/dev/null") == 0;
  return found;
}

std::string shell(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string output;
  std::array<char, 65536> block{};
  std::size_t count = 0;
  while ((count = std::fread(block.data(), 1, block.size(), pipe)) > 0) {
    output.append(block.data(), count);
  }
  if (::pclose(pipe) != 0) throw std::runtime_error("failed: " + command + "\n" + output);
  return output;
}

void ffmpeg(const std::string& arguments) {
  shell("ffmpeg -nostdin -hide_banner -loglevel error -y " + arguments + " 2>&1");
}

void turn_mp4(const std::string& path) {
  using namespace std::string_literals;
  // Behind the head of the track, version 0: its times, number and volume.
  constexpr std::size_t kMatrix = 4 + 4 + 36;
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::size_t head = bytes.find("tkhd\0"s);
  if (head == std::string::npos) throw std::runtime_error(path + ": no track of version 0");
  file.clear();
  file.seekp(static_cast<std::streamoff>(head + kMatrix));
  // 0 and -1, then 1 and 0, each in 16.16.
  file << "\0\0\0\0\xff\xff\0\0\0\0\0\0"s
       << "\0\1\0\0\0\0\0\0\0\0\0\0"s;
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

nlohmann::json ffprobe(const std::string& arguments, const std::string& path) {
  return parse_json(
      shell("ffprobe -loglevel error -of json " + arguments + " '" + path + "' 2>/dev/null"));
}

std::vector<std::int64_t> ffprobe_times(const std::string& path) {
  const nlohmann::json json =
      ffprobe("-select_streams v:0 -show_entries frame=best_effort_timestamp_time", path);
  std::vector<std::int64_t> times;
  for (const auto& frame : json.at("frames")) {
    const std::string seconds = frame.value("best_effort_timestamp_time", "nan");
    times.push_back(static_cast<std::int64_t>(std::stod(seconds) * 1e9 + 0.5));
  }
  return times;
}

int decoded_frames(const std::string& path) {
  const std::string lines = shell("ffmpeg -nostdin -loglevel error -xerror -i '" + path +
                                  "' -map 0:V:0 -fps_mode passthrough -f framecrc - 2>&1");
  return static_cast<int>(
             std::count_if(lines.begin(), lines.end(), [](char c) { return c == '\n'; })) -
         static_cast<int>(std::count(lines.begin(), lines.end(), '#'));
}

EncodedVideo read_video(const std::string& path) {
  const InputContext input = open_input(path);
  const int index = filtered_stream(*input);
  if (index < 0) throw std::runtime_error(path + ": no video");
  const AVStream& stream = *input->streams[index];
  const AVCodecParameters& codec = *stream.codecpar;
  EncodedVideo video;
  video.format.codec = avcodec_get_name(codec.codec_id);
  video.format.width = codec.width;
  video.format.height = codec.height;
  video.format.frame_rate = to_rational(stream.avg_frame_rate);
  const auto* extradata = reinterpret_cast<const std::byte*>(codec.extradata);
  video.format.codec_data.assign(extradata, extradata + codec.extradata_size);
  if (stream.sample_aspect_ratio.num > 0) {
    video.format.pixel_aspect = to_rational(stream.sample_aspect_ratio);
  }
  const PacketPtr packet = make_packet();
  std::int64_t last_dts = 0;
  const auto ns = [&](std::int64_t time) {
    return av_rescale_q(time, stream.time_base, kNanoseconds);
  };
  while (av_read_frame(input.get(), packet.get()) >= 0) {
    if (packet->stream_index == index) {
      if (packet->dts == AV_NOPTS_VALUE) {
        packet->dts = video.packets.empty() ? packet->pts - 4 * packet->duration : last_dts + 1;
      }
      last_dts = packet->dts;
      const auto* data = reinterpret_cast<const std::byte*>(packet->data);
      video.packets.push_back({{data, data + packet->size},
                               ns(packet->pts),
                               ns(packet->dts),
                               ns(packet->duration),
                               (packet->flags & AV_PKT_FLAG_KEY) != 0});
    }
    av_packet_unref(packet.get());
  }
  return video;
}

void feed(ContainerWriter& writer, const EncodedVideo& video, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < std::min(last, video.packets.size()); ++i) {
    const auto& packet = video.packets[i];
    writer.write({packet.data, packet.pts_ns, packet.dts_ns, packet.duration_ns, packet.keyframe});
  }
}

void remux(const std::string& input, const std::string& output) {
  const EncodedVideo video = read_video(input);
  const auto writer = make_container_writer({output, input, false});
  writer->check(video.format.codec);
  writer->start(video.format);
  feed(*writer, video);
  writer->finish(false);
}

}  // namespace equalux::test

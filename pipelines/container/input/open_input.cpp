#include "pipelines/container/input/open_input.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <new>
#include <string_view>

#include <equalux/error.h>
#include <unistd.h>

#include "pipelines/container/colour.h"
#include "pipelines/container/input/declared_size.h"
#include "pipelines/files/file_names.h"
#include "src/common/system_error.h"

namespace equalux {
namespace {

namespace fs = std::filesystem;

/// Formats whose files contain all that they show. A playlist would make us open addresses that its
/// author chose.
constexpr const char* kWebFormats =
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,flv,ogg,asf,mxf";

/// Restores a stream's own rate: from 6.1 on, FFmpeg reports the option's default, 25, as average
/// rate of an elementary stream, whatever the stream says.
void take_own_rate([[maybe_unused]] AVStream& stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 11, 100)
  const AVRational own = stream.codecpar->framerate;
  if (own.num > 0 && own.den > 0) stream.avg_frame_rate = own;
#endif
}

/// Explains why a file does not open: for a truncated one more than "invalid data".
std::string why_unreadable(const std::string& path, int error) {
  if (error == AVERROR_EXIT) return path + ": nothing comes from its server";
  if (const auto missing = missing_bytes(path)) {
    return path + ": cannot be read, it is cut off: it " + describe(*missing);
  }
  return path + ": is no media file that can be read (" + av_text(error) + "); give a video file";
}

/// Returns true for a stream of JPEG pictures without a container, which is a still by its bytes
/// and a video by its name.
bool is_jpeg_stream(const std::string& path) {
  const std::string extension = extension_of(path);
  if (extension != "mjpg" && extension != "mjpeg") return false;
  std::ifstream file(path, std::ios::binary);
  return file.get() == 0xFF && file.get() == 0xD8;
}

int is_over(void* stop) {
  return static_cast<ReadStop*>(stop)->is_over() ? 1 : 0;
}

}  // namespace

bool is_web_address(const std::string& path) {
  return path.starts_with("http://") || path.starts_with("https://");
}

std::string file_url(const std::string& path) {
  if (is_web_address(path)) return path;
  return "file:" + path;
}

void check_readable(const std::string& path) {
  if (is_web_address(path)) return;
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (!fs::exists(status)) {
    throw Error(ExitCode::no_input, path + ": no such file");
  }
  if (fs::is_directory(status)) {
    throw Error(ExitCode::no_input, path + ": is a folder, must be a video file");
  }
  if (!fs::is_regular_file(status)) {
    throw Error(ExitCode::bad_input, path + ": is not a regular file; give a video file");
  }
  if (::access(path.c_str(), R_OK) != 0) {
    throw Error(ExitCode::no_input,
                path + ": cannot be opened for reading: " + system_error_text(errno));
  }
  if (fs::file_size(path, failure) == 0) {
    throw Error(ExitCode::bad_input, path + ": is empty, must be a video file");
  }
}

InputContext open_head(const std::string& path, ReadStop* stop) {
  route_libav_log();
  check_readable(path);
  Dictionary options;
  AVFormatContext* raw = avformat_alloc_context();
  if (raw == nullptr) throw std::bad_alloc();
  // Allows only formats without references, so that a playlist cannot make us open other addresses.
  if (is_web_address(path)) {
    options.set("protocol_whitelist", "http,https,tcp,tls");
    options.set("format_whitelist", kWebFormats);
    options.set("rw_timeout", "10000000");  // microseconds
    if (stop != nullptr) {
      raw->interrupt_callback = {is_over, stop};
      stop->begin();
    }
  } else {
    options.set("protocol_whitelist", "file");
  }
  const AVInputFormat* known = is_jpeg_stream(path) ? av_find_input_format("mjpeg") : nullptr;
  const int error = avformat_open_input(&raw, file_url(path).c_str(), known, options.address());
  InputContext input(raw);
  if (error < 0) throw Error(ExitCode::bad_input, why_unreadable(path, error));
  if (is_web_address(path) && (input->pb == nullptr || avio_size(input->pb) <= 0)) {
    throw Error(ExitCode::bad_input, path + ": is a stream without an end, not a file");
  }
  return input;
}

InputContext open_input(const std::string& path, ReadStop* stop) {
  InputContext input = open_head(path, stop);
  if (stop != nullptr) stop->begin();
  const int error = avformat_find_stream_info(input.get(), nullptr);
  if (error < 0) throw Error(ExitCode::bad_input, why_unreadable(path, error));
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    forget_unknown_tags(*input->streams[i]->codecpar);
    if (is_elementary(*input->iformat)) take_own_rate(*input->streams[i]);
  }
  return input;
}

bool is_elementary(const AVInputFormat& format) {
  if (std::string_view(format.name) == "obu") return true;
  // Compares the option tables, which the demuxers of elementary streams share.
  return format.priv_class != nullptr &&
         av_opt_find(const_cast<const AVClass**>(&format.priv_class), "raw_packet_size", nullptr, 0,
                     AV_OPT_SEARCH_FAKE_OBJ) != nullptr;
}

int filtered_stream(const AVFormatContext& input) {
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    const AVStream& stream = *input.streams[i];
    if (stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !is_attached_picture(stream)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace equalux

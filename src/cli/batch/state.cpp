#include "src/cli/batch/state.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include <equalux/error.h>
#include <fcntl.h>
#include <md5.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "pipelines/files/partial_file.h"
#include "src/common/json_text.h"
#include "src/common/log.h"
#include "src/common/system_error.h"

namespace fs = std::filesystem;

namespace equalux::cli {

StatePaths state_paths(const std::string& out, const std::string& output) {
  const fs::path below = fs::path(output).lexically_relative(fs::path(out).lexically_normal());
  const std::string stem = (fs::path(out) / kStateFolder / below).lexically_normal().string();
  return {stem + ".json", stem + ".packets", stem + ".framemd5", stem + ".ppm", stem + ".lock"};
}

nlohmann::json to_json(const SavedCheckpoint& saved) {
  const Checkpoint& checkpoint = saved.checkpoint;
  return {{"frames", checkpoint.frames},
          {"first_pts_ns", checkpoint.first_pts_ns},
          {"media_end_ns", checkpoint.media_end_ns},
          {"filters", checkpoint.filters},
          {"sink", checkpoint.sink},
          {"hash_bytes", saved.hash_bytes}};
}

std::optional<SavedCheckpoint> checkpoint_from(const nlohmann::json& json) {
  try {
    SavedCheckpoint saved;
    saved.checkpoint.frames = json.at("frames");
    saved.checkpoint.first_pts_ns = json.at("first_pts_ns");
    saved.checkpoint.media_end_ns = json.at("media_end_ns");
    saved.checkpoint.filters = json.at("filters");
    saved.checkpoint.sink = json.at("sink");
    saved.hash_bytes = json.at("hash_bytes");
    if (saved.checkpoint.frames == 0 || saved.checkpoint.sink.empty()) return std::nullopt;
    return saved;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

nlohmann::json read_entry(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  nlohmann::json entry = json_or_discarded(text);
  if (entry.is_object()) return entry;
  if (file.is_open()) logger().warn("{}: is damaged; what it tells of is made again", path);
  return {};
}

std::string text_of(const nlohmann::json& entry, const char* name) {
  const auto found = entry.find(name);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void replace_file(const std::string& path, const std::string& text) {
  PartialFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

FileLock::FileLock(const std::string& path)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (file_.get() < 0) {
    throw Error(ExitCode::cannot_create, path + ": cannot be created: " + system_error_text(errno) +
                                             "; the folder of the results must be writable");
  }
  take();
}

void FileLock::take() {
  // On a file system without locks the batch works without them.
  held_ = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

std::string file_md5(const std::string& path, const StopToken& stop) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (!file) {
    throw Error(ExitCode::no_input,
                path + ": cannot be read: " + system_error_text(errno) + "; must be a file");
  }
  MD5_CTX context;
  MD5Init(&context);
  std::vector<std::uint8_t> buffer(std::size_t{1} << 20U);
  for (std::size_t got = 1; got > 0;) {
    if (stop.signal != 0) return {};
    got = std::fread(buffer.data(), 1, buffer.size(), file.get());
    MD5Update(&context, buffer.data(), got);
  }
  if (std::ferror(file.get()) != 0) {
    throw Error(ExitCode::no_input,
                path + ": cannot be read: " + system_error_text(errno) + "; must be a file");
  }
  std::array<char, MD5_DIGEST_STRING_LENGTH> text{};
  return MD5End(&context, text.data());
}

}  // namespace equalux::cli

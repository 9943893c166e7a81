#include "pipelines/live/camera_mode.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <equalux/error.h>

#include "src/common/size_text.h"

namespace equalux {
namespace {

std::string sizes_of(const std::vector<CameraMode>& modes) {
  std::vector<std::pair<int, int>> sizes;
  for (const CameraMode& mode : modes)
    sizes.emplace_back(mode.width, mode.height);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::string text;
  for (const auto& [width, height] : sizes)
    text += (text.empty() ? "" : ", ") + size_text(width, height);
  return text;
}

}  // namespace

CameraMode choose_mode(const std::vector<CameraMode>& modes, const CameraWish& wish,
                       const Compression& compression, const std::string& name) {
  const double wanted_fps = wish.fps > 0 ? wish.fps : 30.0;
  const bool any_size = wish.width == 0 && wish.height == 0;
  const auto fits = [&](const CameraMode& mode) {
    if (compression(mode.fourcc) < 0) return false;
    if (any_size) return mode.width <= 1920 && mode.height <= 1080;
    return mode.width == wish.width && mode.height == wish.height;
  };
  const auto merit = [&](const CameraMode& mode) {
    return std::tuple(std::min(mode.fps, wanted_fps - 0.5), mode.width * mode.height,
                      -compression(mode.fourcc));
  };
  const CameraMode* best = nullptr;
  for (const CameraMode& mode : modes)
    if (fits(mode) && (best == nullptr || merit(mode) > merit(*best))) best = &mode;
  if (best != nullptr) return *best;
  if (!modes.empty() && !any_size)
    throw Error(ExitCode::usage, name + ": has no frames of " + size_text(wish.width, wish.height) +
                                     "; it has " + sizes_of(modes));
  return {.fourcc = 0, .width = wish.width, .height = wish.height, .fps = wish.fps};
}

std::string fourcc_text(std::uint32_t code) {
  std::string text;
  for (int i = 0; i < 4; ++i)
    text += static_cast<char>(code >> (8 * i) & 0x7FU);
  while (!text.empty() && text.back() == ' ')
    text.pop_back();
  return text;
}

std::string explain_mode(const std::vector<CameraMode>& modes, const CameraMode& chosen,
                         const Compression& compression) {
  if (chosen.fourcc == 0) return "its driver chooses the mode";
  const auto rate = [](double fps) {
    const auto tenths = static_cast<int>(10 * fps + 0.5);
    return std::to_string(tenths / 10) +
           (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10));
  };
  const std::string text = fourcc_text(chosen.fourcc) + " " +
                           size_text(chosen.width, chosen.height) + " at up to " +
                           rate(chosen.fps) + " fps";
  const CameraMode* other = nullptr;  // the best of the other kind at that size
  const bool compressed = compression(chosen.fourcc) == 2;
  for (const CameraMode& mode : modes) {
    const bool rival = mode.width == chosen.width && mode.height == chosen.height &&
                       compression(mode.fourcc) >= 0 &&
                       (compression(mode.fourcc) == 2) != compressed;
    if (rival && (other == nullptr || mode.fps > other->fps)) other = &mode;
  }
  if (!compressed) {
    return text + ": uncompressed, so nothing is lost and nothing is decoded" +
           (other == nullptr ? "" : ", and as fast as asked for");
  }
  if (other == nullptr) return text + ": compressed, its only form at that size";
  return text + ": compressed, which costs a decode and some detail; " +
         fourcc_text(other->fourcc) + " of that size reaches " + rate(other->fps) + " fps only";
}

}  // namespace equalux

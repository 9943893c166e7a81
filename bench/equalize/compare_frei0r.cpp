// Compares frei0r's equaliz0r, which FFmpeg, MLT and editors load, with our filter on the same
// frames, in the same process, in turns. equaliz0r equalizes R, G and B separately, so its picture
// differs; only the times of equalizing a frame are compared.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <equalux/filter.h>
#include <nlohmann/json.hpp>

#include "bench/support/bench_frames.h"
#include "bench/support/json_file.h"
#include "bench/support/turns.h"

namespace equalux::bench {
namespace {

/// A frei0r filter from its shared library (specification 1.2): RGBA, rows without gaps.
class Frei0r {
 public:
  Frei0r(const std::string& name, int width, int height) {
    for (const std::string& folder : folders()) {
      library_ = dlopen((folder + "/" + name + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library_ != nullptr) break;
    }
    if (library_ == nullptr) return;
    const auto init = reinterpret_cast<int (*)()>(dlsym(library_, "f0r_init"));
    const auto construct =
        reinterpret_cast<void* (*)(unsigned, unsigned)>(dlsym(library_, "f0r_construct"));
    update_ = reinterpret_cast<Update>(dlsym(library_, "f0r_update"));
    if (init == nullptr || construct == nullptr || update_ == nullptr || init() != 1) return;
    instance_ = construct(static_cast<unsigned>(width), static_cast<unsigned>(height));
  }
  ~Frei0r() {
    if (instance_ != nullptr) {
      const auto destruct = reinterpret_cast<void (*)(void*)>(dlsym(library_, "f0r_destruct"));
      if (destruct != nullptr) destruct(instance_);
    }
    if (library_ != nullptr) dlclose(library_);
  }
  Frei0r(const Frei0r&) = delete;
  Frei0r& operator=(const Frei0r&) = delete;

  [[nodiscard]] bool is_there() const { return instance_ != nullptr; }
  void filter(const ImageView& in, const ImageView& out) const {
    update_(instance_, 0, reinterpret_cast<const std::uint32_t*>(in.data[0]),
            reinterpret_cast<std::uint32_t*>(out.data[0]));
  }

 private:
  using Update = void (*)(void*, double, const std::uint32_t*, std::uint32_t*);

  static std::vector<std::string> folders() {
    std::vector<std::string> all;
    if (const char* named = std::getenv("FREI0R_PATH")) {
      std::istringstream list(named);
      for (std::string folder; std::getline(list, folder, ':');)
        all.push_back(folder);
    }
    for (const char* usual :
         {"/usr/local/lib/frei0r-1", "/usr/lib/frei0r-1", "/usr/lib/x86_64-linux-gnu/frei0r-1"})
      all.emplace_back(usual);
    return all;
  }

  void* library_ = nullptr;
  Update update_ = nullptr;
  void* instance_ = nullptr;
};

int compare(const std::string& json_path) {
  std::printf("SIMD target %s, one thread\n%10s %14s %12s %7s\n", cpu_simd_target().c_str(), "RGBA",
              "equaliz0r ms", "equalux ms", "ratio");
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& [width, height] : {std::pair{1920, 1080}, std::pair{3840, 2160}}) {
    const ImageDesc desc{PixelFormat::rgba, width, height};
    const Frei0r peer("equaliz0r", width, height);
    if (!peer.is_there()) {
      std::fprintf(stderr,
                   "compare_frei0r: found no equaliz0r; install frei0r-plugins, or name its folder "
                   "in FREI0R_PATH\n");
      return 69;
    }
    const int count = ring_length(desc);
    std::vector<Image> frames = natural_frames(desc, count);
    std::vector<Image> outs = natural_frames(desc, count);
    const auto filter = make_cpu_filter(EqualizeParams{}, {1});
    filter->configure(desc);
    FrameContext context;
    const std::vector<TurnTimes> times = take_turns(
        count, width > 2000 ? 60 : 200,
        {[&](std::size_t i) { peer.filter(frames[i].view(), outs[i].view()); },
         [&](std::size_t i) { filter->submit(frames[i].view(), outs[i].view(), context); }});
    const double ratio = times[0].median / times[1].median;
    std::printf("%5dx%-4d %14.2f %12.2f %7.2f\n", width, height, times[0].median, times[1].median,
                ratio);
    rows.push_back({{"format", "rgba"},
                    {"width", width},
                    {"height", height},
                    {"threads", 1},
                    {"frei0r", "equaliz0r"},
                    {"frei0r_ms", times[0].median},
                    {"equalux_ms", times[1].median},
                    {"ratio", ratio}});
  }
  return write_json(json_path, nlohmann::json{{"simd", cpu_simd_target()}, {"results", rows}},
                    "compare_frei0r");
}

}  // namespace
}  // namespace equalux::bench

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "";
  if (argc > 2 || path.starts_with('-')) {
    std::puts("usage: compare_frei0r [OUT.json]");
    return path == "--help" ? 0 : 2;
  }
  return equalux::bench::compare(path);
}

// Compares the element `equalux`, the filter in it, frei0r's equaliz0r in GStreamer, and FFmpeg's
// histeq, on the same 1920x1080 frames in the same run.
//
// The element, the bare filter and GStreamer's identity (the cost of a push through an element)
// take turns of some frames, then the element and equaliz0r, in this process. histeq runs in ffmpeg
// on the same frames from a file; its time is that of the run minus that of a run without it, again
// in turns.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <equalux/filter.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "bench/support/bench_frames.h"
#include "bench/support/json_file.h"
#include "pipelines/gstreamer/gst_formats.h"

namespace equalux::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWidth = 1920;
constexpr int kHeight = 1080;
constexpr int kRounds = 400;
constexpr int kFileFrames = 24;
constexpr int kFileLoops = 4;

double ms_of(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Wraps a frame in our memory in a buffer, which an element may write to.
GstBuffer* buffer_around(const Image& image) {
  const ConstImageView view = image.view();
  const ImageLayout layout = image_layout(view.desc);
  GstBuffer* buffer = gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0),
                                                  const_cast<std::uint8_t*>(view.data[0]),
                                                  layout.bytes, 0, layout.bytes, nullptr, nullptr);
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  const int planes = traits(view.desc.format).planes;
  for (std::size_t p = 0; p < static_cast<std::size_t>(planes); ++p) {
    offset[p] = layout.offset[p];
    stride[p] = static_cast<gint>(layout.stride[p]);
  }
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, gst::to_gst(view.desc.format),
                                 static_cast<guint>(view.desc.width),
                                 static_cast<guint>(view.desc.height), static_cast<guint>(planes),
                                 offset, stride);
  return buffer;
}

/// An element between two test pads.
class Element {
 public:
  Element(const std::string& launch, PixelFormat format)
      : harness_(gst_harness_new_parse(launch.c_str())) {
    gst_harness_set_src_caps_str(
        harness_,
        (std::string("video/x-raw,format=") + gst_video_format_to_string(gst::to_gst(format)) +
         ",width=1920,height=1080,framerate=25/1,colorimetry=(string)" +
         (traits(format).model == ColorModel::rgb ? "sRGB" : "bt601"))
            .c_str());
  }
  ~Element() { gst_harness_teardown(harness_); }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;

  void operator()(GstBuffer* buffer) {
    gst_buffer_unref(gst_harness_push_and_pull(harness_, buffer));
  }

 private:
  GstHarness* harness_;
};

/// Returns a launch string of equaliz0r; frei0r's filters take four bytes per pixel, so other video
/// needs conversions around them.
std::string equaliz0r_launch(PixelFormat format) {
  const std::string filter = "frei0r-filter-equaliz0r";
  if (format == PixelFormat::rgba) return filter;
  return "videoconvert ! " + filter + " ! videoconvert ! capsfilter caps=video/x-raw,format=" +
         gst_video_format_to_string(gst::to_gst(format));
}

/// Frames that take turns, so many that none is in a cache when its turn comes.
class FrameRing {
 public:
  explicit FrameRing(const ImageDesc& desc) : frames_(natural_frames(desc, ring_length(desc))) {}
  [[nodiscard]] Image& next() { return frames_[next_++ % frames_.size()]; }
  [[nodiscard]] GstBuffer* next_buffer() { return buffer_around(next()); }

 private:
  std::vector<Image> frames_;
  std::size_t next_ = 0;
};

/// Measures the element, the bare filter and identity in turns of kTurn frames, with nothing else
/// between. In turns of one frame the pool threads would switch between the filters with every
/// frame, which takes 50 us and does not happen in a pipeline with one filter.
nlohmann::json overhead_of(const ImageDesc& desc, int threads, Element& element) {
  constexpr int kTurn = 25;
  constexpr int kSkipped = 5;  // of a turn, during which the threads switch over
  FrameRing frames(desc);
  const auto filter = make_cpu_filter(EqualizeParams{}, {threads});
  filter->configure(desc);
  FrameContext context;
  Element identity("identity", desc.format);
  const auto turn_of = [&](const auto& one_frame) {
    std::vector<double> ms;
    for (int i = 0; i < kTurn; ++i) {
      const double taken = one_frame();
      if (i >= kSkipped) ms.push_back(taken);
    }
    return median(ms);
  };
  // Filters in place.
  const auto bare = [&] {
    const ImageView view = frames.next().view();
    return ms_of([&] { filter->submit(view, view, context); });
  };
  const auto pushed_through = [&](Element& to) {
    GstBuffer* buffer = frames.next_buffer();
    return ms_of([&] { to(buffer); });
  };
  std::vector<double> of_filter, of_element, extra, of_identity;
  for (int round = -2; round < kRounds / 4; ++round) {
    // Alternates the order, since the first one finds the processor in another state than the
    // second.
    double of_bare = round % 2 == 0 ? turn_of(bare) : 0;
    const double in_element = turn_of([&] { return pushed_through(element); });
    if (round % 2 != 0) of_bare = turn_of(bare);
    const double nothing = turn_of([&] { return pushed_through(identity); });
    if (round < 0) continue;
    of_filter.push_back(of_bare);
    of_element.push_back(in_element);
    extra.push_back(in_element - of_bare);
    of_identity.push_back(nothing);
  }
  return {{"filter_ms", median(of_filter)},
          {"element_ms", median(of_element)},
          {"overhead_ms", median(extra)},
          {"overhead", median(extra) / median(of_filter)},
          {"identity_ms", median(of_identity)}};
}

/// Measures the element and equaliz0r in turns.
nlohmann::json beside_equaliz0r(const ImageDesc& desc, Element& element) {
  FrameRing frames(desc);
  Element equaliz0r(equaliz0r_launch(desc.format), desc.format);
  std::vector<double> ours, theirs;
  for (int round = -8; round < kRounds / 4; ++round) {
    GstBuffer* buffer = frames.next_buffer();
    const double our_ms = ms_of([&] { element(buffer); });
    buffer = frames.next_buffer();
    const double their_ms = ms_of([&] { equaliz0r(buffer); });
    if (round < 0) continue;
    ours.push_back(our_ms);
    theirs.push_back(their_ms);
  }
  return {{"element_ms", median(ours)},
          {"equaliz0r_ms", median(theirs)},
          {"ratio", median(theirs) / median(ours)}};
}

nlohmann::json compare_in_process(PixelFormat format, int threads, bool with_frei0r) {
  const ImageDesc desc{format, kWidth, kHeight, ColorMatrix::bt601, ColorRange::limited};
  Element element("equalux backend=cpu threads=" + std::to_string(threads), format);
  nlohmann::json row{
      {"format", to_string(format)}, {"width", kWidth}, {"height", kHeight}, {"threads", threads}};
  row.update(overhead_of(desc, threads, element));
  if (with_frei0r) row["beside_equaliz0r"] = beside_equaliz0r(desc, element);
  return row;
}

/// Frames as ffmpeg's rawvideo in a file, which the destructor removes.
class RawFile {
 public:
  RawFile()
      : path_(std::filesystem::temp_directory_path() /
              ("compare_gst." + std::to_string(getpid()))) {
    std::ofstream out(path_, std::ios::binary);
    const ImageDesc desc{PixelFormat::rgba, kWidth, kHeight};
    for (const Image& image : natural_frames(desc, kFileFrames)) {
      for (int y = 0; y < kHeight; ++y) {
        out.write(reinterpret_cast<const char*>(image.view().row(0, y)),
                  static_cast<std::streamsize>(row_bytes(desc, 0)));
      }
    }
  }
  ~RawFile() { std::filesystem::remove(path_); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  [[nodiscard]] double ffmpeg_ms(const std::string& filter) const {
    const std::string command = "ffmpeg -v error -nostdin -stream_loop " +
                                std::to_string(kFileLoops - 1) +
                                " -f rawvideo -pix_fmt rgba -s 1920x1080 -i " + path_.string() +
                                " -vf " + filter + " -f null - >/dev/null 2>&1";
    int status = 0;
    const double ms = ms_of([&] { status = std::system(command.c_str()); });
    return status == 0 ? ms : -1;
  }

 private:
  std::filesystem::path path_;
};

/// Returns the milliseconds that histeq adds to a frame; negative where there is no ffmpeg.
double histeq_ms() {
  const RawFile file;
  std::vector<double> differences;
  for (int round = 0; round < 5; ++round) {
    const double without = file.ffmpeg_ms("null");
    const double with = file.ffmpeg_ms("histeq");
    if (without < 0 || with < 0) return -1;
    if (round > 0) differences.push_back((with - without) / (kFileFrames * kFileLoops));
  }
  return median(differences);
}

}  // namespace
}  // namespace equalux::bench

int main(int argc, char** argv) {
  using namespace equalux;
  using namespace equalux::bench;
  const std::string json_path = argc > 1 ? argv[1] : "";
  gst_init(nullptr, nullptr);
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  gst_registry_scan_path(gst_registry_get(),
                         (program.parent_path().parent_path() / "lib" / "gstreamer-1.0").c_str());
  const bool with_frei0r = gst_element_factory_find("frei0r-filter-equaliz0r") != nullptr;

  nlohmann::json rows = nlohmann::json::array();
  std::printf("%-6s %8s %10s %11s %9s %12s %13s %6s\n", "format", "threads", "filter ms",
              "element ms", "overhead", "identity ms", "equaliz0r ms", "ratio");
  for (const int threads : {1, 2}) {
    for (const PixelFormat format :
         {PixelFormat::nv12, PixelFormat::i420, PixelFormat::bgr, PixelFormat::rgba}) {
      const nlohmann::json row = compare_in_process(format, threads, with_frei0r);
      const nlohmann::json theirs = row.value("beside_equaliz0r", nlohmann::json::object());
      std::printf("%-6s %8d %10.3f %11.3f %8.1f%% %12.3f %13.2f %6.1f\n",
                  std::string(to_string(format)).c_str(), threads, row["filter_ms"].get<double>(),
                  row["element_ms"].get<double>(), 100 * row["overhead"].get<double>(),
                  row["identity_ms"].get<double>(), theirs.value("equaliz0r_ms", 0.0),
                  theirs.value("ratio", 0.0));
      rows.push_back(row);
    }
  }
  const double histeq = histeq_ms();
  nlohmann::json result{
      {"simd", cpu_simd_target()}, {"gstreamer", gst_version_string()}, {"results", rows}};
  if (histeq > 0) {
    result["histeq_ms"] = histeq;
    for (const nlohmann::json& row : rows) {
      if (row["format"] != "rgba") continue;
      std::printf("histeq %.2f ms, %.1f times the element's on %d thread(s)\n", histeq,
                  histeq / row["element_ms"].get<double>(), row["threads"].get<int>());
    }
  }
  return write_json(json_path, result, "compare_gst");
}

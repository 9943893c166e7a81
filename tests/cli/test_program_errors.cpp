#include <filesystem>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/program.h"

/// Invocations that must fail: the exit code, one line that says what is wrong, and no output.
namespace equalux::test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

#ifdef EQUALUX_HAVE_GSTREAMER
constexpr int kNeedsGStreamer = 0;
#else
constexpr int kNeedsGStreamer = 69;
#endif
#ifdef EQUALUX_HAVE_OPENCV
constexpr int kNeedsOpenCv = 0;
#else
constexpr int kNeedsOpenCv = 69;
#endif

/// What a build without the library answers; with it, `code`.
constexpr int with(int library, int code) {
  return library == 0 ? code : library;
}

struct BadCall {
  std::vector<std::string> arguments;
  int code;
  std::string says;
};

void PrintTo(const BadCall& call, std::ostream* out) {
  *out << "equalux";
  for (const std::string& argument : call.arguments)
    *out << ' ' << argument;
}

void make_inputs(const TempFolder& folder) {
  folder.write("in.y4m", dim_y4m(32, 16, 3));
  folder.write("a/same.y4m", dim_y4m(32, 16, 1));
  folder.write("b/same.y4m", dim_y4m(32, 16, 1));
  folder.write("in.ppm", dim_ppm(16, 8));
  folder.write("-in.y4m", dim_y4m(32, 16, 1));
  folder.write("bad.pgm", "P5\n16 8\n255\nshort");
  folder.write("bad.ppm", "P6\n16 8\n255\nshort");
  folder.write("bad.y4m", "YUV4MPEG2 nonsense\n");
  folder.write("garbage.mp4", std::string(5000, 'x'));
  folder.write("empty.mp4", "");
  folder.write("unknown.toml", "bins = 256\nbisn = 3\n");
  folder.write("image.toml", "plot = \"p.png\"\n");
  folder.write("table.toml", "[runn]\nframes = 3\n");
  folder.write("value.toml", "\nbins = 1000000\n");
  folder.write("broken.toml", "bins 256\n");
  folder.write("ligth.toml", "preset = \"low-ligth\"\n");
  folder.write("loop.toml", "config = \"loop.toml\"\n");
  std::filesystem::create_directory(folder.path() / "hollow");
}

class BadCalls : public ::testing::TestWithParam<BadCall> {};

TEST_P(BadCalls, EndInOneLineAndTheirCode) {
  const TempFolder folder;
  make_inputs(folder);
  const std::vector<std::string> before = folder.names();
  ProgramOptions options;
  options.folder = folder.path();
  options.environment = {{"DISPLAY", ""}, {"WAYLAND_DISPLAY", ""}, {"CUDA_VISIBLE_DEVICES", "-1"}};
  const ProgramResult result = run_program(GetParam().arguments, options);
  EXPECT_EQ(result.exit_code, GetParam().code) << result.err;
  EXPECT_THAT(lines_of(result.err), SizeIs(1)) << result.err;
  EXPECT_THAT(result.err, StartsWith("equalux: "));
  EXPECT_THAT(result.err, HasSubstr(GetParam().says));
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(folder.names(), before);
  EXPECT_LT(result.seconds, 5.0);
}

using Arguments = std::vector<std::string>;

/// `equalux run in.y4m -o out.y4m` with more.
BadCall run_with(Arguments more, int code, std::string says) {
  Arguments arguments{"run", "in.y4m", "-o", "out.y4m"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return {std::move(arguments), code, std::move(says)};
}
BadCall image_with(Arguments more, int code, std::string says) {
  Arguments arguments{"image", "in.ppm", "out.ppm"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return {std::move(arguments), code, std::move(says)};
}

BadCall filter_with(std::string spec, int code, std::string says) {
  return image_with({"--filter", std::move(spec)}, code, std::move(says));
}

INSTANTIATE_TEST_SUITE_P(
    Convolution, BadCalls,
    ::testing::Values(
        filter_with("sharpn", 2, "must be sharpen"),
        filter_with("sharpen:sigma=2", 2, "sharpen has no key 'sigma', must be offset, border,"),
        filter_with("convolve:kernel=sharpn", 2, "must be sharpen"),
        filter_with("convolve:weights=1,2", 2, "n * n numbers"),
        filter_with("convolve:weights=1,kernel=sharpen", 2, "filter convolve: weights belongs"),
        filter_with("convolve:kernel=sharpen,weights=1", 2, "filter convolve: weights belongs"),
        filter_with("convolve:weights=x", 2, "filter convolve: weights has 'x' as number 1"),
        filter_with("convolve:weights=9.123456789", 2, "filter convolve: weights with divisor"),
        filter_with("convolve:kernel=custom", 2, "filter convolve: kernel is custom without"),
        filter_with("convolve:weights=1,divisor=0", 2, "a decimal over 0"),
        filter_with("gaussian:sigma=10", 2, "at most 31"),
        filter_with("gaussian:truncate=2", 2, "filter gaussian: truncate is 2, must stand with"),
        filter_with("shapes:derivative=sobel-laplacian,sigma=2", 2, "filter shapes: sigma is 2"),
        filter_with("gaussian:sigma=wide", 2, "sigma is 'wide'"),
        filter_with("box:size=4", 2, "odd, 3 to 31"),
        filter_with("box:border=mirror", 2, "replicate, reflect-101 or constant"),
        filter_with("edge:border-value=3", 2, "with border constant"),
        filter_with("edge:mode=shared", 69, "mode shared exists on the CUDA backend only"),
        image_with({"--filter", "edge:mode=shared", "--backend", "cpu"}, 2, "CUDA backend only"),
        image_with({"--filter", "edge:mode=sequential", "--backend", "cuda"}, 2, "the CPU only"),
        image_with({"--filter", "edge:mode=sequential", "--filter", "edge:mode=shared"}, 2,
                   "CUDA backend only")));

/// What a filter does not take is known once the one before it has its frames.
INSTANTIATE_TEST_SUITE_P(
    Chains, BadCalls,
    ::testing::Values(
        image_with({"--filter", "sharpen", "--filter", "clahe:tiles=2,9"}, 2,
                   "in.ppm: filter clahe: tiles is 2,9, must be at most 16,8"),
        run_with({"--filter", "clahe:tiles=2,2", "--filter", "clahe:tiles=9,9"}, 2,
                 "filter clahe: tiles is 9,9, must be at most 16,8"),
        run_with({"--filter", "vessel:output=heat", "--filter", "clahe:compatible=opencv"}, 2,
                 "filter clahe: the frame's format is bgr"),
        run_with({"--filter", "clahe:compatible=opencv"}, 2, "nor RGB frames, must be gray")));

INSTANTIATE_TEST_SUITE_P(
    WhatCounts, BadCalls,
    ::testing::Values(
        image_with({"--region", "1,2,3"}, 2, "region is '1,2,3', must be x,y,width,height"),
        image_with({"--region", "16,0,4,4"}, 2, "within the frame's 16x8"),
        image_with({"--region", "bad.pgm"}, 65, "region mask bad.pgm ends before its last row"),
        image_with({"--region", "no.pgm"}, 66, "region mask no.pgm cannot be opened"),
        filter_with("equalize:region=0,0,0,5", 2, "region is 0,0,0,5"),
        image_with({"--surround", "off"}, 2, "must be keep or ignore"),
        run_with({"--surround", "ignore", "--chain", "staged"}, 2, "must be fused with region")));

INSTANTIATE_TEST_SUITE_P(
    WithoutEffect, BadCalls,
    ::testing::Values(
        image_with({"--filter", "sharpen", "--strength", "0.5"}, 2,
                   "--strength is nothing that the chain sharpen has, must stand with equalize or "
                   "clahe"),
        image_with({"--filter", "clahe", "--bins", "9"}, 2, "must stand with equalize"),
        image_with({"--filter", "clahe", "--surround", "ignore"}, 2, "chain clahe has"),
        image_with({"--filter", "clahe", "--region", "0,0,4,4"}, 2, "chain clahe has"),
        image_with({"--filter", "clahe", "--space", "luma"}, 2, "chain clahe has"),
        image_with({"--filter", "clahe", "--chain", "staged"}, 2, "chain clahe has"),
        image_with({"--filter", "edge", "--block", "16"}, 2, "must stand with equalize"),
        image_with({"--filter", "edge", "--plot-scalers", "p.png"}, 2, "--scaler is nothing"),
        run_with({"--filter", "sharpen", "--filter", "edge", "--scan", "cub"}, 2,
                 "the chain sharpen ! edge has"),
        run_with({"--filter", "sharpen", "--preset", "fog"}, 2,
                 "--preset fog sets nothing that the chain sharpen has"),
        image_with({"--filter", "sharpen", "--preset", "fog"}, 2, "--preset fog sets nothing"),
        run_with({"--fps", "25"}, 2, "--fps is of cameras, stills or files, must be left out"),
        run_with({"--size", "64x48"}, 2, "--size is of cameras"),
        run_with({"--reconnect", "off"}, 2, "--reconnect is of live inputs"),
        run_with({"--decoder", "software"}, 2, "--decoder is of files"),
        BadCall{{"batch", "in.y4m", "--out", "results", "--filter", "edge", "--clip-limit", "2"},
                2,
                "--clip-limit is nothing"}));

INSTANTIATE_TEST_SUITE_P(
    Words, BadCalls,
    ::testing::Values(
        BadCall{{"run", "--", "-dash.y4m", "-o", "out.y4m"}, 2, "option -o stands behind --"},
        BadCall{{"run", "-o", "out.y4m", "--", "-dash.y4m"}, 66, "'-dash.y4m' does not exist"},
        BadCall{{"missing.y4m", "-o", "out.y4m"}, 66, "'missing.y4m' does not exist"},
        BadCall{{"help", "runn"}, 2, "must be run"}, run_with({"-z"}, 2, "option -z is unknown"),
        run_with({"-yx"}, 2, "option -x is unknown"),
        run_with({"--quality", "--quiet"}, 2, "--quality has no value"),
        BadCall{{"run", "a/same.y4m", "b/same.y4m", "in.y4m", "-o", "out.y4m"},
                2,
                "equalux batch takes many videos"},
        BadCall{{"run", "in.ppm", "bad.ppm", "-o", "out.y4m"}, 2, "must stand in quotes"},
        BadCall{{"run", "a", "-o", "out.y4m"}, 2, "equalux batch a --out DIR"},
        run_with({"--progress", "loud"}, 2, "must be text or json")));

INSTANTIATE_TEST_SUITE_P(
    Commands, BadCalls,
    ::testing::Values(
        BadCall{{}, 2, "must be run, image, batch, measure, lab, devices or doctor"},
        BadCall{{"frobnicate"}, 2, "'frobnicate'"}, BadCall{{"runn", "in.y4m"}, 2, "must be run"},
        BadCall{{"--bogus"}, 2, "--bogus"},
        BadCall{{"--quiet", "run", "in.y4m"}, 2, "before the command"},
        BadCall{{"run"}, 2, "INPUT is missing"}, BadCall{{"run", "in.y4m"}, 2, "output is missing"},
        BadCall{{"camera"}, 2, "as camera:0 for /dev/video0"},
        BadCall{{"webcam", "-o", "out.y4m"}, 2, "as camera:0 for /dev/video0"},
        BadCall{{"file:///none/in.y4m", "-o", "out.y4m"}, 66, "without file:"},
        run_with({"--filter", "denoise,equalize"}, 2, "more than one name"),
        BadCall{{"in.y4m", "-o", std::string(245, 'x') + ".y4m"}, 73, "must have a shorter name"},
        // What is not there is said first.
        BadCall{{"missing.mp4"}, 66, "input 'missing.mp4' does not exist"},
        BadCall{{"run", "missing.y4m"}, 66, "'missing.y4m' does not exist"},
        BadCall{{"run", "missing-%02d.png"}, 66, "missing-%02d.png"},
        BadCall{{"run", "missing.y4m", "-o", "in.y4m"}, 66, "'missing.y4m'"},
        BadCall{{"image", "in.ppm"}, 2, "OUT is missing"},
        BadCall{{"batch"}, 2, "INPUT is missing"},
        BadCall{{"batch", "in.y4m"}, 2, "--out is missing"},
        BadCall{{"devices", "--bins", "3"}, 2, "belongs to equalux run"},
        BadCall{{"devices", "--backend", "cuda"}, 69, "cuda: "},
        run_with({"extra.y4m"}, 2, "is given as -o OUTPUT"),
        image_with({"extra.ppm"}, 2, "extra.ppm")));

INSTANTIATE_TEST_SUITE_P(
    Options, BadCalls,
    ::testing::Values(
        run_with({"--bisn", "3"}, 2, "must be --bins"),
        run_with({"--plot", "p.png"}, 2, "belongs to equalux image"),
        run_with({"--bins"}, 2, "--bins has no value"), run_with({"--bins", "1"}, 2, "bins is 1"),
        run_with({"--bins", "65537"}, 2, "2 to 65536"),
        run_with({"--bins", "many"}, 2, "bins is 'many'"),
        run_with({"--scaler", "minmax"}, 2, "max-abs, min-max or min-max-nonzero"),
        run_with({"--chain", "fast"}, 2, "fused or staged"),
        run_with({"--scan", "kogge-stone"}, 2, "chain staged"),
        run_with({"--chain", "staged", "--scan", "quick"}, 2, "brent-kung"),
        run_with({"--chain", "staged", "--scan", "cub", "--backend", "cpu"}, 2, "scan cub"),
        run_with({"--chain", "staged", "--grid", "8,1,1", "--backend", "cpu"}, 2, "grid 8,1,1"),
        run_with({"--chain", "staged", "--block", "2048,1,1"}, 2, "at most 1024"),
        run_with({"--chain", "staged", "--pixels-per-thread", "3"}, 2, "1, 2, 4 or 8"),
        run_with({"--chain", "staged", "--scan", "cub"}, 69, "scan cub"),
        run_with({"--backend", "cuda"}, 69, "cuda: "),
        run_with({"--backend", "gpu"}, 2, "auto, cpu or cuda"),
        run_with({"--decoder", "cuda"}, 2, "auto, software or gpu"),
        run_with({"--threads", "5000"}, 2, "0 to 1024"),
        run_with({"--threads", "-1"}, 2, "--threads is '-1'"),
        run_with({"--device", "9999"}, 2, "-1 to 1023"),
        run_with({"--device", "3", "--backend", "cpu"}, 2,
                 "--device is 3, the number of a GPU, must be left out with --backend cpu"),
        image_with({"--device", "0", "--backend", "cpu"}, 2, "must be left out with --backend cpu"),
        run_with({"--drop-streams"}, 2, "--drop-streams is of video files"),
        run_with({"--frames", "-5"}, 2, "--frames"),
        run_with({"--filter", "frobnicate"}, 2, "frobnicate"),
        run_with({"--filter", "equalize:foo=1"}, 2, "foo"),
        run_with({"--filter", "equalize:bins"}, 2, "without a key"),
        run_with({"--log-level", "loud"}, 2, "trace, debug"),
        run_with({"--quiet=maybe"}, 2, "--quiet"), run_with({"--fps", "0"}, 2, "--fps is '0'"),
        run_with({"--size", "12"}, 2, "--size is '12', must be WIDTHxHEIGHT"),
        run_with({"--size", "1x"}, 2, "--size is '1x', must be WIDTHxHEIGHT"),
        image_with({"--repeat", "0"}, 2, "--repeat"), image_with({"--plot", "p.jpg"}, 2, ".png"),
        image_with({"--plot", "out.ppm"}, 2, ".png"),
        BadCall{{"image", "in.ppm", "bad.ppm", "--out", "x", "--backend", "cuda"}, 69, "cuda: "},
        image_with({"--backend", "cuda"}, 69, "cuda: ")));

INSTANTIATE_TEST_SUITE_P(
    Configs, BadCalls,
    ::testing::Values(
        run_with({"--preset", "nosuch"}, 2,
                 "--preset is 'nosuch', must be plain, archive-film, batch,"),
        run_with({"--preset", "low-ligth"}, 2, "--preset is 'low-ligth', must be low-light\n"),
        run_with({"--config", "ligth.toml"}, 2,
                 "ligth.toml:1: preset is 'low-ligth', must be low-light\n"),
        run_with({"--preset", "../configs/default"}, 2, "--preset"),
        run_with({"--config", "missing.toml"}, 66, "missing.toml"),
        run_with({"--config", "hollow"}, 66, "hollow"),
        run_with({"--config", "unknown.toml"}, 2, "unknown.toml:2: key bisn"),
        run_with({"--config", "image.toml"}, 2, "equalux image"),
        run_with({"--config", "table.toml"}, 2, "[runn]"),
        run_with({"--config", "value.toml"}, 2, "value.toml:2: bins is 1000000"),
        run_with({"--filter", "denoise:strength=2"}, 2, "filter denoise: strength is 2"),
        run_with({"--filter", "clahe", "--filter", "vessel:sigmas=99"}, 2,
                 "filter vessel: sigmas is 99"),
        run_with({"--filter", "denoise:strength=x"}, 2, "filter denoise: strength is 'x'"),
        run_with({"--config", "broken.toml"}, 2, "broken.toml:1"),
        run_with({"--config", "loop.toml"}, 2, "include itself")));

INSTANTIATE_TEST_SUITE_P(
    Inputs, BadCalls,
    ::testing::Values(
        BadCall{{"run", "missing.y4m", "-o", "out.y4m"}, 66, "missing.y4m"},
        BadCall{{"run", "-in.y4m", "-o", "out.y4m"}, 2, "must be written ./-in.y4m"},
        BadCall{{"run", "---", "-o", "out.y4m"}, 2, "option --- is unknown to equalux run"},
        BadCall{{"run", "in.y4m", "--=3"}, 2, "option -- is unknown to equalux run"},
        BadCall{{"run", "missing.mp4", "-o", "out.y4m"}, 66, "missing.mp4"},
        BadCall{{"run", "bad.y4m", "-o", "out.y4m"}, 65, "bad.y4m"},
        BadCall{{"run", "none\x1b[31m.mp4", "-o", "null"}, 66, "none\\x1b[31m.mp4"},
        BadCall{{"run", "garbage.mp4", "-o", "out.y4m"}, with(kNeedsGStreamer, 65), "garbage.mp4"},
        BadCall{{"run", "empty.mp4", "-o", "out.y4m"}, with(kNeedsGStreamer, 65), "empty.mp4"},
        BadCall{{"run", "test:0x0", "-o", "null"}, 2, "0x0"},
        BadCall{{"run", "test:100000x2@30", "-o", "null"}, 2, "100000x2"},
        BadCall{{"run", "test:64x36@0", "-o", "null"}, 2, "64x36@0"},
        BadCall{{"run", "camera:x", "-o", "null"}, 2, "camera:x"},
        BadCall{{"run", "camera:77", "-o", "null"}, with(kNeedsOpenCv, 66), "camera:77"},
        BadCall{{"run", "in.y4m", "-o", "v4l2:/dev/video77"},
                with(kNeedsGStreamer, 66),
                kNeedsGStreamer == 0 ? "exclusive_caps=1 video_nr=77" : "v4l2"},
        BadCall{{"run", "/dev/video77"}, 2, "is a camera, must be camera:77"},
        BadCall{{"run", "in.y4m", "-o", "v4l2:"},
                2,
                "output v4l2: has no device, must be v4l2:/dev/videoN"},
        BadCall{{"run", "v4l2:/dev/video0", "-o", "null"}, 2, "is a camera, must be camera:0"},
        BadCall{{"run", "/dev/v4l/by-id/usb-cam", "-o", "null"}, 2, "must be camera:N"},
        BadCall{{"run", "webcam", "-o", "null"}, 2, "must be camera:N, as camera:0"},
        BadCall{{"run", "none%03d.ppm", "-o", "null"}, 66, "none%03d.ppm"},
        BadCall{{"run", "hollow", "-o", "null"}, 66, "hollow"},
        BadCall{{"run", "gst:videotestsrc ! ! x", "-o", "null"}, with(kNeedsGStreamer, 2), "gst"},
        BadCall{{"image", "missing.ppm", "out.ppm"}, 66, "missing.ppm"},
        BadCall{{"image", "bad.ppm", "out.ppm"}, 65, "bad.ppm"},
        BadCall{{"batch", "hollow", "--out", "results"}, 66, "hollow"}));

INSTANTIATE_TEST_SUITE_P(
    Outputs, BadCalls,
    ::testing::Values(
        BadCall{{"run", "in.y4m", "-o", "in.y4m"}, 2, "is the input"},
        BadCall{{"run", "in.y4m", "-o", "./hollow/../in.y4m"}, 2, "is the input"},
        BadCall{{"run", "in.y4m", "-o", "out.xyz"}, 2, "out.xyz"},
        BadCall{{"run", "in.y4m", "-o", "hollow"}, 2, "'hollow' is a folder, must be a file in it"},
        BadCall{{"run", "in.y4m", "-o", "out.ppm"}, 2, "out%05d.ppm"},
        BadCall{{"run", "in.y4m", "-o", "nowhere/out.y4m"}, 73, "nowhere"},
        BadCall{{"run", "in.y4m", "-o", "nowhere/%05d.ppm"}, 73, "nowhere"},
        BadCall{{"run", "in.y4m", "-o", "window"}, 69, "window"},
        BadCall{{"run", "in.y4m", "-o", "-", "--verify"}, 2, "--verify=FILE"},
        BadCall{{"run", "in.y4m", "-o", "-", "--timings", "-"}, 2, "must be a file"},
        run_with({"--timings", "in.y4m"}, 2, "is the input"),
        run_with({"--timings", "out.y4m"}, 2, "-o and --timings both name out.y4m, must be diff"),
        run_with({"--timings", "t", "--verify=hollow/../t"}, 2, "--timings and --verify both name"),
        run_with({"--curve-to", "t", "--verify=t"}, 2, "--verify and --curve-to both name t,"),
        run_with({"--timings", "nowhere/t.jsonl"}, 73, "nowhere"),
        run_with({"--verify=nowhere/v.md5"}, 73, "nowhere"),
        BadCall{{"image", "in.ppm", "in.ppm"}, 2, "is the input"},
        BadCall{{"image", "in.ppm", "out.xyz"}, 2, "out.xyz"},
        BadCall{{"image", "in.ppm", "nowhere/out.ppm"}, 73, "nowhere"},
        image_with({"--plot", "p.png", "--plot-scalers", "p.png"}, 2,
                   "--plot and --plot-scalers both"),
        image_with({"--plot-rgb"}, 2,
                   "--plot-rgb has no plot to draw into, must stand with --plot"),
        BadCall{{"image", "in.ppm", "--out", "results", "--plot-rgb"}, 2, "--plot-rgb is of one"},
        BadCall{
            {"measure", "in.y4m", "--json", "f.png", "--plot", "f.png"}, 2, "--json and --plot"},
        BadCall{{"batch", "in.y4m", "--out", "results", "--timings", "t", "--verify=t"},
                2,
                "--timings and --verify both name t"},
        image_with({"--plot", "nowhere/p.png"}, 73, "nowhere"),
        BadCall{{"batch", "a/same.y4m", "b/same.y4m", "--out", "results"}, 2, "both become"},
        BadCall{{"batch", "in.y4m", "--out", "results", "--extension", "exe"}, 2, "--extension"},
        BadCall{{"batch", "in.y4m", "--out", "in.ppm"}, 73, "is a file"}));

#ifdef EQUALUX_HAVE_GSTREAMER
INSTANTIATE_TEST_SUITE_P(
    Encoders, BadCalls,
    ::testing::Values(
        BadCall{{"run", "in.y4m", "-o", "out.mp4", "--encoder", "nosuch"}, 2, "nosuch"},
        BadCall{{"run", "in.y4m", "-o", "out.mp4", "--quality", "999"}, 2, "quality"},
        BadCall{{"run", "in.y4m", "-o", "out.mp4", "--quality", "good"}, 2, "--quality"},
        BadCall{{"run", std::string(EQUALUX_SOURCE_FOLDER) + "/samples/clip.mp4", "-o", "null",
                 "--backend", "cpu", "--decoder", "gpu"},
                69,
                "decoder gpu needs filters on a GPU"},
        BadCall{{"run", "in.y4m", "-o", "nowhere/out.mp4"}, 73, "nowhere"}));
#endif

}  // namespace
}  // namespace equalux::test

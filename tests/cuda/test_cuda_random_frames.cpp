// Filters with random options, at and between their ends, over random frames on a GPU: the CPU's
// bytes, frame after frame. Every seed is a stream of its own.
#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "cuda/runtime/check.h"
#include "cuda/runtime/handles.h"
#include "tests/support/device/device_image.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"

namespace equalux::test {
namespace {

/// Random numbers that are the same with every standard library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  /// 0 to n - 1.
  [[nodiscard]] int below(int n) {
    return static_cast<int>(random_() % static_cast<std::uint64_t>(n));
  }
  [[nodiscard]] bool one_in(int n) { return below(n) == 0; }
  /// 0 to below 1.
  [[nodiscard]] double part() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  template <typename Item>
  [[nodiscard]] const Item& any(const std::vector<Item>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

 private:
  std::mt19937_64 random_;
};

/// A number of an option's range, often an end of it.
std::string number_of(const Option& option, Dice& dice) {
  if (!option.word.empty() && dice.one_in(4)) return std::string(option.word);
  if (!option.zero_means.empty() && dice.one_in(4)) return "0";
  const double range = option.most - option.least;
  const double part = dice.part();
  double number = option.least;
  switch (dice.below(4)) {
    case 0:
      break;
    case 1:
      number = option.most;
      break;
    case 2:
      number += range * part;
      break;
    default:
      number += range * part * part * part * part;
  }
  if (option.type == OptionType::whole) return std::to_string(static_cast<long long>(number));
  return std::to_string(option.above_least ? std::max(number, option.least + 1e-3) : number);
}

/// Values of a few of a filter's options.
OptionValues some_options(const FilterInfo& filter, Dice& dice) {
  OptionValues values;
  for (const Option& option : filter.options) {
    if (option.key == "chain" || option.backends != Backends::both) continue;
    if (!dice.one_in(filter.options.size() > 12 ? 6 : 3)) continue;
    if (option.type == OptionType::name) {
      std::vector<OptionName> names(option.names.begin(), option.names.end());
      std::erase_if(names, [](const OptionName& name) { return name.backends != Backends::both; });
      values.emplace_back(option.key, dice.any(names).name);
    } else if (option.type == OptionType::number || option.type == OptionType::whole) {
      values.emplace_back(option.key, number_of(option, dice));
    } else if (option.key == "sigmas") {
      values.emplace_back(option.key, dice.one_in(2) ? "1,2.5,16" : "1,1.5,2,3,4,5,6,7");
    } else if (option.key == "weights") {
      values.emplace_back(option.key, dice.one_in(2) ? "0,-1,0,-1,5.5,-1,0,-1,0"
                                                     : "1,2,3,2,1,-7,9,0.25,9,-7,1,2,900,2,1,-7,9,"
                                                       "0.25,9,-7,1,2,3,2,1");
    } else if (option.key == "region") {
      values.emplace_back(option.key, dice.one_in(2) ? "10%,20%,50.5%,40%" : "1,0,7,3");
    } else if (option.key == "tiles") {
      values.emplace_back(option.key, std::to_string(1 + dice.below(16)) + "," +
                                          std::to_string(1 + dice.below(16)));
    }
  }
  return values;
}

ImageDesc some_desc(Dice& dice) {
  const std::vector<int> sides{1,  2,  3,  7,  8,   15,  16,  17,  31,
                               33, 63, 64, 65, 127, 129, 192, 256, 301};
  ImageDesc desc{static_cast<PixelFormat>(dice.below(kPixelFormatCount)), dice.any(sides),
                 dice.any(sides)};
  if (dice.one_in(3)) desc.width = 1 + dice.below(700);
  if (dice.one_in(20)) {
    desc.width = kMaxSide - dice.below(9);
    desc.height = 1 + dice.below(5);
    if (dice.one_in(2)) std::swap(desc.width, desc.height);
  }
  desc.matrix = static_cast<ColorMatrix>(dice.below(3));
  desc.range = static_cast<ColorRange>(dice.below(2));
  return desc;
}

DeviceLayout some_layout(Dice& dice) {
  return {dice.one_in(2) ? 0 : dice.below(20), dice.one_in(2) ? 0 : dice.below(100), dice.one_in(2),
          dice.one_in(4)};
}

/// A filter of a spec for frames of `desc`; nothing where it does not take the options or them.
std::optional<std::pair<std::unique_ptr<Filter>, ImageDesc>> configured(const FilterSpec& spec,
                                                                        const ImageDesc& desc,
                                                                        Backend backend) {
  try {
    std::unique_ptr<Filter> filter = backend == Backend::cpu
                                         ? make_cpu_filter(spec, {}, {.threads = 2})
                                         : make_cuda_filter(spec, {}, {.device = 0});
    if (!filter->accepts(desc.format)) return std::nullopt;
    const ImageDesc result = filter->configure(desc);
    return std::pair(std::move(filter), result);
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage) throw;
    return std::nullopt;
  }
}

/// Fills a frame; floats are levels.
void draw(const ImageView& frame, Content content, std::uint32_t seed) {
  if (traits(frame.desc.format).model != ColorModel::real) return fill(frame, content, seed);
  std::mt19937 random(seed);
  for (int y = 0; y < frame.desc.height; ++y) {
    auto* const row = reinterpret_cast<float*>(frame.row(0, y));
    for (int x = 0; x < frame.desc.width; ++x)
      row[x] = static_cast<float>(random() % 65536) / 256;
  }
}

/// Runs a stream on both backends; true where there was one.
bool run_stream(std::uint64_t seed) {
  Dice dice(seed);
  const FilterInfo& filter = dice.any(filter_list());
  const FilterSpec spec{std::string(filter.name), some_options(filter, dice)};
  ImageDesc desc = some_desc(dice);
  auto cpu = configured(spec, desc, Backend::cpu);
  for (int i = 0; i < 20 && !cpu; ++i) {
    desc = some_desc(dice);
    cpu = configured(spec, desc, Backend::cpu);
  }
  const auto cuda = configured(spec, desc, Backend::cuda);
  EXPECT_EQ(cpu.has_value(), cuda.has_value()) << "only one backend takes it: " << spec.text();
  if (!cpu || !cuda) return false;
  SCOPED_TRACE("seed " + std::to_string(seed) + ", " + spec.text() + ", " +
               describe(desc, Content::noise));
  EXPECT_EQ(cpu->second, cuda->second);
  Image in(desc);
  Image out(cpu->second);
  DeviceImage device_in(desc, some_layout(dice));
  DeviceImage device_out(cuda->second, some_layout(dice));
  const bool in_place = cpu->first->works_in_place() && desc == cpu->second && dice.one_in(3);
  std::int64_t pts_ns = 0;
  Content content = dice.any(all_contents());
  FieldOrder order = FieldOrder::progressive;
  for (int i = 0; i < 4; ++i) {
    if (dice.one_in(3)) content = dice.any(all_contents());
    if (dice.one_in(3)) order = static_cast<FieldOrder>(dice.below(3));
    draw(in.view(), content, static_cast<std::uint32_t>(dice.below(9)));
    device_in.upload(in.view());
    FrameContext context;
    context.index = static_cast<std::uint64_t>(i);
    context.pts_ns = pts_ns += dice.one_in(5) ? -9'000'000'000 : 40'000'000;
    context.field_order = order;
    FrameContext on_device = context;
    cpu->first->submit(in.view(), out.view(), context);
    cuda->first->submit(device_in.view(), in_place ? device_in.view() : device_out.view(),
                        on_device);
    const Image came = in_place ? device_in.download() : device_out.download();
    EXPECT_EQ(count_differences(out.view(), came.view()), 0U) << "frame " << i;
    if (testing::Test::HasFailure()) return true;
    if (!dice.one_in(4)) continue;
    const OptionValues changes = some_options(filter, dice);
    const auto updated = [&changes](Filter& of) {
      try {
        return of.update(changes) ? 1 : 0;
      } catch (const Error&) {
        return -1;
      }
    };
    EXPECT_EQ(updated(*cpu->first), updated(*cuda->first));
  }
  EXPECT_EQ(cpu->first->save(), cuda->first->save());
  return true;
}

TEST(CudaRandomFrames, AreThoseOfTheCpu) {
  if (!has_cuda_device()) GTEST_SKIP() << "no CUDA device";
  int streams = 0;
  const std::uint64_t seeds = wants_every_count() ? 6000 : (wants_few_counts() ? 150 : 600);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    streams += run_stream(seed) ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(static_cast<std::uint64_t>(streams), seeds / 5);
}

/// A frame in device memory with the layout of an Image.
struct HugeFrame {
  explicit HugeFrame(const ImageDesc& desc)
      : bytes(image_layout(desc).bytes),
        memory(cuda::allocate_device<std::uint8_t>(bytes)),
        view(image_layout(desc).view(desc, memory.get())) {}

  std::size_t bytes;
  cuda::DevicePointer<std::uint8_t> memory;
  ImageView view;
};

/// Draws 251 rows of noise, again and again.
void draw_rows(const ImageView& frame) {
  std::mt19937 random(1);
  for (int p = 0; p < traits(frame.desc.format).planes; ++p) {
    const std::size_t bytes = row_bytes(frame.desc, p);
    for (int y = 0; y < plane_rows(frame.desc, p); ++y) {
      std::uint8_t* const row = frame.row(p, y);
      if (y >= 251) {
        std::copy_n(frame.row(p, y - 251), bytes, row);
        continue;
      }
      for (std::size_t i = 0; i < bytes; ++i)
        row[i] = static_cast<std::uint8_t>(random() >> 24);
    }
  }
}

/// Number of planes' rows that differ.
int different_rows(const ConstImageView& a, const ConstImageView& b) {
  int rows = 0;
  for (int p = 0; p < traits(a.desc.format).planes; ++p)
    for (int y = 0; y < plane_rows(a.desc, p); ++y)
      rows += std::equal(a.row(p, y), a.row(p, y) + row_bytes(a.desc, p), b.row(p, y)) ? 0 : 1;
  return rows;
}

// Counts of up to 2^31, and offsets beyond that.
TEST(CudaRandomFrames, OfTheMostPixelsAreThoseOfTheCpu) {
  if (!has_cuda_device()) GTEST_SKIP() << "no CUDA device";
  if (!wants_every_count()) GTEST_SKIP() << "EQUALUX_FULL is not set: takes gigabytes";
  const std::vector<std::pair<const char*, PixelFormat>> cases{
      {"equalize", PixelFormat::gray8},
      {"equalize", PixelFormat::bgr},
      {"equalize", PixelFormat::i420},
      {"equalize", PixelFormat::gray16_le},
      {"equalize:clip-limit=2,saturation=auto,surround=ignore", PixelFormat::nv12},
      {"clahe:tiles=1,1", PixelFormat::gray8},
      {"clahe:tiles=1,1,compatible=opencv", PixelFormat::gray8},
      {"edge", PixelFormat::gray8},
      {"gaussian:size=9", PixelFormat::gray8},
      {"shapes:output=classes", PixelFormat::gray8}};
  for (const auto& [text, format] : cases) {
    SCOPED_TRACE(std::string(text) + ", " + std::string(to_string(format)));
    const ImageDesc desc{format, kMaxSide, 32768};
    std::size_t free = 0;
    std::size_t total = 0;
    cuda::check(cudaMemGetInfo(&free, &total), "asking for free memory");
    if (free < 4 * image_layout(desc).bytes) GTEST_SKIP() << "little device memory";
    const auto cpu = configured(parse_filter_spec(text), desc, Backend::cpu);
    const auto cuda = configured(parse_filter_spec(text), desc, Backend::cuda);
    ASSERT_TRUE(cpu && cuda);
    Image in(desc);
    draw_rows(in.view());
    Image out(cpu->second);
    Image came(cuda->second);
    const HugeFrame device_in(desc);
    const HugeFrame device_out(cuda->second);
    FrameContext context;
    cpu->first->submit(in.view(), out.view(), context);
    cuda::check(cudaMemcpy(device_in.memory.get(), in.view().data[0], device_in.bytes,
                           cudaMemcpyHostToDevice),
                "uploading");
    cuda->first->submit(device_in.view, device_out.view, context);
    cuda::check(cudaDeviceSynchronize(), "filtering");
    cuda::check(cudaMemcpy(came.view().data[0], device_out.memory.get(), device_out.bytes,
                           cudaMemcpyDeviceToHost),
                "downloading");
    EXPECT_EQ(different_rows(out.view(), came.view()), 0);
  }
}

}  // namespace
}  // namespace equalux::test

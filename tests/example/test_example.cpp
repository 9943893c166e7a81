#include <filesystem>
#include <fstream>
#include <iterator>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/common/filter_recipe.h"
#include "tests/example/invert.h"
#include "tests/support/media/test_images.h"

/// The worked example of docs/architecture.md: a filter that costs a table, its loops and a row.
namespace equalux {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// As in rows() of src/filters.cpp.
const FilterRow& row() {
  static const FilterRow row =
      filter_row<InvertParams>({"invert", "the frame as its negative", invert_options(), "Negative",
                                "Turns frames into their negatives, on the CPU"});
  return row;
}

RecipePtr read(const std::string& spec) {
  return row().read(parse_filter_spec(spec), {});
}

std::vector<std::uint8_t> one_frame(Filter& filter) {
  const ImageDesc desc{PixelFormat::gray8, 4, 1};
  Image in(desc);
  const std::array<std::uint8_t, 4> samples{0, 1, 100, 255};
  std::copy(samples.begin(), samples.end(), in.view().row(0, 0));
  Image out(filter.configure(desc));
  FrameContext context;
  filter.submit(std::as_const(in).view(), out.view(), context);
  return test::tight_copy(out.view());
}

TEST(ExampleFilter, FollowsFromItsRow) {
  EXPECT_THAT(one_frame(*read("invert")->make(CpuOptions{1})), ElementsAre(255, 254, 155, 0));
  EXPECT_THAT(one_frame(*read("invert:amount=0")->make(CpuOptions{1})),
              ElementsAre(0, 1, 100, 255));
  EXPECT_THAT(read("invert:amount=2")->violations(Backend::automatic),
              ElementsAre("amount is 2, must be 0 to 1"));
  EXPECT_EQ(read("invert:amount=0.25")->text("amount"), "0.25");
  EXPECT_TRUE(read("invert")->accepts(PixelFormat::bgr));
  EXPECT_FALSE(read("invert")->accepts(PixelFormat::nv12));
  EXPECT_EQ(option_help(row().info.options.front()),
            "how far it goes, from the frame as it is to its negative, 0 to 1");
  for (const char* wrong : {"invert:amount=x", "invert:amuont=1"})
    EXPECT_THROW(static_cast<void>(read(wrong)), Error) << wrong;
}

TEST(ExampleFilter, ChangesWhileItRuns) {
  const auto filter = make_changeable(read("invert"), CpuOptions{1});
  EXPECT_THAT(one_frame(*filter), ElementsAre(255, 254, 155, 0));
  EXPECT_TRUE(filter->update({{"amount", "0.5"}}));
  EXPECT_THAT(one_frame(*filter), ElementsAre(128, 128, 128, 128));
}

/// Every block of C++ in the chapter stands in the files here, as it is written there.
TEST(ExampleFilter, IsWhatTheDocumentationShows) {
  const std::filesystem::path root = EQUALUX_SOURCE_FOLDER;
  const auto read_file = [](const std::filesystem::path& path) {
    std::ifstream file(path);
    return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  };
  std::string sources;
  for (const auto& entry : std::filesystem::directory_iterator(root / "tests/example"))
    sources += read_file(entry.path());
  const std::string page = read_file(root / "docs/architecture.md");
  std::vector<std::string> blocks;
  for (std::size_t at = page.find("```cpp\n"); at != std::string::npos;) {
    const std::size_t begin = at + 7;
    const std::size_t end = page.find("```", begin);
    blocks.push_back(page.substr(begin, end - begin));
    at = page.find("```cpp\n", end);
  }
  EXPECT_THAT(blocks, SizeIs(3));
  for (const std::string& block : blocks)
    EXPECT_THAT(sources, HasSubstr(block));
}

}  // namespace
}  // namespace equalux

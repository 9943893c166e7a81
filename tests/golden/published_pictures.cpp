#include "tests/golden/published_pictures.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "pipelines/files/still.h"
#include "tests/support/media/test_images.h"
#include "tests/support/program.h"
#ifdef EQUALUX_HAVE_OPENCV
#include "pipelines/opencv/still.h"
#endif

namespace equalux::test {

void expect_published_pictures(const std::string& backend) {
  const char* folder = std::getenv("EQUALUX_GOLDEN");
  if (folder == nullptr) GTEST_SKIP() << "EQUALUX_GOLDEN names no folder of published pictures";
#ifdef EQUALUX_HAVE_OPENCV
  register_opencv_stills();
#endif
  const std::filesystem::path golden(folder);
  const bool has_png = std::filesystem::exists(golden / "chateau.png");
  const std::string extension = has_png ? ".png" : ".ppm";
  if (!knows_still("chateau" + extension)) GTEST_SKIP() << "built without OpenCV, which reads PNG";
  TempFolder folder_of_out;
  const std::string out = folder_of_out / ("out" + extension);
  for (const std::string name : {"chateau", "palais_garnier"}) {
    for (const auto& [scaler, suffix] :
         {std::pair{"max-abs", "_max_abs"}, std::pair{"min-max", "_min_max"}}) {
      const Image expected = read_still((golden / (name + suffix + extension)).string());
      for (const char* chain : {"fused", "staged"}) {
        const ProgramResult result =
            run_program({"image", (golden / (name + extension)).string(), out, "-y", "--scaler",
                         scaler, "--chain", chain, "--bins", "256", "--backend", backend});
        ASSERT_EQ(result.exit_code, 0) << result.err;
        const Image got = read_still(out);
        ASSERT_EQ(got.desc(), expected.desc());
        EXPECT_EQ(count_differences(got.view(), expected.view()), 0u)
            << name << " " << scaler << " " << chain;
      }
    }
  }
}

}  // namespace equalux::test

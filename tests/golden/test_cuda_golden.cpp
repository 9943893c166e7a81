// The report's published pictures, made on a GPU.
#include "tests/golden/published_pictures.h"
#include "tests/support/device/device_test.h"

namespace equalux::test {
namespace {

using CudaGolden = DeviceTest;

TEST_F(CudaGolden, PublishedPictures) {
  expect_published_pictures("cuda");
}

}  // namespace
}  // namespace equalux::test

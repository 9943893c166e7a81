#pragma once

#include <gtest/gtest.h>

#include "tests/support/device/device_image.h"

namespace equalux::test {

/// Tests that need a CUDA device: skipped where there is none.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_cuda_device()) GTEST_SKIP() << "no CUDA device";
  }
};

}  // namespace equalux::test

#include <arrow/compute/initialize.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "omnigraph/base/status.h"

int main(int argc, char** argv) {
  OG_CHECK_OK(arrow::compute::Initialize());
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}

/// \file
/// Assertions on Status and Result by kind and code, never by message text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "omnigraph/base/status.h"

namespace omnigraph::testing {

inline ::testing::AssertionResult IsOkStatus(const char*, const Status& status) {
  if (status.ok()) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << status.ToString();
}

inline ::testing::AssertionResult HasKindAndCode(const Status& status, ErrorKind kind,
                                                 const std::string& code) {
  if (Is(status, kind) && (code.empty() || CodeOf(status) == code)) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << "expected " << ErrorKindInfo(kind).name << " " << code << ", got " << status.ToString();
}

}  // namespace omnigraph::testing

#define OG_ASSERT_OK(expr) \
  ASSERT_PRED_FORMAT1(::omnigraph::testing::IsOkStatus, ::omnigraph::internal_status(expr))
#define OG_EXPECT_OK(expr) \
  EXPECT_PRED_FORMAT1(::omnigraph::testing::IsOkStatus, ::omnigraph::internal_status(expr))
#define OG_ASSERT_OK_AND_ASSIGN_IMPL(tmp, lhs, expr) \
  auto&& tmp = (expr);                               \
  ASSERT_TRUE(tmp.ok()) << tmp.status().ToString();  \
  lhs = std::move(tmp).ValueUnsafe()
#define OG_ASSERT_OK_AND_ASSIGN(lhs, expr) \
  OG_ASSERT_OK_AND_ASSIGN_IMPL(OG_CONCAT(_og_result_, __COUNTER__), lhs, expr)
#define OG_EXPECT_ERROR(expr, kind, code) \
  EXPECT_TRUE(                            \
      ::omnigraph::testing::HasKindAndCode(::omnigraph::internal_status(expr), (kind), (code)))

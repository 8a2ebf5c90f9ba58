// Writes down which checks of GoogleTest each test ran, in the form of executed_checks.cjs.
//
//     g++ -std=c++17 -include TOOLS/executed_checks_cpp/with_gtest.h ... /ABSOLUTE/test.cc
//     EXECUTED_CHECKS=OUT.jsonl ./test
//
// All EXPECT_ and ASSERT_ begin with the same macro, which is one that notes here; FAIL and ADD_FAILURE do not.  Of
// EXPECT_CALL it is noted that the call is expected.
#pragma once

#include <gtest/gtest.h>
#if __has_include(<gmock/gmock.h>)
#include <gmock/gmock.h>
#endif

#include "record.h"

#undef GTEST_AMBIGUOUS_ELSE_BLOCKER_
#define GTEST_AMBIGUOUS_ELSE_BLOCKER_                                          \
  switch (::executed_checks::note(__builtin_FILE(), __builtin_LINE()))         \
  case 0:                                                                      \
  default:

#undef EXPECT_CALL
#define EXPECT_CALL(object, call)                                              \
  GMOCK_ON_CALL_IMPL_((::executed_checks::note(__builtin_FILE(), __builtin_LINE()), object), InternalExpectedAt, call)

namespace executed_checks {

struct listener : ::testing::EmptyTestEventListener {
  static bool listen() {
    ::testing::UnitTest::GetInstance()->listeners().Append(new listener);
    return true;
  }

  void OnTestStart(const ::testing::TestInfo& test) override {
    record::one().begin(std::string(test.test_suite_name()) + "." + test.name(), test.file(), test.line());
  }

  void OnTestEnd(const ::testing::TestInfo& test) override {
    record::one().tell(test.result()->Passed() && !test.result()->Skipped());
  }
};

inline const bool is_listening = listener::listen();

}  // namespace executed_checks

// Writes down which checks of GoogleTest each test ran, in the form of executed_checks.cjs.
//
//     g++ -std=c++17 -include TOOLS/executed_checks_cpp/with_gtest.h ... /ABSOLUTE/test.cc
//     EXECUTED_CHECKS=OUT.jsonl ./test
//
// All EXPECT_ and ASSERT_ begin with the same macro, which is one that notes here.  FAIL and ADD_FAILURE do not, nor does
// EXPECT_CALL, which checks when its mock is gone.
#pragma once

#include <gtest/gtest.h>

#include "record.h"

#undef GTEST_AMBIGUOUS_ELSE_BLOCKER_
#define GTEST_AMBIGUOUS_ELSE_BLOCKER_                                          \
  switch (::executed_checks::note(__builtin_FILE(), __builtin_LINE()))         \
  case 0:                                                                      \
  default:

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

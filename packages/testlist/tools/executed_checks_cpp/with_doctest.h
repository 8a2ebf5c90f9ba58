// Writes down which checks of doctest each test and subcase ran, in the form of executed_checks.cjs.
//
//     g++ -include TOOLS/executed_checks_cpp/with_doctest.h -I FOLDER_OF_doctest.h ... /ABSOLUTE/test.cpp
//     EXECUTED_CHECKS=OUT.jsonl ./test --success
//
// doctest tells of checks that hold only with --success.
#pragma once

#include "doctest.h"

#include "record.h"

namespace executed_checks {

struct listener : ::doctest::IReporter {
  explicit listener(const ::doctest::ContextOptions&) {}
  void report_query(const ::doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const ::doctest::TestRunStats&) override {}
  void test_case_start(const ::doctest::TestCaseData& test) override {
    record::one().begin(test.m_name, test.m_file.c_str(), static_cast<int>(test.m_line));
  }
  void test_case_reenter(const ::doctest::TestCaseData&) override {}
  void test_case_end(const ::doctest::CurrentTestCaseStats& test) override {
    record::one().tell(test.testCaseSuccess);
  }
  void test_case_exception(const ::doctest::TestCaseException&) override {}
  void subcase_start(const ::doctest::SubcaseSignature& part) override {
    record::one().begin(part.m_name.c_str(), part.m_file, part.m_line);
  }
  void subcase_end() override { record::one().end(); }
  void log_assert(const ::doctest::AssertData& check) override { note(check.m_file, check.m_line); }
  void log_message(const ::doctest::MessageData&) override {}
  void test_case_skipped(const ::doctest::TestCaseData&) override {}
};

}  // namespace executed_checks

DOCTEST_REGISTER_LISTENER("executed_checks", 1, executed_checks::listener);

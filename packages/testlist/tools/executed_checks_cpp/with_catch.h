// Writes down which checks of Catch2 3 each test and section ran, in the form of executed_checks.cjs.
//
//     g++ -include TOOLS/executed_checks_cpp/with_catch.h ... /ABSOLUTE/test.cpp      (one file of the program is enough)
//     EXECUTED_CHECKS=OUT.jsonl ./test
#pragma once

#include <catch2/catch_all.hpp>

#include "record.h"

namespace executed_checks {

struct listener : ::Catch::EventListenerBase {
  using EventListenerBase::EventListenerBase;

  static std::string name() { return "executed_checks"; }

  void testCaseStarting(const ::Catch::TestCaseInfo& test) override {
    record::one().begin(test.name, test.lineInfo.file, static_cast<int>(test.lineInfo.line));
  }
  void testCaseEnded(const ::Catch::TestCaseStats& test) override {
    record::one().tell(test.totals.testCases.passed == 1);
  }
  // the outermost section is the test
  void sectionStarting(const ::Catch::SectionInfo& part) override {
    record::one().begin(part.name, part.lineInfo.file, static_cast<int>(part.lineInfo.line));
  }
  void sectionEnded(const ::Catch::SectionStats&) override { record::one().end(); }
  void assertionEnded(const ::Catch::AssertionStats& check) override {
    const auto place = check.assertionResult.getSourceInfo();
    note(place.file, static_cast<int>(place.line));
  }
};

}  // namespace executed_checks

CATCH_REGISTER_LISTENER(executed_checks::listener)

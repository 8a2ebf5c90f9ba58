# Writes down which assertions each test of Minitest ran (executed_checks.rb).
#
#     EXECUTED_CHECKS=OUT.jsonl ruby -r PATH/executed_checks_minitest.rb -I lib -I test TEST.rb
#
# An expectation, as `_(a).must_equal b`, calls an assertion, and so is seen as one.

require "minitest"
require_relative "executed_checks"

module ExecutedChecks
  # Before each assertion of Minitest that no other one calls.
  module Assertions
    Minitest::Assertions.public_instance_methods(false).grep(/\A(?:assert|refute|flunk|pass\z)/).each do |name|
      define_method(name) do |*given, **named, &block|
        ExecutedChecks.note(name) unless caller_locations(1, 1).first.path.end_with?("minitest/assertions.rb")
        super(*given, **named, &block)
      end
    end
  end

  # Around each test.
  module Tests
    def run
      ExecutedChecks.start
      super.tap do
        file, line = method(name).source_location
        ExecutedChecks.finish(file: file, line: line, name: name, passed: passed?)
      end
    end
  end
end

Minitest::Assertions.prepend(ExecutedChecks::Assertions)
Minitest::Test.prepend(ExecutedChecks::Tests)

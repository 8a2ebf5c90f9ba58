# Writes down which expectations each example of RSpec ran (executed_checks.rb).
#
#     EXECUTED_CHECKS=OUT.jsonl rspec -r PATH/executed_checks_rspec.rb
#
# An expectation stands where its `expect` does; one of `should` has none, and stands where it is handled.

require "rspec/core"
require "rspec/expectations"
require "rspec/mocks"
require_relative "executed_checks"

module ExecutedChecks
  # Before each `expect`, which `is_expected` calls.
  module Expects
    def expect(*given, **named, &block)
      ExecutedChecks.note(:expect)
      super
    end
  end

  # Before each matcher that no `expect` has led to.
  module Handles
    def handle_matcher(...)
      ExecutedChecks.note(:should) unless caller_locations(1, 6).any? { |one| one.path.end_with?("expectation_target.rb") }
      super
    end
  end
end

RSpec::Matchers.prepend(ExecutedChecks::Expects)
RSpec::Expectations::PositiveExpectationHandler.singleton_class.prepend(ExecutedChecks::Handles)
RSpec::Expectations::NegativeExpectationHandler.singleton_class.prepend(ExecutedChecks::Handles)

RSpec.configure do |config|
  config.around do |example|
    ExecutedChecks.start
    example.run
    about = example.metadata
    ExecutedChecks.finish(file: about[:absolute_file_path], line: about[:line_number], name: example.description,
                          passed: example.exception.nil?)
  end
end

"""What tests in Ruby check, by their source alone."""

from typing import Any

import pytest
from testlist_harness.checks import Read, only


def minitest(body: str) -> str:
    return f"require 'minitest/autorun'\nclass ATest < Minitest::Test\n  def test_a\n    {body}\n  end\nend\n"


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("assert_equal 3, total", {"relation": "equal", "subject": "total", "expected": "3", "value": 3}),
        (
            "refute_equal 'x', a",
            {"relation": "equal", "negated": True, "subject": "a", "expected": "'x'", "value": "x"},
        ),
        ("assert_not_nil a", {"relation": "none", "negated": True, "subject": "a"}),
        ("assert a.ok?", {"relation": "truthy", "subject": "a.ok?"}),
        ("refute a", {"relation": "truthy", "negated": True, "subject": "a"}),
        ("assert_raises(KeyError) { a }", {"relation": "raises", "expected": "KeyError"}),
        ("assert_nothing_raised { a }", {"relation": "raises", "negated": True}),
        ("assert_includes a, 1", {"relation": "contains", "subject": "a", "expected": "1", "value": 1}),
        (
            "assert_in_delta 0.3, a, 0.1",
            {"relation": "approximate", "subject": "a", "expected": "0.3", "tolerance": "0.1"},
        ),
        ("assert_match(/x/, a)", {"relation": "matches", "subject": "a", "expected": "/x/"}),
        ("assert_queries 3, a", {"relation": "custom", "subject": "3", "expected": "a"}),
        ("assert_path '/a', ignore: true", {"relation": "custom", "subject": "'/a'"}),
        ("assert_path '/a', :ignore => true", {"relation": "custom", "subject": "'/a'"}),
        ("assert_predicate a, :empty?", {"relation": "custom", "subject": "a", "expected": ":empty?"}),
        ("_(a).must_be :>, 3", {"relation": "custom", "subject": "a", "expected": ":>"}),
        ("expect(a).to eq(1).or(eq(2))", {"relation": "custom", "subject": "a", "expected": "eq(1).or(eq(2))"}),
        ("expect(a).to raise_error 'x'", {"relation": "raises", "subject": "a", "message": "'x'"}),
        ("_(a).must_equal 3", {"relation": "equal", "subject": "a", "expected": "3", "value": 3}),
        ("a.wont_be_nil", {"relation": "none", "negated": True, "subject": "a"}),
        ("flunk", {"relation": "fails"}),
        ("[1].each { |one| assert_equal one, a }", {"relation": "equal", "subject": "a", "expected": "one"}),
        (
            "Class.new { def call(a) = a.must_be_nil }.new.call(nil)",
            {"relation": "none", "subject": "a", "nested": True},
        ),
    ],
)
def test_a_statement_of_minitest_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    found = read({"test/a_test.rb": minitest(statement)})
    assert only(found) == [check]
    assert [one.cannot_fail for one in found.values() if one] == [None]


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("expect(total).to eq 3", {"relation": "equal", "subject": "total", "expected": "3", "value": 3}),
        ("expect(a).not_to be_nil", {"relation": "none", "negated": True, "subject": "a"}),
        ("expect(a).to be_falsey", {"relation": "truthy", "negated": True, "subject": "a"}),
        ("expect(a).to be > 3", {"relation": "greater", "subject": "a", "expected": "3", "value": 3}),
        ("expect { a }.to raise_error(KeyError)", {"relation": "raises", "subject": "{ a }", "expected": "KeyError"}),
        (
            "expect(a).to have_received(:b).with(1)",
            {"relation": "called_with", "subject": "a", "expected": "1", "value": 1},
        ),
        (
            "expect(a).to receive(:b).once.with(1).and_return(2)",
            {"relation": "called_with", "subject": "a", "expected": "1", "value": 1},
        ),
        ("expect(a).to receive(:b).and_return(2)", {"relation": "called", "subject": "a", "expected": ":b"}),
        (
            "expect(a).to be_within(0.1).of(3)",
            {"relation": "approximate", "subject": "a", "expected": "3", "tolerance": "0.1"},
        ),
        (
            "is_expected.to include('x')",
            {"relation": "contains", "subject": "is_expected", "expected": "'x'", "value": "x"},
        ),
        ("should eq 3", {"relation": "equal", "expected": "3", "value": 3}),
        ("should be > 3", {"relation": "greater", "expected": "3", "value": 3}),
        ("should_not respond_to(:b)", {"relation": "has", "negated": True, "expected": ":b"}),
        ("a.should eq(nil)", {"relation": "equal", "subject": "a", "expected": "nil", "value": None}),
        ("expect(a).to be_ready", {"relation": "custom", "subject": "a"}),
    ],
)
def test_a_statement_of_rspec_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    source = f"RSpec.describe 'a' do\n  it 'b' do\n    {statement}\n  end\nend\n"
    assert only(read({"spec/a_spec.rb": source})) == [check]


@pytest.mark.parametrize(
    "example",
    ["it { is_expected.to eq 3 }", "it do\n  is_expected\n    .to eq 3\nend", "specify(A, :b) { is_expected.to eq 3 }",
     "it :works do is_expected.to eq 3 end", "it 'a' + 'b' do is_expected.to eq 3 end",
     'it "says \\"a\\"" do is_expected.to eq 3 end', "it NAME do is_expected.to eq 3 end"],
)  # fmt: skip
def test_an_example_finds_its_body_whatever_its_title_is(read: Read, example: str) -> None:
    [check] = only(read({"spec/a_spec.rb": f"RSpec.describe A do\n{example}\nend\n"}))
    assert check["relation"] == "equal"


def test_each_check_of_a_chain_has_the_line_of_its_own_word(read: Read) -> None:
    chain = "proc do\n      a\n    end.must_raise(KeyError).\n      message.must_equal 'x'"
    [found] = read({"test/a_test.rb": minitest(chain)}).values()
    assert found is not None
    assert sorted((one["line"], one["relation"]) for one in found.checks) == [(6, "raises"), (7, "equal")]


def test_what_a_method_inside_of_a_test_calls_is_not_followed(read: Read) -> None:
    source = minitest("Class.new { def call; same; end }").replace(
        "\nend\n", "\n  def same\n    assert a\n  end\nend\n"
    )
    assert only(read({"test/a_test.rb": source})) == []


def test_a_block_that_a_method_is_given_is_not_that_method(read: Read) -> None:
    source = minitest("quietly { assert a }").replace("\nend\n", "\n  def test_b\n    quietly(&b)\n  end\nend\n")
    found = read({"test/a_test.rb": source})
    assert {name: len(one.checks) for name, one in found.items() if one} == {"test_a": 1, "test_b": 0}


@pytest.mark.parametrize("statement", ["should 'work'", "should_not 'work'", "should", "should(:work) { a }"])
def test_a_should_that_declares_a_test_is_no_check(read: Read, statement: str) -> None:
    source = f"RSpec.describe 'a' do\n  it 'b' do\n    {statement}\n  end\nend\n"
    found = read({"spec/a_spec.rb": source})["b"]
    assert found is not None
    assert found.checks == ()


def test_methods_that_a_test_calls_count_with_it(read: Read) -> None:
    source = """class ATest < ActiveSupport::TestCase
  test "adds" do
    check total
    plain
  end
  def check(a)
    assert_equal 1, a
  end
  def plain
    assert true_thing
  end
  def allow(a) = a
end
"""
    [found] = read({"test/a_test.rb": source}).values()
    assert found is not None
    assert [(one["by"], one["relation"]) for one in found.checks] == [("self.check", "equal"), ("self.plain", "truthy")]


def test_only_an_empty_test_that_nothing_runs_around_is_accused(read: Read) -> None:
    assert cannot_fail(read, minitest("# nothing")) == ["empty"]
    assert cannot_fail(read, minitest("").replace("  def test_a", "  def setup\n    go\n  end\n  def test_a")) == [None]
    assert cannot_fail(read, minitest("").replace("Minitest::Test", "BaseTest")) == [None]


HOOKS = {
    "rails": "class ActiveSupport::TestCase\n  setup :go\nend\n",
    "rails block": "class ActiveSupport::TestCase\n  teardown do\n    go\n  end\nend\n",
    "rails method": "class ActiveSupport::TestCase\n  def before_setup\n    go\n  end\nend\n",
    "rails data": "class ActiveSupport::TestCase\n  fixtures :all\nend\n",
}
RSPEC = "RSpec.configure do |config|\n  config.before(:each) { go }\nend\n"


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
@pytest.mark.parametrize("step", ["", "require_relative 'more_helper'\n"], ids=["one", "two"])
def test_what_a_required_file_runs_around_a_test_may_fail_for_it(read: Read, hook: str, step: str) -> None:
    head = "require 'test_helper'\n"
    files = {
        "test/test_helper.rb": step or hook,
        "test/more_helper.rb": hook,
        "test/a_test.rb": f"{head}class ATest < ActiveSupport::TestCase\n  test('a') {{ }}\n  def test_b\n  end\nend\n",
        "test/b_test.rb": "class BTest < ActiveSupport::TestCase\n  test('c') { }\nend\n",
        "test/c_test.rb": f"{head}class CTest < Minitest::Test\n  def test_d\n  end\nend\n",
    }
    told = {name: one and one.cannot_fail for name, one in read(files).items()}
    assert told == {"a": None, "test_b": None, "c": "empty", "test_d": "empty"}


@pytest.mark.parametrize(
    ("helper", "told"),
    [
        (RSPEC, None),
        ("require_relative 'more'\n", None),
        ("", "empty"),
        ("RSpec.shared_context 'a' do\n  before { go }\nend\n", "empty"),
    ],
)
def test_what_rspec_is_told_to_run_around_all_tests_may_fail_for_them(
    read: Read, helper: str, told: str | None
) -> None:
    files = {
        "spec/spec_helper.rb": helper,
        "spec/more.rb": RSPEC,
        "spec/a_spec.rb": "describe 'a' do\n  it('e') { }\nend\n",
    }
    assert [one and one.cannot_fail for one in read({**files, ".rspec": ""}).values()] == [told]


def test_a_helper_that_runs_nothing_leaves_its_tests_as_they_are(read: Read) -> None:
    helper = "require 'shop'\nclass ActiveSupport::TestCase\n  def check\n    Shop.before(1)\n  end\nend\nclass Other\n  setup :a\nend\n"
    source = "require 'test_helper'\nclass ATest < ActiveSupport::TestCase\n  test('a') { }\nend\n"
    [found] = read({"test/test_helper.rb": helper, "test/a_test.rb": source}).values()
    assert found is not None
    assert found.cannot_fail == "empty"


def cannot_fail(read: Read, source: str) -> list[str | None]:
    """Why each test of a file of Minitest cannot fail; None where it may."""
    return [one.cannot_fail for one in read({"test/a_test.rb": source}).values() if one]

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


def cannot_fail(read: Read, source: str) -> list[str | None]:
    """Why each test of a file of Minitest cannot fail; None where it may."""
    return [one.cannot_fail for one in read({"test/a_test.rb": source}).values() if one]

"""What tests in Go check, by their source alone."""

from typing import Any

import pytest
from testlist_harness.checks import Read, only


def go(source: str) -> dict[str, str]:
    """A module with these tests."""
    return {"go.mod": "module shop\n", "a_test.go": f'package a\nimport "testing"\n{source}'}


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ('if got != 3 { t.Errorf("no") }', {"relation": "equal", "subject": "got", "expected": "3", "value": 3}),
        ("if got == want { t.Fatal() }", {"relation": "equal", "negated": True, "subject": "got", "expected": "want"}),
        ("if err != nil { t.Fatal(err) }", {"relation": "raises", "negated": True, "subject": "err"}),
        ("if err == nil { t.Fatal() }", {"relation": "raises", "subject": "err"}),
        ("if c.Stderr == nil { t.Fatal() }", {"relation": "none", "negated": True, "subject": "c.Stderr"}),
        ('if a != 1 { assert.Fail(t, "x") }', {"relation": "equal", "subject": "a", "expected": "1", "value": 1}),
        ('require.FailNowf(t, "x")', {"relation": "fails"}),
        ("if got == nil { t.FailNow() }", {"relation": "none", "negated": True, "subject": "got"}),
        ("if _, err := f(); err != nil { t.Fatal(err) }", {"relation": "raises", "negated": True, "subject": "err"}),
        ("if len(a) != 2 { t.Error() }", {"relation": "length", "subject": "a", "expected": "2", "value": 2}),
        ("if a < b { t.Error() }", {"relation": "greater_equal", "subject": "a", "expected": "b"}),
        ("if !ok { t.Error() }", {"relation": "truthy", "subject": "ok"}),
        ("if ok { t.Error() }", {"relation": "truthy", "negated": True, "subject": "ok"}),
        ("if !reflect.DeepEqual(a, b) { t.Error() }", {"relation": "equal", "subject": "a", "expected": "b"}),
        (
            'if !strings.Contains(a, "x") { t.Error() }',
            {"relation": "contains", "subject": "a", "expected": '"x"', "value": "x"},
        ),
        (
            "for _, c := range cases { if c.a != b { t.Error() } }",
            {"relation": "equal", "subject": "c.a", "expected": "b"},
        ),
        ('t.Fatal("never")', {"relation": "fails"}),
        ("assert.Equal(t, 3, got)", {"relation": "equal", "subject": "got", "expected": "3", "value": 3}),
        ('require.NoErrorf(t, err, "x")', {"relation": "raises", "negated": True, "subject": "err"}),
        ("require.ErrorIs(t, err, io.EOF)", {"relation": "raises", "subject": "err", "expected": "io.EOF"}),
        ("s.Require().Len(a, 2)", {"relation": "length", "subject": "a", "expected": "2", "value": 2}),
        ("require.Len(t, a, 2)", {"relation": "length", "subject": "a", "expected": "2", "value": 2}),
        ("is.Equal(1, got)", {"relation": "equal", "subject": "got", "expected": "1", "value": 1}),
        ("g.Expect(err).NotTo(HaveOccurred())", {"relation": "raises", "negated": True, "subject": "err"}),
        ("Expect(a).To(gomega.Equal(b))", {"relation": "equal", "subject": "a", "expected": "b"}),
        ("c.Assert(a, check.DeepEquals, b)", {"relation": "equal", "subject": "a", "expected": "b"}),
    ],
)
def test_a_statement_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    found = read(go(f"func TestA(t *testing.T) {{\n{statement}\n}}\n"))
    assert only(found) == [check]
    assert [one.cannot_fail for one in found.values() if one] == [None]


def test_a_condition_of_two_parts_is_two_checks_and_what_does_not_fail_is_none(read: Read) -> None:
    source = "func TestA(t *testing.T) {\nif a != 1 || b != 2 { t.Error() }\nif c { t.Log() }\nlog.Fatal()\n}\n"
    [found] = read(go(source)).values()
    assert found is not None
    assert [(one["subject"], one["line"]) for one in found.checks] == [("a", 4), ("b", 4)]


@pytest.mark.parametrize(
    ("statement", "checks"),
    [
        # both branches fail, so the condition above is what is checked, and the one below only chooses a message
        ('if a != b { if c { t.Error("x") } else { t.Error("y") } }', [("equal", "a")]),
        ("if a != b { if c { t.Log() }\nt.Error() }", [("equal", "a")]),
        ("if a != b { if c { t.Error() } else if d { t.Error() } else { t.Fatal() } }", [("equal", "a")]),
        ("if a != b { if c { t.Fatal() }\nt.Error() }", [("equal", "a")]),
        ("if a != b { if c { t.Error() } else { t.Log() } }", [("truthy", "c")]),
        ("if a != b { if c != d { t.Error() } }", [("equal", "c")]),
        (
            "switch {\ncase a != b: t.Error()\ncase c, !d: t.Fatal()\n}",
            [("equal", "a"), ("truthy", "c"), ("truthy", "d")],
        ),
        ("switch x {\ncase 1: t.Error()\n}", [("fails", None)]),
        ("switch {\ncase a != b: t.Log()\ndefault: t.Error()\n}", [("fails", None)]),
        ("if a == b { f() } else { t.Error() }", [("equal", "a")]),
        ("if a < b && c { f() } else { t.Error() }", [("less", "a"), ("truthy", "c")]),
        ("if a || b { f() } else { t.Error() }", [("truthy", "a || b")]),
        ("if a { f() } else if b != c { t.Error() } else { f() }", [("equal", "b")]),
        ("if a { f() } else if b { f() } else { t.Error() }", [("truthy", "b")]),
    ],
)
def test_the_condition_that_decides_is_the_check(read: Read, statement: str, checks: list[tuple[str, str]]) -> None:
    found = only(read(go(f"func TestA(t *testing.T) {{\n{statement}\n}}\n")))
    assert [(one["relation"], one.get("subject")) for one in found] == checks


def test_what_has_to_hold_for_no_failure_in_the_other_branch_is_not_negated(read: Read) -> None:
    [found] = only(read(go("func TestA(t *testing.T) {\nif !ok { t.Error() }\n}\n")))
    [other] = only(read(go("func TestA(t *testing.T) {\nif ok {} else { t.Error() }\n}\n")))
    [turned] = only(read(go("func TestA(t *testing.T) {\nif !ok {} else { t.Error() }\n}\n")))
    assert found == other == {"relation": "truthy", "subject": "ok"}
    assert turned == {"relation": "truthy", "negated": True, "subject": "ok"}


def test_a_test_is_known_by_the_type_of_its_handle(read: Read) -> None:
    found = read(go("""
func same(check, other testing.TB, a int) { if a != 1 { check.Fatal() } }
func TestA(tt *testing.T) {
    if a != 1 { tt.Error() }
    assert.Equal(tt, 3, got)
    tt.Run("inner", func(it *testing.T) { if b != 1 { it.Error() } else { tt.Log() } })
    same(tt, tt, 1)
}
func TestB(t *testing.T) { for _, tt := range cases { if tt.Error() != "" { t.Log() } } }
"""))  # fmt: skip
    told = {name: [one.get("subject") for one in checks.checks] for name, checks in found.items() if checks}
    assert told == {"TestA": ["a", "got", "b", "a"], "inner": ["b"], "TestB": []}


def test_subtests_and_functions_that_a_test_calls(read: Read) -> None:
    found = read(go("""
func same(t *testing.T, a, b int) { t.Helper(); if a != b { t.Fatal() } }
func TestA(t *testing.T) {
    same(t, 1, f())
    t.Run("inner", func(t *testing.T) { assert.True(t, ok) })
}
func TestEmpty(t *testing.T) {}
"""))  # fmt: skip
    assert {name: [one.get("by") for one in found[name].checks] if found[name] else None for name in found} == {
        "TestA": [None, "same"], "inner": [None], "TestEmpty": [],
    }  # fmt: skip
    assert found["TestEmpty"] is not None
    assert found["TestEmpty"].cannot_fail == "empty"


def test_an_empty_method_of_a_suite_may_fail_where_the_suite_sets_up(read: Read) -> None:
    suite = """import "github.com/stretchr/testify/suite"
type S struct{ suite.Suite }
func (s *S) SetupTest() { start() }
func (s *S) TestA() {}
func TestS(t *testing.T) { suite.Run(t, new(S)) }
"""
    found = read(go(suite))["TestA"]
    assert found is not None
    assert found.cannot_fail is None


def test_an_empty_example_fails_if_it_says_what_it_prints(read: Read) -> None:
    found = read(go("func ExampleA() {\n// Output: x\n}\nfunc TestB(t *testing.T) {\n// no output\n}\n"))
    assert {name: one.cannot_fail for name, one in found.items() if one} == {"ExampleA": None, "TestB": "empty"}


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("must.Eq(t, 3, got)", {"relation": "equal", "subject": "got", "expected": "3", "value": 3}),
        ("must.Len(t, 2, a)", {"relation": "length", "subject": "a", "expected": "2", "value": 2}),
        ("must.Contains(t, 1, a)", {"relation": "contains", "subject": "a", "expected": "1", "value": 1}),
        ('must.StrContains(t, a, "x")', {"relation": "contains", "subject": "a", "expected": '"x"', "value": "x"}),
        ("must.Greater(t, 1, a)", {"relation": "greater", "subject": "a", "expected": "1", "value": 1}),
        ("must.NoError(t, err)", {"relation": "raises", "negated": True, "subject": "err"}),
        ("test.MapNotEmpty(t, a)", {"relation": "empty", "negated": True, "subject": "a"}),
    ],
)
def test_a_check_of_shoenig_test_has_what_is_expected_first(read: Read, statement: str, check: dict[str, Any]) -> None:
    imports = 'import ("github.com/shoenig/test"; "github.com/shoenig/test/must")\n'
    assert only(read(go(f"{imports}func TestA(t *testing.T) {{\n{statement}\n}}\n"))) == [check]
    own = go('import must "github.com/stretchr/testify/require"\nfunc TestA(t *testing.T) {\nmust.Len(t, a, 2)\n}\n')
    assert [one["subject"] for one in only(read(own))] == ["a"]


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("Expect(a).To(BeNumerically(`>=`, 2))", {"relation": "greater_equal", "expected": "2", "value": 2}),
        ("Expect(a).To(BeNumerically(sign, 2))", {"relation": "custom", "expected": "BeNumerically(sign, 2)"}),
        ("Expect(a).To(Not(BeNil()))", {"relation": "none", "negated": True}),
        ("Expect(a).NotTo(Not(BeTrue()))", {"relation": "truthy"}),
        ("Ω(a).ShouldNot(Succeed())", {"relation": "raises"}),
        ("Expect(a).To(MatchError(io.EOF))", {"relation": "raises", "expected": "io.EOF"}),
        ("ExpectWithOffset(1, a).To(HaveLen(2))", {"relation": "length", "expected": "2", "value": 2}),
        ("Eventually(a).WithTimeout(b).Should(BeEmpty())", {"relation": "empty"}),
        ("Eventually(ctx, a).Should(sort.BeSorted())", {"relation": "custom", "expected": "sort.BeSorted()"}),
    ],
)
def test_a_matcher_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    source = (
        f'import . "github.com/onsi/ginkgo/v2"\nvar _ = Describe("a", func() {{\nIt("b", func() {{ {statement} }})\n}})'
    )
    found = read(go(source))
    assert only(found) == [{"subject": "a", **check}]
    assert [one.cannot_fail for one in found.values() if one] == [None]


def test_an_assertion_of_goconvey_is_read_in_the_innermost_group(read: Read) -> None:
    source = """import . "github.com/smartystreets/goconvey/convey"
func TestA(t *testing.T) {
    Convey("given", t, func() {
        Convey("then", func() { So(a, ShouldNotContain, b); So(a, ShouldBeSorted) })
    })
}
"""
    found = read(go(source))["then"]
    assert found is not None
    assert [(one["relation"], one.get("negated"), one.get("expected")) for one in found.checks] == [
        ("contains", True, "b"), ("custom", None, None),
    ]  # fmt: skip


def test_a_value_of_new_does_not_cost_checks(read: Read) -> None:
    found = read(go('func TestA(t *testing.T) { a := new("x"); assert.Nil(t, a) }'))
    assert only(found) == [{"relation": "none", "subject": "a"}]


def test_an_empty_spec_may_fail_as_something_may_run_around_it(read: Read) -> None:
    found = read(go('import . "github.com/onsi/ginkgo/v2"\nvar _ = It("is empty", func() {})\n'))["is empty"]
    assert found is not None
    assert (found.checks, found.cannot_fail) == ((), None)


def test_a_spec_has_the_checks_of_functions_that_it_calls(read: Read) -> None:
    found = read(go("""import . "github.com/onsi/ginkgo/v2"
func same(a, b int) { Expect(a).To(Equal(b)) }
var _ = Describe("a", func() { DescribeTable("b", func(a int) { same(a, 1) }, Entry("c", 1)) })
"""))["b"]  # fmt: skip
    assert found is not None
    assert [(one["relation"], one["by"]) for one in found.checks] == [("equal", "same")]

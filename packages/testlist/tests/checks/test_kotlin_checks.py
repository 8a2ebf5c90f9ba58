"""What tests in Kotlin check, by their source alone."""

from collections.abc import Sequence
from typing import Any

import pytest
from testlist_harness.checks import Read, each

KOTEST = "import io.kotest.core.spec.style.FunSpec\nimport io.kotest.matchers.*\n"
EQUAL = {"relation": "equal", "subject": "total()", "expected": "3", "value": 3}
CLOSE = {"relation": "approximate", "subject": "a", "expected": "0.3", "tolerance": "0.1"}
#: statements, and what each checks
TABLE: Sequence[tuple[str, dict[str, Any]]] = [
    ("assertEquals(3, total())", EQUAL),
    ('assertEquals(3, total(), "why")', EQUAL),
    ("assertEquals(actual = total(), expected = 3)", EQUAL),
    ("assertEquals(0.3, a, absoluteTolerance = 0.1)", CLOSE),
    ("val e = assertFailsWith<E> { a() }", {"relation": "raises", "subject": "{ a() }", "expected": "E"}),
    ('assertFailsWith<E>("why") { a() }', {"relation": "raises", "subject": "{ a() }", "expected": "E"}),
    ("assertFailsWith(E::class) { a() }", {"relation": "raises", "subject": "{ a() }", "expected": "E::class"}),
    ("assertIs<A>(a)", {"relation": "type", "subject": "a", "expected": "A"}),
    ("assertContains(a, 3)", {"relation": "contains", "subject": "a", "expected": "3", "value": 3}),
    ("assert(a === b) { why }", {"relation": "identical", "subject": "a", "expected": "b"}),
    ("assert(a !in b)", {"relation": "contains", "negated": True, "subject": "b", "expected": "a"}),
    ("assertThat(a).isTrue", {"relation": "truthy", "subject": "a"}),
    ("assertThat(a, why).isEqualTo(b)", {"relation": "equal", "subject": "a", "expected": "b"}),
    ("total() shouldBe 3", EQUAL),
    ('a shouldNotBe "x"', {"relation": "equal", "negated": True, "subject": "a", "expected": '"x"', "value": "x"}),
    ("a shouldBe (0.3 plusOrMinus 0.1)", CLOSE),
    ('a shouldBe "$b"', {"relation": "equal", "subject": "a", "expected": '"$b"'}),
    ("a.shouldContain(b)", {"relation": "contains", "subject": "a", "expected": "b"}),
    ("a.shouldNotBeEmpty()", {"relation": "empty", "negated": True, "subject": "a"}),
    ("a.shouldBeInstanceOf<B>()", {"relation": "type", "subject": "a", "expected": "B"}),
    ("a should beOfType<B>()", {"relation": "type", "subject": "a", "expected": "B"}),
    ('a should startWith("x")', {"relation": "starts_with", "subject": "a", "expected": '"x"', "value": "x"}),
    ("a should haveMaxLength(3)", {"relation": "custom", "subject": "a", "expected": "haveMaxLength(3)"}),
    ("a.shouldBeFalse()", {"relation": "truthy", "negated": True, "subject": "a"}),
    ("shouldThrow<E> { a() }", {"relation": "raises", "subject": "{ a() }", "expected": "E"}),
    ("verify { a.go(1) }", {"relation": "called_with", "expected": "1", "value": 1, "subject": "a.go"}),
    ("verify(exactly = 0) { a.go() }", {"relation": "called", "subject": "a.go", "negated": True}),
    ("verify { a wasNot Called }", {"relation": "called", "negated": True, "subject": "a"}),
]  # fmt: skip


def kotlin(statements: Sequence[str], around: str = "") -> dict[str, str]:
    """A class of kotlin.test with a test of each statement, named by its place."""
    tests = "".join(f"    @Test\n    fun t{place}() {{\n{one}\n    }}\n" for place, one in enumerate(statements))
    return {"src/test/kotlin/ATest.kt": f"import kotlin.test.*\nclass ATest {{\n{around}{tests}}}\n"}


def test_statements_are_read_as(read: Read) -> None:
    statements = [statement for statement, _ in TABLE]
    found = read(kotlin(statements))
    assert dict(zip(statements, each(found), strict=True)) == {statement: [check] for statement, check in TABLE}


def test_a_function_that_extends_a_type_counts_with_the_test_that_calls_it(read: Read) -> None:
    helper = "    private fun A.assertOpen(b: Int) {\n        assertEquals(3, total())\n    }\n"
    [checks] = each(read(kotlin(["a.assertOpen(1)"], helper)))
    assert checks == [{**EQUAL, "by": "self.assertOpen"}]


def test_tests_of_a_specification_are_known_by_their_titles(read: Read) -> None:
    source = f"""{KOTEST}class ASpec : FunSpec({{
    test("adds. Really") {{ total() shouldBe 3 }}
    test("slow").config(enabledIf = {{ isFast() }}) {{ total() shouldBe 3 }}
    context("inner") {{
        test("deep") {{ total() shouldBe 3 }}
    }}
}})
"""
    found = read({"src/test/kotlin/ASpec.kt": source})
    assert {name: len(one.checks) if one else None for name, one in found.items()} == {
        "adds. Really": 1, "slow": 1, "deep": 1,
    }  # fmt: skip


def test_a_file_that_the_grammar_cannot_read_costs_the_test_alone_that_it_cannot_read(read: Read) -> None:
    broken = "check(x) { y ->\nval set = {\nval r = A(x)\nr.value\n}\nset() shouldBe 1\n}"
    assert each(read(kotlin([broken, "assertEquals(3, total())"]))) == [None, [EQUAL]]


def test_an_empty_test_is_accused_unless_something_sets_up(read: Read) -> None:
    [empty] = read(kotlin([""])).values()
    [prepared] = read(kotlin([""], "    val a = start()\n")).values()
    assert empty is not None
    assert prepared is not None
    assert (empty.cannot_fail, prepared.cannot_fail) == ("empty", None)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("", ""), "empty"),
        (("class", "@ExtendWith(A::class)\nclass"), None),
        (("class", "@ExtendWith(A::class) class"), None),
        (("fun t0", "fun A.t0"), None),
        (("{\n\n    }", '{\n        assertEquals("a  b", "a b")\n    }'), None),
        (("{\n\n    }", "{\n        assertTrue(true)\n    }"), "constant"),
        (("kotlin.test.*", "kotlin.test.*\nimport shop.*"), "empty"),
        (("{\n\n    }", "{\n        assertTrue(true)\n    }\n    @Before\n    fun b() = a { x -> }\n"), None),
    ],
)
def test_only_a_test_of_a_file_that_the_grammar_can_read_is_accused(
    read: Read, change: tuple[str, str], reason: str | None
) -> None:
    [(path, source)] = kotlin([""]).items()
    assert change[0] in source
    assert [one.cannot_fail for one in read({path: source.replace(*change, 1)}).values() if one] == [reason]

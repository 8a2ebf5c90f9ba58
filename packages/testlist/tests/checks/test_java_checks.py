"""What tests in Java check, by their source alone."""

from collections.abc import Sequence
from typing import Any

import pytest
from testlist_harness.checks import Read, each, only

JUNIT4 = "import org.junit.*;\nimport static org.junit.Assert.*;\n"
JUNIT5 = "import org.junit.jupiter.api.*;\nimport static org.junit.jupiter.api.Assertions.*;\n"
TESTNG = "import org.testng.annotations.Test;\nimport static org.testng.Assert.*;\n"
SHOP = "import org.junit.Test;\nimport static shop.Later.assertEquals;\n"
HEADED = "class ATest {\n  @Test\n  public void t0() {"
CASE = "class ATest extends TestCase {\n  public void testA() {"
RULE = f"{JUNIT4}import org.junit.rules.ExpectedException;\n"

#: statements, and what each checks
Table = Sequence[tuple[str, dict[str, Any]]]
EQUAL = {"relation": "equal", "subject": "total()", "expected": "3", "value": 3}
CLOSE = {"relation": "approximate", "subject": "a", "expected": "0.3", "tolerance": "0.1"}
RAISES = {"relation": "raises", "subject": "() -> a()", "expected": "E.class"}
TRUE = {"relation": "truthy", "subject": "a.ok()"}
OF_JUNIT4: Table = [
    ("assertEquals(3, total());", EQUAL),
    ('assertEquals("why", 3, total());', EQUAL),
    ("assertEquals(why, 3, total());", EQUAL),
    ("Assert.assertEquals(why(), 3, total());", EQUAL),
    ('org.junit.Assert.assertEquals("why" + a, 3, total());', EQUAL),
    ("assertEquals(0.3, a, 0.1);", CLOSE),
    ('assertEquals("why", 0.3, a, 0.1);', CLOSE),
    ("assertEquals(0.3, a, DELTA);", {**CLOSE, "tolerance": "DELTA"}),
    ('assertTrue("why", a.ok());', TRUE),
    ("assertThrows(E.class, () -> a());", RAISES),
    ("fail(why);", {"relation": "fails"}),
    ("assertNotNull(a);", {"relation": "none", "negated": True, "subject": "a"}),
    ("assertNotSame(a, b);", {"relation": "identical", "negated": True, "subject": "b", "expected": "a"}),
    ("assertAllGood(a, 1);", {"relation": "custom", "subject": "a", "expected": "1", "value": 1}),
    ("log.assertClean();", {"relation": "custom", "subject": "log"}),
    ('assert a.equals("x") : why;',
     {"relation": "equal", "subject": "a", "expected": '"x"', "value": "x"}),
    ("assert !(a instanceof B);", {"relation": "type", "negated": True, "subject": "a", "expected": "B"}),
    ("assert a != null;", {"relation": "none", "negated": True, "subject": "a"}),
]  # fmt: skip
OF_JUNIT5: Table = [
    ("assertEquals(3, total());", EQUAL),
    ('Assertions.assertEquals(3, total(), "why");', EQUAL),
    ("assertEquals(3, total(), () -> why);", EQUAL),
    ("assertEquals(3, total(), why);", EQUAL),
    ("assertEquals(0.3, a, 0.1);", CLOSE),
    ("assertTrue(a.ok(), why);", TRUE),
    ('assertThrows(E.class, () -> a(), "why");', RAISES),
    ("assertInstanceOf(A.class, a);", {"relation": "type", "subject": "a", "expected": "A.class"}),
    ("assertDoesNotThrow(() -> a());", {"relation": "raises", "negated": True, "subject": "() -> a()"}),
    ('assertAll("all", () -> assertEquals(3, total()));', EQUAL),
]  # fmt: skip
OF_TESTNG: Table = [
    ("assertEquals(total(), 3);", EQUAL),
    ('assertEquals(total(), 3, "why");', EQUAL),
]  # fmt: skip
OF_A_RULE: Table = [
    ("thrown.expect(E.class);",
     {"relation": "raises", "expected": "E.class"}),
    ('thrown.expectMessage("x");',
     {"relation": "raises", "message": '"x"'}),
]  # fmt: skip
OF_A_SHOP: Table = [("assertEquals(a, b);", {"relation": "custom", "subject": "a", "expected": "b"})]
CHAINS: Table = [
    ("assertThat(total()).isEqualTo(3);", EQUAL),
    ('assertThat(total()).as("why").usingRecursiveComparison().isEqualTo(3);', EQUAL),
    ('assertWithMessage("why").that(total()).isEqualTo(3);', EQUAL),
    ("softly.assertThat(total()).isEqualTo(3);", EQUAL),
    ("then(total()).isEqualTo(3);", EQUAL),
    ("assertThat(a).isNotNull();", {"relation": "none", "negated": True, "subject": "a"}),
    ("assertThat(a).isZero();", {"relation": "equal", "subject": "a", "expected": "0", "value": 0}),
    ('assertThat(a).isEqualTo("$b");', {"relation": "equal", "subject": "a", "expected": '"$b"', "value": "$b"}),
    ("assertThat(a).hasSize(3);", {"relation": "length", "subject": "a", "expected": "3", "value": 3}),
    ("assertThat(a).isInstanceOf(B.class);", {"relation": "type", "subject": "a", "expected": "B.class"}),
    ("assertThat(a).isCloseTo(0.3, within(0.1));", {**CLOSE, "tolerance": "within(0.1)"}),
    ("assertThat(a).isWithin(0.1).of(0.3);", CLOSE),
    ("assertThat(a).containsExactly(1, 2);", {"relation": "equal", "subject": "a", "expected": "1, 2"}),
    ("assertThat(a).containsOnly(1);", {"relation": "equal", "subject": "a", "expected": "1"}),
    ('assertThat(a, hasProperty("b", is(1)));', {"relation": "has", "subject": "a", "expected": '"b", is(1)'}),
    ("assertThat(a).isSorted();", {"relation": "custom", "subject": "a"}),
    ('assertThat(a).extracting("b").isEqualTo(c);',
     {"relation": "equal", "subject": 'assertThat(a).extracting("b")', "expected": "c"}),
    ("assertThatThrownBy(() -> a()).isInstanceOf(E.class);", RAISES),
    ('assertThatThrownBy(() -> a()).isInstanceOf(E.class).hasMessageContaining("x");', {**RAISES, "message": '"x"'}),
    ('assertThatExceptionOfType(E.class).isThrownBy(() -> a()).withMessage("x");', {**RAISES, "message": '"x"'}),
    ("assertThatNullPointerException().isThrownBy(() -> a());", {**RAISES, "expected": "NullPointerException"}),
    ("assertThatCode(() -> a()).doesNotThrowAnyException();",
     {"relation": "raises", "negated": True, "subject": "() -> a()"}),
    ("assertThatNoException().isThrownBy(() -> a());",
     {"relation": "raises", "negated": True, "subject": "() -> a()"}),
    ("assertThat(total(), is(3));", EQUAL),
    ('assertThat("why", total(), is(equalTo(3)));', EQUAL),
    ('assertThat("why", a.ok());', TRUE),
    ("assertThat(a, not(hasItem(b)));", {"relation": "contains", "negated": True, "subject": "a", "expected": "b"}),
    ("assertThat(a, closeTo(0.3, 0.1));", CLOSE),
    ("assertThat(a, nullValue());", {"relation": "none", "subject": "a"}),
    ("assertThat(a, isRed());", {"relation": "custom", "subject": "a", "expected": "isRed()"}),
    ("verify(a).go(1);", {"relation": "called_with", "expected": "1", "value": 1, "subject": "a.go"}),
    ("verify(a, times(2)).go();", {"relation": "called", "subject": "a.go"}),
    ("verify(a, never()).go(any());", {"relation": "called", "negated": True, "subject": "a.go"}),
    ("Mockito.verify(a).go();", {"relation": "called", "subject": "a.go"}),
    ("inOrder.verify(a).go();", {"relation": "called", "subject": "a.go"}),
    ("then(a).should().go();", {"relation": "called", "subject": "a.go"}),
    ("verifyNoMoreInteractions(a);", {"relation": "called", "negated": True, "subject": "a"}),
    ("mocked.verify(() -> A.go());", {"relation": "called", "subject": "A.go()"}),
    ('mvc.perform(get(b)).andExpect(content().json("x", true));',
     {"relation": "equal", "subject": "content()", "expected": '"x"', "value": "x"}),
    ("mvc.perform(get(b)).andExpect(view());", {"relation": "custom", "subject": "view()"}),
    ("mvc.perform(get(b)).andExpect(status().isOk());", {"relation": "truthy", "subject": "status().isOk()"}),
    ('mvc.perform(get(b)).andExpect(jsonPath("$.a").value(3));',
     {"relation": "equal", "subject": 'jsonPath("$.a")', "expected": "3", "value": 3}),
    ('mvc.perform(get(b)).andExpect(content().string(containsString("x")));',
     {"relation": "contains", "subject": "content()", "expected": '"x"', "value": "x"}),
    ("StepVerifier.create(a).expectNext(b);", {"relation": "equal", "subject": "a", "expected": "b"}),
    ("await().until(() -> a.ok());", {"relation": "truthy", "subject": "() -> a.ok()"}),
]  # fmt: skip
#: statements that check nothing
NONE = ["a.run();", "promise.fail(e);", "if (policy.shouldRetry(a)) { run(); }", "given(a.b()).willReturn(c);"]


def java(head: str, statements: Sequence[str], around: str = "") -> dict[str, str]:
    """A class with a test of each statement, named by its place."""
    tests = "".join(f"  @Test\n  public void t{place}() {{\n{one}\n  }}\n" for place, one in enumerate(statements))
    return {"src/test/java/ATest.java": f"{head}class ATest {{\n{tests}{around}}}\n"}


@pytest.mark.parametrize(
    ("head", "table"),
    [
        (JUNIT4, OF_JUNIT4),
        (JUNIT5, OF_JUNIT5),
        (TESTNG, OF_TESTNG),
        (RULE, OF_A_RULE),
        (JUNIT4, CHAINS),
        (SHOP, OF_A_SHOP),
    ],
)
def test_statements_are_read_as(read: Read, head: str, table: Table) -> None:
    statements = [statement for statement, _ in table]
    found = read(java(head, statements))
    assert dict(zip(statements, each(found), strict=True)) == {statement: [check] for statement, check in table}
    assert [one.cannot_fail for one in found.values() if one] == [None] * len(table)


def test_a_call_that_checks_nothing_is_none(read: Read) -> None:
    found = dict(zip(NONE, each(read(java(JUNIT4, NONE))), strict=True))
    assert [statement for statement, checks in found.items() if checks] == []


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("assertThat(why, list.isEmpty());", {"relation": "truthy", "subject": "list.isEmpty()"}),
        ("assertThat(this.field, list.contains(b));", {"relation": "truthy", "subject": "list.contains(b)"}),
        ("assertThat(why, ok);", {"relation": "truthy", "subject": "ok"}),
        ("MatcherAssert.assertThat(why(), a > b);", {"relation": "truthy", "subject": "a > b"}),
        ("assertThat(anything, !a);", {"relation": "truthy", "subject": "!a"}),
        ("assertThat(why, a, is(b));", {"relation": "equal", "subject": "a", "expected": "b"}),
        ("assertThat(why, a, matcher);", {"relation": "custom", "subject": "a", "expected": "matcher"}),
        # what is a text may be what is checked
        ("assertThat(why, matcher);", {"relation": "custom", "subject": "why", "expected": "matcher"}),
        ("assertThat(why, Matchers.isGood());", {"relation": "custom", "subject": "why", "expected": "Matchers.isGood()"}),
        ("assertThat(why, equalTo(b));", {"relation": "equal", "subject": "why", "expected": "b"}),
        ("assertThat(other, list.isGood());", {"relation": "custom", "subject": "other", "expected": "list.isGood()"}),
    ],
)  # fmt: skip
def test_a_reason_in_a_variable_is_no_subject(read: Read, statement: str, check: dict[str, Any]) -> None:
    head = f"{JUNIT4}import static org.hamcrest.MatcherAssert.assertThat;\nimport static org.hamcrest.Matchers.*;\n"
    [(path, source)] = java(
        head, [f"final String why = why(), other2;\nboolean ok = run();\nCart other = b();\n{statement}"]
    ).items()
    found = read({path: source.replace("class ATest {", "class ATest {\n  private String field;\n")})
    assert only(found) == [check]


def test_links_of_a_chain_are_checks_each_with_the_subject(read: Read) -> None:
    [one, two] = only(read(java(JUNIT4, ["assertThat(a)\n  .isNotNull()\n  .startsWith(b);"])))
    assert [(one["relation"], one["subject"]), (two["relation"], two["subject"])] == [
        ("none", "a"),
        ("starts_with", "a"),
    ]


@pytest.mark.parametrize(
    ("head", "mark", "check"),
    [
        (JUNIT4, "@Test(expected = E.class)", {"relation": "raises", "expected": "E.class"}),
        (TESTNG, '@Test(expectedExceptions = E.class, expectedExceptionsMessageRegExp = "x")',
         {"relation": "raises", "expected": "E.class", "message": '"x"'}),
    ],
)  # fmt: skip
def test_an_annotation_says_what_has_to_be_thrown(read: Read, head: str, mark: str, check: dict[str, Any]) -> None:
    [(path, source)] = java(head, [""]).items()
    found = read({path: source.replace("@Test", mark)})
    assert only(found) == [check]
    assert [one.cannot_fail for one in found.values() if one] == [None]


def test_functions_of_other_classes_of_the_repository_count_with_a_test_that_calls_them(read: Read) -> None:
    folder = "src/test/java/shop"
    found = read({
        f"{folder}/ATest.java": (
            f"package shop;\n{JUNIT4}import shop.tools.Checks;\nimport static shop.tools.Checks.full;\n"
            "class ATest {\n  @Test\n  public void a() { Checks.open(a); full(a); Near.closed(a); Cart.of(1); }\n}\n"
        ),
        f"{folder}/tools/Checks.java": (
            f"package shop.tools;\n{JUNIT4}public class Checks {{\n  public static void open(A a) {{ assertTrue(a.ok()); }}\n"
            "  public static void full(A a) { assertNotNull(a); }\n}\n"
        ),
        f"{folder}/Near.java": f"package shop;\n{JUNIT4}class Near {{\n  static void closed(A a) {{ assertNull(a); }}\n}}\n",
        "src/main/java/shop/Cart.java": "package shop;\nclass Cart {\n  static Cart of(int a) { return new Cart(); }\n}\n",
    })["a"]  # fmt: skip
    assert found is not None
    assert [(one["by"], one["relation"], one["file"]) for one in found.checks] == [
        ("Checks.open", "truthy", f"{folder}/tools/Checks.java"),
        ("full", "none", f"{folder}/tools/Checks.java"),
        ("Near.closed", "none", f"{folder}/Near.java"),
    ]
    assert "src/main/java/shop/Cart.java:Cart.of" in found.subjects


def test_functions_that_a_test_calls_count_with_it(read: Read) -> None:
    helpers = """  void same(int a) { assertEquals(3, a); }
  void same(int a, int b) { assertEquals(a, b); }
  void open() { assertTrue(isOpen); }
"""
    [found] = read(java(JUNIT4, ["same(total(), 4); open();"], helpers)).values()
    assert found is not None
    assert [(one["by"], one["relation"]) for one in found.checks] == [
        ("self.same(2)", "equal"),
        ("self.open", "truthy"),
    ]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("", ""), "empty"),
        (("ATest {", "ATest extends BaseTest {"), None),
        (("ATest {", "ATest implements Prepared {"), None),
        (("ATest {", "ATest {\n  private A a = start();"), None),
        (("ATest {", "ATest {\n  @Before\n  public void before() { start(); }"), None),
        (("ATest {", "ATest {\n  ATest() { start(); }"), None),
        (("class ATest", "@RunWith(A.class)\nclass ATest"), None),
        (("@Test", "@Test(timeout = 3)"), None),
        (("@Test", "@Test @Retry"), None),
        (("t0() {", "t0() { assertTrue(true); assertEquals(1, 1);"), "constant"),
        (("t0() {", "t0() { assertTrue(false);"), None),
        (("t0() {", "t0() { assertNotNull(null);"), None),
        (("t0() {", "t0() { assertTrue(true); run();"), None),
        (("t0() {", "t0() { assertTrue(run(), true);"), None),
        (("t0() {", 't0() { assertEquals("a  b", "a b");'), None),
        (("t0() {", 't0() { assertSame("a", "a");'), "constant"),
        (("t0() {", "t0() { assertSame(1000, 1000);"), None),
        (("t0() {", "t0() { // \\u000a run();"), None),
        (("org.junit.*;", "org.junit.Before; import shop.Test;"), None),
        ((HEADED, f"import static shop.Checks.*;\n{HEADED}"), "empty"),
        ((HEADED, f"import static shop.Checks.*;\n{HEADED} assertTrue(true);"), None),
        (("class ATest {", "import shop.*;\nclass ATest extends TestCase {"), None),
        (("class ATest {", "import shop.TestCase;\nclass ATest extends TestCase {"), None),
        ((HEADED, f"import junit.framework.TestCase;\n{CASE}"), "empty"),
        ((HEADED, f"import junit.framework.*;\n{CASE}"), "empty"),
    ],
)
def test_only_a_test_that_nothing_runs_around_is_accused(
    read: Read, change: tuple[str, str], reason: str | None
) -> None:
    [(path, source)] = java(JUNIT4, ["// nothing"]).items()
    assert change[0] in source
    assert [one.cannot_fail for one in read({path: source.replace(*change, 1)}).values() if one] == [reason]


def test_a_number_of_many_digits_costs_no_test_its_checks(read: Read) -> None:
    assert each(read(java(JUNIT4, [f"assertEquals({'9' * 5000}, a);", "assertNull(a);"])))[1] == [
        {"relation": "none", "subject": "a"}
    ]

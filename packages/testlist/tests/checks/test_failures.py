"""What has to hold as a test fails else, by a failure under a condition or around a `catch`, language by language."""

from collections.abc import Callable
from typing import Any

import pytest
from testlist_harness.checks import Read, only

Files = Callable[[str], dict[str, str]]
Check = dict[str, Any]
FAILS: Check = {"relation": "fails"}


def java(body: str) -> dict[str, str]:
    head = "import org.junit.*;\nimport static org.junit.Assert.*;\n"
    return {"src/test/java/ATest.java": f"{head}class ATest {{\n  @Test public void a() {{\n{body}\n  }}\n}}\n"}


def kotlin(body: str) -> dict[str, str]:
    return {"src/test/kotlin/ATest.kt": f"import kotlin.test.*\nclass ATest {{\n  @Test fun a() {{\n{body}\n  }}\n}}\n"}


def csharp(body: str) -> dict[str, str]:
    project = '<Project Sdk="Microsoft.NET.Sdk"><ItemGroup><PackageReference Include="NUnit" /></ItemGroup></Project>'
    source = f"using NUnit.Framework;\npublic class ATest\n{{\n[Test]\npublic void A()\n{{\n{body}\n}}\n}}\n"
    return {"a.Tests/a.Tests.csproj": project, "a.Tests/ATest.cs": source}


def php(body: str) -> dict[str, str]:
    head = "<?php\nuse PHPUnit\\Framework\\TestCase;\nclass ATest extends TestCase {\n"
    return {"tests/ATest.php": f"{head}public function testA(): void {{\n{body}\n}}\n}}\n"}


def python(body: str) -> dict[str, str]:
    inner = "\n".join(f"        {one}" for one in body.split("\n"))
    head = "import pytest\nimport unittest\nclass ATest(unittest.TestCase):\n"
    return {"test_a.py": f"{head}    def test_a(self):\n{inner}\n"}


def javascript(body: str) -> dict[str, str]:
    head = "import { test } from 'node:test'\nimport assert from 'node:assert'\n"
    return {"package.json": "{}", "a.test.js": f"{head}test('a', async () => {{\n{body}\n}})\n"}


def ruby(body: str) -> dict[str, str]:
    return {
        "test/a_test.rb": f"require 'minitest/autorun'\nclass ATest < Minitest::Test\n  def test_a\n{body}\n  end\nend\n"
    }


def cpp(body: str) -> dict[str, str]:
    return {"a_test.cc": f"#include <gtest/gtest.h>\nTEST(A, B) {{\n{body}\n}}\n"}


def go(body: str) -> dict[str, str]:
    return {
        "go.mod": "module a\n",
        "a_test.go": f'package a\nimport "testing"\nfunc TestA(t *testing.T) {{\n{body}\n}}\n',
    }


def equal(subject: str, expected: str, *, negated: bool = False) -> Check:
    return {"relation": "equal", **({"negated": True} if negated else {}), "subject": subject, "expected": expected}


def true(subject: str, *, negated: bool = False) -> Check:
    return {"relation": "truthy", **({"negated": True} if negated else {}), "subject": subject}


def none(subject: str, *, negated: bool = False) -> Check:
    return {"relation": "none", **({"negated": True} if negated else {}), "subject": subject}


def order(relation: str) -> Check:
    return {"relation": relation, "subject": "a", "expected": "b"}


def raises(subject: str, expected: str = "", *, negated: bool = False) -> Check:
    wanted = {"expected": expected} if expected else {}
    return {"relation": "raises", **({"negated": True} if negated else {}), "subject": subject, **wanted}


NOT = {"negated": True}
TABLE: list[tuple[Files, list[tuple[str, list[Check]]]]] = [
    (java, [
        ("if (a != b) { if (c) fail(1); fail(2); }", [equal("a", "b")]),
        ("if (a != b) fail();", [equal("a", "b")]),
        ('if (a == b) { log(a); Assert.fail("why"); }', [equal("a", "b", **NOT)]),
        ("if (a == null || !b) { fail(); }", [none("a", **NOT), true("b")]),
        ("if (a > b) fail();", [order("less_equal")]),
        ("if (a && b) fail();", [true("a && b", **NOT)]),
        ("if (a.equals(b)) { run(); } else { fail(); }", [equal("a", "b")]),
        ("if (a) run(); else if (b) fail(); else run();", [true("b", **NOT)]),
        ("if (null != a) fail();", [none("a")]),
        ("if (a) { if (b) { fail(); } }", [true("b", **NOT)]),
        ("if (a) { if (b) { fail(); } else { fail(c); } }", [true("a", **NOT)]),
        ("if (a) { fail(); } else { fail(b); }", [FAILS, FAILS]),
        ("try { f(a); } catch (E e) { fail(); }", [raises("f(a)", "E", **NOT)]),
        ("try { g(); f(a); } catch (E | F e) { fail(e.toString()); }", [raises("g(); f(a)", "E | F", **NOT)]),
        ("try { g(); f(a); fail(); } catch (E e) { }", [raises("f(a)", "E")]),
        ("try { f(a); fail(); } catch (E e) { assertNull(e); }", [raises("f(a)", "E"), none("e")]),
        ("try { f(a); fail(); } catch (E e) { run(); } catch (F e) { fail(); }", [raises("f(a)", "E")]),
        ("try { f(a); fail(); } catch (E e) { throw e; } catch (F e) { }", [raises("f(a)", "F")]),
        ("try (A a = b()) { f(a); fail(); } catch (E | F e) { } finally { run(); }", [raises("f(a)", "E | F")]),
        ("try { f(a); fail(); } catch (Throwable e) { }", [{**raises("f(a)", "Throwable"), "idle": "ignored"}]),
        ("try { f(a); fail(); } finally { run(); }", [FAILS]),
        ("try { f(a); fail(); } catch (E e) { throw e; }", [FAILS]),
        ("try { fail(); } catch (E e) { }", [FAILS]),
        ("switch (a) { case 1: fail(); }", [FAILS]),
        ("for (A a : all) { fail(); }", [FAILS]),
        ("if (a) run(() -> fail());", [FAILS]),
    ]),
    (kotlin, [
        ('if (a != b) fail("why")', [equal("a", "b")]),
        ('if (a !is B || a === b) { fail("why") }', [{"relation": "type", "subject": "a", "expected": "B"},
                                                    {"relation": "identical", "negated": True, "subject": "a", "expected": "b"}]),
        ('if (a == null) run() else fail("why")', [none("a")]),
        ('val a = if (b) c else fail("why")', [true("b")]),
        ('try { f(a); fail("why") } catch (e: E) { }', [raises("f(a)", "E")]),
        ('try { f(a) } catch (e: E) { fail("why") }', [raises("f(a)", "E", **NOT)]),
        ('when (a) { 1 -> fail("why") }', [FAILS]),
    ]),
    (csharp, [
        ("if (a != b) Assert.Fail();", [equal("a", "b")]),
        ('if (a == b) { Log(a); Assert.Fail("why"); }', [equal("a", "b", **NOT)]),
        ("if (!b || a is null) { Assert.Fail(); }", [true("b"), none("a", **NOT)]),
        ("if (a is null || !b) { Assert.Fail(); }", [true("a is null || !b", **NOT)]),  # as the grammar reads it
        ("if (a is not Foo foo) Assert.Fail();", [{"relation": "type", "subject": "a", "expected": "Foo"}]),
        ("if (a >= b) Assert.Fail();", [order("less")]),
        ("if (a.Contains(b)) { Run(); } else Assert.Fail();", [{"relation": "contains", "subject": "a", "expected": "b"}]),
        ("if (string.IsNullOrEmpty(a)) Assert.Fail();", [{"relation": "empty", "negated": True, "subject": "a"}]),
        ("try { F(a); } catch (E e) { Assert.Fail(); }", [raises("F(a)", "E", **NOT)]),
        ("try { F(a); } catch { Assert.Fail(); }", [raises("F(a)", negated=True)]),
        ("try { await F(a); Assert.Fail(); } catch (E e) when (e.A) { }", [raises("await F(a)", "E")]),
        ("try { F(a); Assert.Fail(); } catch (E) { } catch (Exception) { Assert.Fail(); }", [raises("F(a)", "E")]),
        ("try { F(a); Assert.Fail(); } finally { Run(); }", [FAILS]),
        ("switch (a) { case 1: Assert.Fail(); break; }", [FAILS]),
    ]),
    (php, [
        ("if ($a !== $b) $this->fail();", [equal("$a", "$b")]),
        ("if ($a === null || !$b) { self::fail('why'); }", [none("$a", **NOT), true("$b")]),
        ("if (!$a instanceof A): Assert::fail(); endif;", [{"relation": "type", "subject": "$a", "expected": "A"}]),
        ("if (is_null($a)) { run(); } else { $this->fail(); }", [none("$a")]),
        ("if ($a) { run(); } elseif ($b) { $this->fail(); }", [true("$b", **NOT)]),
        ("if ($a) { run(); } elseif ($b) { run(); } else { $this->fail(); }", [true("$b")]),
        ("if ($a < $b and $c) { $this->fail(); }", [true("$a < $b and $c", **NOT)]),
        ("try { f($a); } catch (E | F $e) { $this->fail(); }", [raises("f($a)", "E | F", **NOT)]),
        ("try { g(); f($a); $this->fail(); } catch (E $e) { $this->assertNull($e); }", [raises("f($a)", "E"), none("$e")]),
        ("try { f($a); $this->fail(); } catch (\\Throwable $e) { }", [{**raises("f($a)", "\\Throwable"), "idle": "ignored"}]),
        ("try { f($a); $this->fail(); } finally { run(); }", [FAILS]),
        ("foreach ($all as $a) { $this->fail(); }", [FAILS]),
    ]),
    (python, [
        ("if a != b:\n    if c:\n        self.fail(1)\n    self.fail(2)", [equal("a", "b")]),
        ("if a != b:\n    self.fail()", [equal("a", "b")]),
        ("if a is None or not b:\n    pytest.fail('why')", [none("a", **NOT), true("b")]),
        ("if a in b:\n    pass\nelse:\n    self.fail()", [{"relation": "contains", "subject": "b", "expected": "a"}]),
        ("if a:\n    pass\nelif b:\n    self.fail()", [true("b", **NOT)]),
        ("if a:\n    pass\nelif b:\n    pass\nelse:\n    self.fail()", [true("b")]),
        ("try:\n    f(a)\nexcept (E, F) as e:\n    self.fail(e)", [raises("f(a)", "E | F", **NOT)]),
        ("try:\n    f(a)\nexcept:\n    self.fail()", [raises("f(a)", negated=True)]),
        ("try:\n    g()\n    f(a)\n    self.fail()\nexcept E:\n    pass", [raises("f(a)", "E")]),
        ("try:\n    f(a)\nexcept E as e:\n    assert e\nelse:\n    self.fail()", [raises("f(a)", "E"), true("e")]),
        ("try:\n    f(a)\n    self.fail()\nfinally:\n    g()", [FAILS]),
        ("for a in b:\n    self.fail()", [FAILS]),
    ]),
    (javascript, [
        ("if (a !== b) assert.fail()", [equal("a", "b")]),
        ("if (a === undefined || !b) { expect.fail('why') }", [none("a", **NOT), true("b")]),
        ("if (a instanceof A) { run() } else { assert.fail() }", [{"relation": "type", "subject": "a", "expected": "A"}]),
        ("if (a.includes(b)) assert.fail()", [{"relation": "contains", "negated": True, "subject": "a", "expected": "b"}]),
        ("try { f(a) } catch (e) { assert.fail() }", [raises("f(a)", negated=True)]),
        ("try { g(); await f(a); assert.fail() } catch (e) { assert.equal(e, 1) }",
         [raises("await f(a)"), {**equal("e", "1"), "value": 1}]),
        ("try { f(a); assert.fail() } catch { }", [{**raises("f(a)"), "idle": "ignored"}]),
        ("try { f(a); assert.fail() } finally { run() }", [FAILS]),
        ("expect.fail()", [FAILS]),
        ("all.forEach(() => { assert.fail() })", [FAILS]),
    ]),
    (ruby, [
        ("if a != b\n  flunk(1) if c\n  flunk(2)\nend", [equal("a", "b")]),
        ("flunk if a != b", [equal("a", "b")]),
        ('flunk "why" unless a.nil? && b.is_a?(C)', [none("a"), {"relation": "type", "subject": "b", "expected": "C"}]),
        ("if a.include?(b)\n  flunk\nend", [{"relation": "contains", "negated": True, "subject": "a", "expected": "b"}]),
        ("unless a\n  run\nelse\n  flunk\nend", [true("a", **NOT)]),
        ("if a\n  run\nelsif b\n  flunk\nend", [true("b", **NOT)]),
        ("begin\n  f(a)\nrescue E, F => e\n  flunk\nend", [raises("f(a)", "E | F", **NOT)]),
        ("begin\n  g\n  f(a)\n  flunk\nrescue E\n  assert_nil b\nend", [raises("f(a)", "E"), none("b")]),
        ("f(a)\nflunk\nrescue E", [raises("f(a)", "E")]),
        ("begin\n  f(a)\nrescue E\n  run\nelse\n  flunk\nend", [raises("f(a)", "E")]),
        ("begin\n  f(a)\n  flunk 1\nensure\n  run\nend", [FAILS]),
        ("all.each { flunk }", [FAILS]),
    ]),
    (cpp, [
        ("if (a != b) FAIL();", [equal("a", "b")]),
        ('if (a == nullptr || !b) { g(); FAIL() << "why"; }', [none("a", **NOT), true("b")]),
        ("if (a) { g(); } else { FAIL(); }", [true("a")]),
        ("if (a) { g(); } else FAIL();", [true("a")]),
        ("if (a) g(); else if (b < c) FAIL();", [{"relation": "greater_equal", "subject": "b", "expected": "c"}]),
        ("try { f(a); } catch (const E& e) { FAIL(); }", [raises("f(a)", "E", **NOT)]),
        ("try { f(a); } catch (...) { FAIL(); }", [raises("f(a)", negated=True)]),
        ("try { g(); f(a, {1}); FAIL(); } catch (const E &e) { EXPECT_TRUE(e); }", [raises("f(a, {1})", "E"), true("e")]),
        ("try { f(a); FAIL(); } catch (E) { } catch (...) { FAIL(); }", [raises("f(a)", "E")]),
        ("try { f(a); } catch (const std::exception&) { g(); } catch (...) { FAIL(); }", [raises("f(a)", negated=True)]),
        ("if (auto a = b(); a == c) FAIL();", [equal("a", "c", **NOT)]),
        ("if (a) { if (b) { g(); } FAIL(); }", [true("a", **NOT)]),
        ("for (auto a : b) { FAIL(); }", []),
        ("g([&] { FAIL(); });", []),
        ("switch (a) { case 1: FAIL(); }", []),
    ]),
    (go, [
        ("if a == b { g() } else { t.Fatal() }", [equal("a", "b")]),
        ("if a { g() } else if b { t.Fatal() }", [true("b", **NOT)]),
        ("if a || !b { t.Fatal() } else { g() }", [true("a", **NOT), true("b")]),
        ("if a != b { if c { t.Fatal(1) } else { t.Fatal(2) } }", [equal("a", "b")]),
        ("if a { if b { t.Fatal(1) } else if c { t.Fatal(2) } else { t.Fatal(3) } }", [true("a", **NOT)]),
        ("if a { t.Fatal(1) } else { t.Fatal(2) }", [FAILS, FAILS]),
        ("if a { g(); t.Errorf(1); t.FailNow() }", [true("a", **NOT)]),
        ("switch {\ncase a != b:\nt.Fatal()\ncase c:\ng()\n}", [equal("a", "b")]),
        ("switch {\ncase a, b:\nt.Fatal()\n}", [true("a", **NOT), true("b", **NOT)]),
        ("if a != b { if c { t.Fatal(1) }; t.Fatal(2) }", [equal("a", "b")]),
        ("switch a { case 1: t.Fatal() }", [FAILS]),
    ]),
]  # fmt: skip
ROWS = [(files, body, checks) for files, rows in TABLE for body, checks in rows]


@pytest.mark.parametrize(("files", "body", "checks"), ROWS, ids=[f"{files.__name__} {body}" for files, body, _ in ROWS])
def test_a_failure_that_something_decides_on_says_what_has_to_hold(
    read: Read, files: Files, body: str, checks: list[Check]
) -> None:
    found = read(files(body))
    assert only(found) == checks


@pytest.mark.parametrize(
    ("files", "body"),
    [(java, "\nif (a\n  || b) {\n  fail();\n}"), (csharp, "\nif (a\n  || b) {\n  Assert.Fail();\n}"),
     (php, "\nif ($a\n  || $b) {\n  $this->fail();\n}"), (ruby, "\nif a ||\n  b\n  flunk\nend"),
     (cpp, "\nif (a\n  || b) {\n  FAIL();\n}"), (python, "\nif (a\n  or b):\n    self.fail()"),
     (javascript, "\nif (a\n  || b) {\n  assert.fail()\n}")],
    ids=lambda one: one.__name__ if callable(one) else "",
)  # fmt: skip
def test_the_line_of_a_condition_is_that_of_its_statement(read: Read, files: Files, body: str) -> None:
    [path] = [one for one in files("") if "est" in one and not one.endswith("proj")]
    where = files("MARK")[path].split("\n").index(next(one for one in files("MARK")[path].split("\n") if "MARK" in one))
    [found] = read(files(body)).values()
    assert found is not None
    assert {one["line"] for one in found.checks} == {where + 2}


ASSERTS: list[tuple[Files, str, list[Check]]] = [
    (java, "assert a == b : why;", [equal("a", "b")]),
    (java, "assert 3 == a;", [{**equal("a", "3"), "value": 3}]),
    (java, "assert !(a || b > c);", [true("a", **NOT), {"relation": "less_equal", "subject": "b", "expected": "c"}]),
    (kotlin, "assert(a != null && b in c)", [none("a", **NOT), {"relation": "contains", "subject": "c", "expected": "b"}]),
    (python, "assert a != b", [equal("a", "b", **NOT)]),
    (python, "assert not (a or b is None)", [true("a", **NOT), none("b", **NOT)]),
    (php, "assert($a !== null && $b == 'x');", [none("$a", **NOT), {**equal("$b", "'x'"), "value": "x"}]),
    (ruby, "assert a == b, why", [equal("a", "b")]),
    (ruby, "assert(!a.nil?)", [none("a", **NOT)]),
    (ruby, "refute a.include?(b)", [{"relation": "contains", "negated": True, "subject": "a", "expected": "b"}]),
    (ruby, "assert a.start_with?(b) && c =~ /d/", [{"relation": "starts_with", "subject": "a", "expected": "b"},
                                                   {"relation": "matches", "subject": "c", "expected": "/d/"}]),
    (ruby, "assert a.any? { |one| one == 3 }", [true("a.any? { |one| one == 3 }")]),
    (ruby, "assert a || b", [true("a || b")]),
    (ruby, "assert !a", [true("a", **NOT)]),
    (ruby, "assert !!a", [true("a")]),
    (javascript, "assert(a === b, why)", [equal("a", "b")]),
    (javascript, "assert(!(a || b instanceof B))",
     [true("a", **NOT), {"relation": "type", "negated": True, "subject": "b", "expected": "B"}]),
    (javascript, "assert(3 !== a)", [{**equal("a", "3", **NOT), "value": 3}]),
    (javascript, "assert(/a/.test(b))", [{"relation": "matches", "subject": "b", "expected": "/a/"}]),
    (javascript, "assert('x' in a)", [{"relation": "has", "subject": "a", "expected": "'x'", "value": "x"}]),
    (javascript, "assert(a)", [true("a")]),
    (javascript, "assert(true)", [{**true("true"), "idle": "constant"}]),
    (cpp, "assert(a == b && !c);", [equal("a", "b"), true("c", **NOT)]),
]  # fmt: skip


@pytest.mark.parametrize(("files", "body", "checks"), ASSERTS, ids=[f"{one[0].__name__} {one[1]}" for one in ASSERTS])
def test_a_plain_assert_says_what_its_condition_says(read: Read, files: Files, body: str, checks: list[Check]) -> None:
    assert only(read(files(body))) == checks

"""What tests in JavaScript and TypeScript check, by their source alone."""

from typing import Any

import pytest
from testlist_harness.checks import Read, only

IMPORT = 'import { test, expect, it } from "vitest";\n'


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("expect(total(cart)).toBe(3)", {"relation": "equal", "subject": "total(cart)", "expected": "3", "value": 3}),
        (
            "expect(a).not.toEqual('x')",
            {"relation": "equal", "negated": True, "subject": "a", "expected": "'x'", "value": "x"},
        ),
        ("expect(a).toBeFalsy()", {"relation": "truthy", "negated": True, "subject": "a"}),
        ("expect(a).not.toBeFalsy()", {"relation": "truthy", "subject": "a"}),
        ("expect(a).toBeDefined()", {"relation": "none", "negated": True, "subject": "a"}),
        (
            "await expect(a()).rejects.toThrow('no')",
            {"relation": "raises", "subject": "a()", "expected": "'no'", "value": "no"},
        ),
        (
            "await expect\n .poll(() => b)\n .toBe(true)",
            {"relation": "equal", "subject": "() => b", "expected": "true", "value": True},
        ),
        (
            "expect(a).toBeCloseTo(0.3, 5)",
            {"relation": "approximate", "subject": "a", "expected": "0.3", "tolerance": "5"},
        ),
        ("expect(a).toMatchSnapshot()", {"relation": "snapshot", "subject": "a"}),
        (
            "expect(sent).toHaveBeenCalledWith('x', 1)",
            {"relation": "called_with", "subject": "sent", "expected": "'x'", "value": "x"},
        ),
        ("expect(a).toBeWithin(3)", {"relation": "custom", "subject": "a", "expected": "3", "value": 3}),
        ("expect(a).to.be.true", {"relation": "truthy", "subject": "a"}),
        (
            "expect(a).to.not.include.members([1])",
            {"relation": "contains", "negated": True, "subject": "a", "expected": "[1]"},
        ),
        ("expect(a).to.deep.equal(b)", {"relation": "equal", "subject": "a", "expected": "b"}),
        ("a.should.equal(null)", {"relation": "equal", "subject": "a", "expected": "null", "value": None}),
        ("assert.strictEqual(a, 1)", {"relation": "equal", "subject": "a", "expected": "1", "value": 1}),
        ("assert(a)", {"relation": "truthy", "subject": "a"}),
        ("assert.throws(() => a(), /x/)", {"relation": "raises", "subject": "() => a()", "expected": "/x/"}),
        ("[1].forEach(one => { expect(one).toBeNull() })", {"relation": "none", "subject": "one"}),
        (
            "const b = { run() { expect(this).toBe(a) } }",
            {"relation": "equal", "subject": "this", "expected": "a", "nested": True},
        ),
        (
            "await step('x', async () => { expect(a).toHaveLength(2) })",
            {"relation": "length", "subject": "a", "expected": "2", "value": 2},
        ),
    ],
)
def test_a_statement_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    assert only(read({"a.test.ts": f"{IMPORT}test('a', async () => {{ {statement} }})\n"})) == [check]


@pytest.mark.parametrize(
    "statement", ["expect.assertions(2)", "expect(a).resolves", "should(a)", "t.step('x', f)", "assertion(a)"]
)
def test_what_checks_nothing_is_no_check(read: Read, statement: str) -> None:
    assert only(read({"a.test.js": f"{IMPORT}test('a', () => {{ {statement} }})\n"})) == []


def test_checks_of_functions_that_a_test_calls_count_with_it(read: Read) -> None:
    found = read({
        "a.test.ts": IMPORT + "import { same as equal } from './same'\nimport { total } from './src/cart.js'\n"
        "const own = (a) => { expect(a).toBe(1); equal(a, 1) }\nit('adds', () => own(total(1)))\n",
        "same.ts": "export function same(a, b) { expect(a).toEqual(b) }\n",
        "src/cart.ts": "export const total = (a) => a\n",
    })  # fmt: skip
    [checks] = found.values()
    assert checks is not None
    assert [(one["by"], one["line"], one.get("file")) for one in checks.checks] == [
        ("own", 4, None),
        ("equal", 1, "same.ts"),
    ]
    assert checks.subjects == ("src/cart.ts:total",)


def test_an_assert_of_the_repository_is_followed_as_any_other_function(read: Read) -> None:
    types = "export function assert<T>(value: T) {}\nexport function assertSame(a, b) { expect(a).toBe(b) }\n"
    found = read({
        "a.test.ts": IMPORT + "import { assert, assertSame } from './types'\n"
        "it('compiles', () => { assert<string>(a) })\nit('is', () => { assertSame(a, 1) })\n"
        "it('holds', () => { assert(true) })\n",
        "b.test.ts": IMPORT + "import { assert } from 'chai'\nit('chai', () => { assert(a) })\n",
        "types.ts": types,
    })  # fmt: skip
    assert {name: one and ([check["relation"] for check in one.checks], one.cannot_fail) for name, one in found.items()} == {
        "compiles": ([], None), "is": (["equal"], None), "holds": ([], None), "chai": (["truthy"], None),
    }  # fmt: skip


CANNOT_FAIL = {
    "empty": ["", "// nothing"],
    "no_check": ["1", "'use strict'"],
    "constant": [
        "expect(true).toBe(true)",
        "assert.equal(1, 1)",
        "expect(1).toBe(1); expect('a').toEqual('a')",
        "1; expect(1).toBe(1)",
    ],
    "unreachable": ["return; expect(a).toBe(1)"],
    "ignored": ["try { expect(a()).toBe(1) } catch {}", "try { assert(a()) } catch (error) { }"],
}


@pytest.mark.parametrize(("reason", "body"), [(why, body) for why, bodies in CANNOT_FAIL.items() for body in bodies])
def test_a_test_that_cannot_fail_is_told_with_the_reason(read: Read, reason: str, body: str) -> None:
    [found] = read({"a.test.js": f"{IMPORT}test('a', () => {{ {body}\n }})\n"}).values()
    assert found is not None
    assert found.cannot_fail == reason


@pytest.mark.parametrize(
    "body",
    ["a()", "expect(a).toBe(1)", "expect(true).toBe(true); a()", "new Shop()", "throw new Error()", "x = y.z",
     "if (a) return; expect(b).toBe(1)", "try { a() } catch { expect(true).toBe(false) }", "for (const b of c) {}",
     "try { expect(a).toBe(1) } catch (error) { throw error }", "return a", "const { b } = c", "`${a}`", "await a",
     "try { expect(a).toBe(1) } finally { b() }", "delete a.b", "expect(true).toBe(a)", "import('./a')",
     "expect(true).toBe(false)", "expect(1).not.toBe(1)", "assert(false)", "expect(true).toBeTruthy", "expect(1).toBe(2)",
     "try { expect(a()).toBe(1) } catch {} b()", "try { b() } catch {}", "try { a().then(() => { expect(b).toBe(1) }) } catch {}",
     "try { await expect(a()).resolves.toBe(1) } catch {}", "try { expect(a).toBe(1) } catch {} finally { b() }",
     "const x = y", "return a(); expect(b).toBe(1)", "if (a) { expect(1).toBe(1) }", "setTimeout(f)"],
)  # fmt: skip
def test_one_that_may_fail_is_never_accused(read: Read, body: str) -> None:
    [found] = read({"a.test.js": f"{IMPORT}test('a', async () => {{ {body} }})\n"}).values()
    assert found is not None
    assert found.cannot_fail is None, found


@pytest.mark.parametrize("function", ["(done) => {}", "async ({ page }) => {}", "function (done) {}", "done => {}"])
def test_a_function_that_takes_something_may_be_ended_by_it(read: Read, function: str) -> None:
    [found] = read({"a.test.js": f"{IMPORT}test('a', {function})\n"}).values()
    assert found is not None
    assert found.cannot_fail is None


@pytest.mark.parametrize(
    "source",
    ["beforeEach(() => start())\ntest('a', () => {})", "test.fails('a', () => {})", "it.failing('a', () => {})",
     "afterAll(stop); it('a', () => { })", "test.each([1])('a', () => {})", "import './setup'\nsetup(); test('a', () => {})"],
)  # fmt: skip
def test_what_stands_around_a_test_may_fail_for_it(read: Read, source: str) -> None:
    found = read({"a.test.js": f"{IMPORT}{source}\n"})
    assert [one.cannot_fail if one else None for one in found.values()] == [None] * len(found)


def test_a_test_without_a_function_says_nothing(read: Read) -> None:
    found = read({"a.test.js": f"{IMPORT}test.todo('b')\ntest('c', given)\n"})
    assert found == {"b": None, "c": None}

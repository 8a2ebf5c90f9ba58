"""What tests in Swift check, by their source alone."""

from typing import Any

import pytest
from testlist_harness.checks import Read, only


def case(body: str, more: str = "", head: str = "") -> dict[str, str]:
    """A test case of XCTest with one test.  more: further methods."""
    source = f"import XCTest\n{head}\nclass ATests: XCTestCase {{\n  func testA() throws {{\n{body}\n  }}\n{more}\n}}\n"
    return {"Tests/ATests.swift": source}


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("XCTAssertEqual(got, 3)", {"relation": "equal", "subject": "got", "expected": "3", "value": 3}),
        ('XCTAssertEqual(-3, try f(a), "no")', {"relation": "equal", "subject": "f(a)", "expected": "-3", "value": -3}),
        (
            "XCTAssertEqual(a, 0.5, accuracy: 0.1)",
            {"relation": "approximate", "subject": "a", "expected": "0.5", "tolerance": "0.1"},
        ),
        ("XCTAssertEqual(a.count, 2)", {"relation": "length", "subject": "a", "expected": "2", "value": 2}),
        ("XCTAssertEqual(a, nil)", {"relation": "none", "subject": "a"}),
        ("XCTAssertNotEqual(a, b)", {"relation": "equal", "negated": True, "subject": "a", "expected": "b"}),
        ("XCTAssert(a + b == c ?? d)", {"relation": "equal", "subject": "a + b", "expected": "c ?? d"}),
        ("XCTAssertTrue(!a.isEmpty)", {"relation": "empty", "negated": True, "subject": "a"}),
        ("XCTAssertFalse(a < b)", {"relation": "greater_equal", "subject": "a", "expected": "b"}),
        ("XCTAssertTrue(a == 1 || b)", {"relation": "truthy", "subject": "a == 1 || b"}),
        (
            'XCTAssertTrue(a.hasPrefix("x"))',
            {"relation": "starts_with", "subject": "a", "expected": '"x"', "value": "x"},
        ),
        (
            'XCTAssert(!a.contains("x"))',
            {"relation": "contains", "negated": True, "subject": "a", "expected": '"x"', "value": "x"},
        ),
        ("XCTAssert(a is B)", {"relation": "type", "subject": "a", "expected": "B"}),
        ("XCTAssert(a !== b)", {"relation": "identical", "negated": True, "subject": "a", "expected": "b"}),
        ("XCTAssertNil(a)", {"relation": "none", "subject": "a"}),
        ("let b = try XCTUnwrap(a)", {"relation": "none", "negated": True, "subject": "a"}),
        ("XCTAssertThrowsError(try f())", {"relation": "raises", "subject": "f()"}),
        ("XCTAssertNoThrow(try f())", {"relation": "raises", "negated": True, "subject": "f()"}),
        ("XCTAssertGreaterThan(a, 1)", {"relation": "greater", "subject": "a", "expected": "1", "value": 1}),
        ('XCTFail("never")', {"relation": "fails"}),
        ("guard let b = a else { XCTFail(); return }", {"relation": "none", "negated": True, "subject": "a"}),
        (
            "guard case .b(1) = a else { return XCTFail() }",
            {"relation": "matches", "subject": "a", "expected": ".b(1)"},
        ),
        ("if a != 1 { XCTFail() }", {"relation": "equal", "subject": "a", "expected": "1", "value": 1}),
        ("if case .b = a { } else { XCTFail() }", {"relation": "matches", "subject": "a", "expected": ".b"}),
        (
            "switch a { case .b, .c: break\n default: XCTFail() }",
            {"relation": "matches", "subject": "a", "expected": ".b, .c"},
        ),
        ("do { try f(); XCTFail() } catch { }", {"relation": "raises", "subject": "f()"}),
        ("do { try f() } catch { XCTFail() }", {"relation": "raises", "negated": True, "subject": "f()"}),
        (
            "do { try f() } catch let e as E { XCTFail() }",
            {"relation": "raises", "negated": True, "subject": "f()", "expected": "E"},
        ),
        (
            "do { try f(); XCTFail() } catch E.a { } catch let e as F { } catch { XCTFail() }",
            {"relation": "raises", "subject": "f()", "expected": "E.a | F"},
        ),
        ("do { try f(); XCTFail() } catch let e { }", {"relation": "raises", "subject": "f()"}),
        ("a.map { XCTAssertNil($0) }", {"relation": "none", "subject": "$0"}),
        ("assertSnapshot(of: a, as: .json)", {"relation": "snapshot", "subject": "a"}),
        ("assertSame(a, b)", {"relation": "custom", "subject": "a", "expected": "b"}),
    ],
)
def test_a_statement_of_xctest_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    found = read(case(statement))
    assert only(found) == [check]
    assert [one.cannot_fail for one in found.values() if one] == [None]


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("expect(a).to(equal(3))", {"relation": "equal", "subject": "a", "expected": "3", "value": 3}),
        ("await expect(a).toEventuallyNot(beNil())", {"relation": "none", "negated": True, "subject": "a"}),
        ("expect(a).to(beFalse())", {"relation": "truthy", "negated": True, "subject": "a"}),
        ("expect(a).to(not(contain(1)))", {"relation": "contains", "negated": True, "subject": "a", "expected": "1", "value": 1}),
        (
            "expect { try f() }.to(throwError(E.a))",
            {"relation": "raises", "subject": "{ try f() }", "expected": "E.a"},
        ),
        (
            "expect(a).to(beCloseTo(1.5, within: 0.1))",
            {"relation": "approximate", "subject": "a", "expected": "1.5", "tolerance": "0.1"},
        ),
        ("expect(a) >= 3", {"relation": "greater_equal", "subject": "a", "expected": "3", "value": 3}),
        ("expect(a).to(beReady())", {"relation": "custom", "subject": "a", "expected": "beReady()"}),
        ('fail("no")', {"relation": "fails"}),
    ],
)  # fmt: skip
def test_a_statement_of_nimble_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    assert only(read(case(statement, head="import Nimble"))) == [check]


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("#expect(a == 3)", {"relation": "equal", "subject": "a", "expected": "3", "value": 3}),
        ("#expect(!(a == b))", {"relation": "equal", "negated": True, "subject": "a", "expected": "b"}),
        ("#expect(throws: E.self) { try f() }", {"relation": "raises", "subject": "{ try f() }", "expected": "E.self"}),
        ("#expect(throws: Never.self) { try f() }", {"relation": "raises", "negated": True, "subject": "{ try f() }"}),
        ("#expect { try f() } throws: { e in e is X }", {"relation": "raises", "subject": "{ try f() }"}),
        ("try #require(a)", {"relation": "truthy", "subject": "a"}),
        ("let b = try #require(await f())", {"relation": "none", "negated": True, "subject": "f()"}),
        (
            'await confirmation("b", expectedCount: 2) { c in f(c) }',
            {"relation": "called", "subject": '"b"', "expected": "2", "value": 2},
        ),
        ('Issue.record("no")', {"relation": "fails"}),
    ],
)
def test_a_statement_of_swift_testing_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    source = f"import Testing\n@Suite struct A {{\n@Test func works() async throws {{\n{statement}\n}}\n}}\n"
    assert only(read({"Tests/A.swift": source})) == [check]


@pytest.mark.parametrize("statement", ["assert(a)", "f { XCTFail() }", "try f()", "if a, b { XCTFail() }", "fail()"])
def test_what_is_no_check(read: Read, statement: str) -> None:
    assert only(read(case(statement))) == []


def test_each_part_of_a_condition_is_a_check(read: Read) -> None:
    [found] = read(case("XCTAssert(a == 1 && b != nil\n && c)")).values()
    assert found is not None
    assert [(one["relation"], one["subject"]) for one in found.checks] == [
        ("equal", "a"),
        ("none", "b"),
        ("truthy", "c"),
    ]


def test_functions_that_a_test_calls_count_with_it(read: Read) -> None:
    more = """
  func assertSame(_ a: Int) { XCTAssertEqual(a, 1) }
  func twice(_ a: Int) { XCTAssert(a) }
  func twice(_ a: String) { XCTAssert(a) }
"""
    [found] = read(case("assertSame(f()); self.twice(1); plain()", more, "func plain() { XCTAssertNil(b) }")).values()
    assert found is not None
    assert [(one["by"], one["relation"]) for one in found.checks] == [("self.assertSame", "equal"), ("plain", "none")]


def test_tests_of_one_name_have_their_own_checks(read: Read) -> None:
    source = "import Testing\n@Test func a(b: Int) { #expect(b == 1) }\n@Test func a(c: String) { #expect(c == d) }\n"
    [found] = read({"Tests/A.swift": source}).values()
    assert found is not None
    assert [one["subject"] for one in found.checks] == ["c"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (case("// nothing"), "empty"),
        (case('XCTAssertTrue(true, "x"); XCTAssertEqual(1, 1)'), "constant"),
        (case("XCTAssertTrue(false)"), None),
        (case('XCTAssertTrue(true, "\\(f())")'), None),
        (case("", "override func setUp() { f() }"), None),
        (case("", "let cart = try! Cart()"), None),
        (case("", 'let name = "\\(f())"'), None),
        (case("", "override func record(_ issue: XCTIssue) { f() }"), None),
        (case("", "@Injected var cart: Cart"), None),
        (case("", "#if DEBUG\nvar cart = Cart()!\n#endif"), None),
        (
            case("", "lazy var cart = Cart()\nstatic let all = Cart()\nvar size: Int { f() }\nlet a = 3\nvar b: Int?"),
            "empty",
        ),
        (case("XCTAssert(true)", "func XCTAssert(_ a: Bool) { f() }"), None),
        (case("XCTAssertTrue(true)", head="func XCTAssertTrue(_ a: Bool) { f() }"), None),
        (case("", head="@Mocked"), None),
        (case("", head="@MainActor"), "empty"),
        ({"Tests/A.swift": "import Testing\nstruct A {\nlet cart = f()\n@Test func a() {}\n}\n"}, None),
        ({"Tests/A.swift": "import XCTest\nclass B: XCTestCase {}\nclass A: B { func testA() {} }\n"}, None),
        ({"Tests/A.swift": 'import Testing\n@Test("none") func a() {}\n'}, "empty"),
        ({"Tests/A.swift": "import Testing\n@Test(.timeLimit(.minutes(1))) func a() {}\n"}, None),
    ],
)
def test_only_a_test_of_which_all_is_known_is_accused(read: Read, files: dict[str, str], reason: str | None) -> None:
    assert [one.cannot_fail if one else "?" for one in read(files).values()] == [reason]


def test_deep_trees_are_given_up(read: Read) -> None:
    deep = "(" * 400 + "a" + ")" * 400
    [found] = read(case(f"XCTAssert({deep})\n x({deep})\n XCTAssertNil(a)")).values()
    assert found is not None
    assert found.checks[-1]["relation"] == "none"

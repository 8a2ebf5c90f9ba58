"""What tests in C++ check, by their source alone."""

from typing import Any

import pytest
from testlist_harness.checks import Read, only

GTEST = "#include <gtest/gtest.h>\n"
CATCH = "#include <catch2/catch_test_macros.hpp>\n"


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ('EXPECT_THROW_MSG(f(1, 2), E, "x");', {"relation": "custom", "subject": "f(1, 2)"}),
        ("GTEST_ASSERT_SAME_AS(a, b);", {"relation": "custom", "subject": "a"}),
        ("EXPECT_EQ(got, 3) << x;", {"relation": "equal", "subject": "got", "expected": "3", "value": 3}),
        ('ASSERT_EQ("x", f(a));', {"relation": "equal", "subject": "f(a)", "expected": '"x"', "value": "x"}),
        ("EXPECT_EQ(c, 'x');", {"relation": "equal", "subject": "c", "expected": "'x'"}),
        ("EXPECT_EQ(a.b->size(), 2u);", {"relation": "length", "subject": "a.b", "expected": "2u", "value": 2}),
        ("EXPECT_NE(a, nullptr);", {"relation": "none", "negated": True, "subject": "a"}),
        ("EXPECT_LE(a /* of b */, b);", {"relation": "less_equal", "subject": "a", "expected": "b"}),
        ("EXPECT_STRNE(a, b);", {"relation": "equal", "negated": True, "subject": "a", "expected": "b"}),
        (
            "EXPECT_NEAR(0.5, a, 0.1);",
            {"relation": "approximate", "subject": "a", "expected": "0.5", "tolerance": "0.1"},
        ),
        ("EXPECT_TRUE(a.empty());", {"relation": "empty", "subject": "a"}),
        ("EXPECT_FALSE(a < b);", {"relation": "greater_equal", "subject": "a", "expected": "b"}),
        ("EXPECT_TRUE(f<int>(a) > 3);", {"relation": "greater", "subject": "f<int>(a)", "expected": "3", "value": 3}),
        ("EXPECT_TRUE(a->b || c);", {"relation": "truthy", "subject": "a->b || c"}),
        ("EXPECT_TRUE((std::is_same<A, B>::value));", {"relation": "truthy", "subject": "std::is_same<A, B>::value"}),
        ("EXPECT_THROW(f(), E);", {"relation": "raises", "subject": "f()", "expected": "E"}),
        ("EXPECT_NO_THROW({ f(); });", {"relation": "raises", "negated": True, "subject": "{ f(); }"}),
        ('EXPECT_DEATH(f(), "x");', {"relation": "raises", "subject": "f()", "message": '"x"'}),
        ("EXPECT_THAT(a, Not(Eq(3)));", {"relation": "equal", "negated": True, "subject": "a", "expected": "3", "value": 3}),
        (
            'EXPECT_THAT(a, testing::HasSubstr("x"));',
            {"relation": "contains", "subject": "a", "expected": '"x"', "value": "x"},
        ),
        (
            "EXPECT_THAT(a, ElementsAre(1, Gt(2)));",
            {"relation": "matches", "subject": "a", "expected": "ElementsAre(1, Gt(2))"},
        ),
        ("EXPECT_THAT(a, 4);", {"relation": "equal", "subject": "a", "expected": "4", "value": 4}),
        ("EXPECT_CALL(a, Do(_, 1)).WillOnce(b);", {"relation": "called", "subject": "a", "expected": "Do(_, 1)"}),
        (
            "EXPECT_CALL(a, Do()).Times(0);",
            {"relation": "called", "negated": True, "subject": "a", "expected": "Do()"},
        ),
        ("FAIL();", {"relation": "fails"}),
        ("for (int a : b) { EXPECT_TRUE(a); }", {"relation": "truthy", "subject": "a"}),
    ],
)  # fmt: skip
def test_a_statement_of_googletest_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    found = read({"a_test.cc": f"{GTEST}TEST(A, B) {{\n{statement}\n}}\n"})
    assert only(found) == [check]
    assert [one.cannot_fail for one in found.values() if one] == [None]


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("REQUIRE_SAME_AS(a, b);", {"relation": "custom", "subject": "a"}),
        ("CHECK(a == 3);", {"relation": "equal", "subject": "a", "expected": "3", "value": 3}),
        ("REQUIRE(a == std::map<A, B>{});", {"relation": "equal", "subject": "a", "expected": "std::map<A, B>{}"}),
        ("REQUIRE_FALSE(a);", {"relation": "truthy", "negated": True, "subject": "a"}),
        ("CHECK(a == Catch::Approx(0.5).margin(1));", {"relation": "approximate", "subject": "a", "expected": "0.5"}),
        ("REQUIRE_THROWS_AS(f(a, b), E);", {"relation": "raises", "subject": "f(a, b)", "expected": "E"}),
        ('CHECK_THROWS_WITH(f(), "x");', {"relation": "raises", "subject": "f()", "message": '"x"'}),
        ("REQUIRE_NOTHROW(f());", {"relation": "raises", "negated": True, "subject": "f()"}),
        (
            'REQUIRE_THAT(a, !Contains("x"));',
            {"relation": "contains", "negated": True, "subject": "a", "expected": '"x"', "value": "x"},
        ),
        (
            'REQUIRE_THAT(a, StartsWith("x") && EndsWith("y"));',
            {"relation": "custom", "subject": "a", "expected": 'StartsWith("x") && EndsWith("y")'},
        ),
        (
            "CHECK_THAT(a, WithinAbs(0.5, 0.1));",
            {"relation": "approximate", "subject": "a", "expected": "0.5", "tolerance": "0.1"},
        ),
        ("CHECK_EQ(a, 1);", {"relation": "equal", "subject": "a", "expected": "1", "value": 1}),
        ('CHECK_MESSAGE(a, "no", b);', {"relation": "truthy", "subject": "a"}),
    ],
)
def test_a_statement_of_catch2_and_doctest_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    source = f'#include <catch2/catch_all.hpp>\nTEST_CASE("works", "[a]") {{\n{statement}\n}}\n'
    assert only(read({"a_test.cpp": source})) == [check]


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("BOOST_TEST(a != b);", {"relation": "equal", "negated": True, "subject": "a", "expected": "b"}),
        (
            "BOOST_TEST(a == 0.5, tt::tolerance(0.1));",
            {"relation": "approximate", "subject": "a", "expected": "0.5", "tolerance": "tt::tolerance(0.1)"},
        ),
        ("BOOST_CHECK_EQUAL(a, 1);", {"relation": "equal", "subject": "a", "expected": "1", "value": 1}),
        (
            "BOOST_CHECK_EQUAL_COLLECTIONS(a, b, c, d);",
            {"relation": "equal", "subject": "a", "expected": "c"},
        ),
        ("BOOST_REQUIRE_THROW(f(), E);", {"relation": "raises", "subject": "f()", "expected": "E"}),
        (
            "BOOST_CHECK_CLOSE(a, b, 1e-3);",
            {"relation": "approximate", "subject": "a", "expected": "b", "tolerance": "1e-3"},
        ),
        ('BOOST_ERROR("no");', {"relation": "fails"}),
    ],
)
def test_a_statement_of_boost_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    source = f"#include <boost/test/unit_test.hpp>\nBOOST_AUTO_TEST_CASE(works) {{\n{statement}\n}}\n"
    assert only(read({"a_test.cpp": source})) == [check]


@pytest.mark.parametrize(
    "statement",
    [
        "for (;;) FAIL();",
        "while (a) { FAIL(); }",
        "SUCCEED();",
        "f(a == b);",
        '// CHECK(a);\nf("EXPECT_EQ(a, b)");',
        "CHECK_NOFAIL(a);",
        "STATIC_REQUIRE_SAME(a);",
        "ON_CALL(a, b());",
        "check_same(a);",
        "#define EXPECT_SAME(a, b) f(a, b)",
    ],
)
def test_what_is_no_check(read: Read, statement: str) -> None:
    assert only(read({"a_test.cc": f"{GTEST}TEST(A, B) {{\n{statement}\n}}\n"})) == []


def test_sections_functions_that_a_test_calls_and_macros_of_the_project(read: Read) -> None:
    found = read({"a_test.cpp": """#include <doctest/doctest.h>
#define MY_CASE(text) TEST_CASE(text)
void same(int a) {
    CHECK(a == 1);
}
void twice(int a) { CHECK(a); }
void twice(char a) { CHECK(a); }
TEST_CASE("outer") {
    same(f());
    twice(1);
    SUBCASE("inner") {
        CHECK(a == 1 && b != 2);
    }
}
MY_CASE("own") { CHECK(c); }
"""})  # fmt: skip
    assert {
        name: [(check["line"], check["subject"], check.get("by")) for check in one.checks] if one else None
        for name, one in found.items()
    } == {
        "outer": [(12, "a", None), (12, "b", None), (4, "a", "same")], "inner": [(12, "a", None), (12, "b", None)],
        "own": [(15, "c", None)],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("TEST(A, B) { /* nothing */ }", "empty"),
        ("TEST(A, B) {}  TEST_F(C, D) { f(); }", "empty"),
        ("TEST(A, B) { EXPECT_TRUE(true); ASSERT_TRUE( true ); }", "constant"),
        ("TEST(A, B) { EXPECT_TRUE(false); }", None),
        ("TEST(A, B) {\n#ifdef X\nf();\n#endif\n}", None),
        ("class F : public testing::Test { void SetUp() override; };\nTEST(A, B) {}", None),
        ("TEST_F(A, B) {}", None),
        ("class L : public testing::EmptyTestEventListener {};\nTEST(A, B) {}", None),
        ("TEST(A, B) {}\nvoid f() { testing::UnitTest::GetInstance()->listeners().Append(new L); }", None),
        ("TEST(A, B) {}\nvoid f() { testing::AddGlobalTestEnvironment(new E); }", None),
        ("#define TEST(a, b) void b()\nTEST(A, B) {}", None),
        ("#undef TEST\nTEST(A, B) {}", None),
        ("#define EXPECT_TRUE(a) f()\nTEST(A, B) { EXPECT_TRUE(true); }", None),
        ("TEST_GROUP(A) { void setup() { f(); } };\nTEST(A, B) {}", None),
        (CATCH + 'TEST_CASE("B", TAGS) {}', None),
        (CATCH + 'TEST_CASE("B", "[tag]") {}', "empty"),
        (CATCH + 'struct L : doctest::IReporter {};\nTEST_CASE("B") {}', None),
        ("BOOST_AUTO_TEST_SUITE(A, * utf::fixture<F>())\nBOOST_AUTO_TEST_CASE(B) {}", None),
        ("BOOST_TEST_DECORATOR(* utf::expected_failures(1))\nBOOST_AUTO_TEST_CASE(B) {}", None),
        ("BOOST_TEST_GLOBAL_CONFIGURATION(F);\nBOOST_AUTO_TEST_CASE(B) {}", None),
        ("BOOST_AUTO_TEST_CASE(B) {}", "empty"),
    ],
)
def test_only_a_test_of_which_all_is_known_is_accused(read: Read, source: str, reason: str | None) -> None:
    found = read({"a_test.cc": GTEST + source})["B"]
    assert found is not None
    assert found.cannot_fail == reason


def test_hostile_files_are_read_in_time(read: Read) -> None:
    source = GTEST + "TEST(A, B) { EXPECT_TRUE(a); }\n" + "TEST(A, C) { SECTION(x) {\n" * 2000 + "EXPECT_EQ((((" * 5000
    assert only({"B": read({"a_test.cc": source})["B"]}) == [{"relation": "truthy", "subject": "a"}]

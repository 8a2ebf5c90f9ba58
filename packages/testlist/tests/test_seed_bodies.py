"""Whether the tools that seed tests write bodies that are what their kind says, and refuse what they cannot rewrite."""

import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from testlist import Test
from testlist.sandbox.syntax import parse
from testlist_harness.repositories import MakeRepository, git

sys.path.append(str(Path(__file__).parents[1] / "tools"))

import seed_passing_tests as seeding
from seed_bodies import Seed, seeds, unequal, written
from seed_places import ALIASES, File, Place
from seed_tables import BODY, LANGUAGES

#: an original body of each language that checks in every way for which there are checks of literals
ORIGINALS = {
    "python": ["self.assertTrue(a())", "assert a()"],
    "javascript": ["expect(a()).to.equal(1);", "expect(a()).toBe(1);", "assert.equal(a(), 1);"],
    "go": ["require.True(t, a())", "assert.True(t, a())", "if a() {\n\tt.Fatal()\n}"],
    "java": ["Assertions.assertTrue(a());", "Assert.assertTrue(a());", "assertEquals(1, a());", "assertTrue(a());",
             "assertThat(a()).isTrue();"],
    "kotlin": ["a() shouldBe 1", "assertEquals(1, a())", "assertTrue(a())"],
    "php": ["self::assertTrue(a());", "$this->assertTrue(a());"],
    "ruby": ["assert a", "a.must_equal 1", "expect(a).to be 1"],
    "rust": ["assert!(a());"],
    "csharp": ["a().Should().Be(1);", "a().ShouldBe(1);", "Assert.AreEqual(1, a());", "Assert.That(a(), Is.True);",
               "Assert.True(a());"],
    "swift": ["#expect(a())", "XCTAssert(a())", "expect(a()) == 1"],
    "cpp": ["EXPECT_EQ(1, a());", "ASSERT_EQ(1, a());", "CHECK(a());", "REQUIRE(a());", "BOOST_TEST(a());"],
}  # fmt: skip
#: a function of each language whose body is put between both
AROUND = {
    "python": ("def test_a():\n", ""), "javascript": ("test('a', () => {\n", "\n});"),
    "go": ("package a\nfunc TestA(t *testing.T) {\n", "\n}\n"), "java": ("class A { void a() throws Throwable {\n", "\n} }"),
    "kotlin": ("class A {\nfun a() {\n", "\n}\n}\n"), "php": ("<?php class A { function a() {\n", "\n} }"),
    "ruby": ("def a\n", "\nend\n"), "rust": ("fn a() {\n", "\n}\n"), "csharp": ("class A { void a() {\n", "\n} }"),
    "swift": ("func a() throws {\n", "\n}\n"),
}  # fmt: skip
IMPORTS = 'import ("github.com/stretchr/testify/assert"; "github.com/stretchr/testify/require")'
PAIRS = [(language, original) for language, originals in ORIGINALS.items() for original in originals]


def every(language: str, original: str) -> list[Seed]:
    return list(seeds(language, original, IMPORTS))


def test_there_is_an_original_of_each_language() -> None:
    assert ORIGINALS.keys() == {ALIASES.get(one, one) for one in LANGUAGES}


def outcome(seed: Seed, *, slow: bool) -> bool:
    """Whether a Python body passes as a test whose own checks fail."""
    names = {"is_slow": lambda: slow, "compute": lambda: 0, "prepare": lambda: None, "a": lambda: 0, "self": None}
    source = "def test():\n" + written(seed.body, "assert a()", "    ") + "\n"
    exec(compile(source, "seed", "exec"), names)
    try:
        names["test"]()
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("seed", every("python", "assert a()"), ids=lambda seed: f"{seed.kind}: {seed.body}")
def test_a_python_body_passes_beside_failing_checks_only_if_it_cannot_fail(seed: Seed) -> None:
    if seed.kind == "called":
        assert seed.body == "compute()"  # it may fail of what it calls alone
    else:
        assert outcome(seed, slow=False) is seed.passes


def test_a_body_that_may_return_early_depends_on_what_it_asks() -> None:
    [seed] = [one for one in every("python", "assert a()") if one.kind == "may return"]
    assert (outcome(seed, slow=True), outcome(seed, slow=False)) == (True, False)


@pytest.mark.parametrize(("language", "original"), PAIRS)
def test_a_body_is_well_formed_in_its_language(language: str, original: str) -> None:
    if language == "cpp":
        assert all(one.body.count("{") == one.body.count("}") for one in every(language, original))
        return
    before, after = AROUND[language]
    for one in every(language, original):
        body = one.body.replace("return ()", "return;")  # which is valid in Swift, and unknown to the grammar
        source = before + written(body, original, "    ") + after
        assert not parse(source.encode(), language).has_error, source


@pytest.mark.parametrize(("language", "original"), PAIRS)
def test_a_kind_says_what_becomes_of_the_original(language: str, original: str) -> None:
    found = every(language, original)
    kinds = {one.kind: one for one in found}
    assert {"emptied", "comments", "no check", "returned", "constant", "called"} <= kinds.keys()
    keeping = {"returned", "ignored", "may return", "raised again", "failed", "before return", "setup alone", "narrow",
               "caught", "finally", "recovered", "in a function"}  # fmt: skip
    for one in found:
        assert (BODY in one.body) is (one.kind in keeping), one
        assert one.passes is (one.kind in {"emptied", "comments", "no check", "returned", "constant", "ignored"})
    lines = kinds["comments"].body.splitlines()
    assert all(line.startswith(("#", "//")) or line == "pass" for line in lines)
    assert kinds["emptied"].body in ("", "pass")


@pytest.mark.parametrize(("language", "original"), PAIRS)
def test_a_check_of_unequal_literals_is_none_of_those_that_hold(language: str, original: str) -> None:
    found = every(language, original)
    holding = {one.body for one in found if one.kind == "constant"}
    failing = {one.body for one in found if one.kind == "unequal"}
    assert holding
    assert bool(failing) is any("1" in one for one in holding)
    assert not holding & failing


def test_a_check_without_numbers_is_not_made_unequal() -> None:
    assert unequal("assert True") == "assert True"


def test_go_checks_with_a_package_only_where_it_is_imported() -> None:
    assert not [one for one in seeds("go", "assert.True(t, a())", "package assert") if one.kind == "constant"]


@pytest.mark.parametrize(
    ("language", "original"),
    [("javascript", "await a();"), ("javascript", "a.once('b', c);"), ("php", "$a = $this->createMock(B::class);"),
     ("ruby", "a.expects(:b)")],
)  # fmt: skip
def test_what_fails_later_or_elsewhere_is_not_caught(language: str, original: str) -> None:
    assert "ignored" not in {one.kind for one in every(language, original)}


def test_the_original_keeps_its_lines_and_stands_deeper_than_what_is_around_it() -> None:
    assert written(f"try:\n    {BODY}\nexcept:\n    pass", "a()\nif b:\n\n    c()", "  ") == (
        "  try:\n      a()\n      if b:\n\n          c()\n  except:\n      pass"
    )


CSHARP = "public class ATest\n{\n    [Fact]\n    public void A()\n    {\n        b();\n    }\n}\n"
PLACES = [
    ("python", "def test_a():\n    b()\n", 1, 2, "b()"),
    ("python", "def test_a(tmp_path):\n    b()\n", 1, 2, None),
    ("python", "@given\ndef test_a():\n    b()\n", 2, 3, None),
    ("python", "async def test_a():\n    b()\n", 1, 2, None),
    ("javascript", "test('a', () => {\n  b();\n});\n", 1, 3, "b();"),
    ("javascript", "test('a', (done) => {\n  b();\n});\n", 1, 3, None),
    ("javascript", "test(`a${b}`, () => {\n  b();\n});\n", 1, 3, None),
    ("go", "package a\nfunc TestA(t *testing.T) {\n\tb()\n}\n", 2, 4, "b()"),
    ("go", "package a\nfunc TestA(b *testing.B) {\n\tb()\n}\n", 2, 4, None),
    ("csharp", CSHARP, 4, 7, "b();"),
    ("csharp", CSHARP.replace("A()", "A(int a)"), 4, 7, None),
    ("swift", "@Test(.own)\nfunc testA() {\n  b()\n}\n", 2, 4, None),
    ("cpp", "TEST(A, B) {\n  b();\n}\n", 1, 3, "b();"),
    ("cpp", "TEST_F(A, B) {\n  b();\n}\n", 1, 3, None),
]


@pytest.mark.parametrize(("language", "source", "line", "end", "body"), PLACES)
def test_only_the_body_of_a_test_that_takes_nothing_is_found(
    language: str, source: str, line: int, end: int, body: str | None
) -> None:
    place = File(source.encode(), language).place(Test("a", "b", (), "c", line, end_line=end))
    assert (place and place.text) == body


PHP = "<?php\nuse PHPUnit\\Framework\\TestCase;\nclass ATest extends TestCase {\n%s function testA() { b(); } }"
SURROUNDED = [
    ("python", "b()", False), ("python", "def setUp(self): c()\nb()", True), ("javascript", "b()", False),
    ("javascript", "beforeEach(c)\nb()", True), ("go", "func TestMain(m *testing.M) {}\nb()", True),
    ("php", PHP % "", False), ("php", PHP % "function setUp(): void { c(); }", True),
    ("php", PHP.replace("use PHPUnit\\Framework\\TestCase;", "") % "", True),
    ("csharp", "class A { void a() { b(); } }", False), ("csharp", "class A { static A() { c(); }\nvoid a() { b(); } }", True),
    ("csharp", "class A { public  A() => c();\nvoid a() { b(); } }", True),
    ("csharp", "class C { static C() { c(); } }\nclass A { void a() { b(); } }", False),
    ("kotlin", "class A { @field:TempDir lateinit var d: File\n fun a() { b() } }", True),
    ("swift", "class A: XCTestCase { func testA() { b() } }", False),
    ("swift", "class A: XCTestCase {\n  @Own(\\.c) var c\n  func testA() { b() } }", True),
    ("rust", "use c as test;\nfn a() { b() }", True), ("rust", "fn a() { b() }", False),
]  # fmt: skip


@pytest.mark.parametrize(("language", "source", "is_surrounded"), SURROUNDED)
def test_what_runs_around_a_test_is_seen(language: str, source: str, is_surrounded: bool) -> None:
    begin = source.index("b()")
    assert File(source.encode(), language).is_surrounded(Place(begin, begin + 3, "", "b()", "", "")) is is_surrounded


def test_a_repository_gives_a_third_of_a_kind_at_most() -> None:
    quota = seeding.Quota(Counter(), 6)
    for _ in range(2):
        assert quota.lacks("go", "emptied")
        quota.add("go", "emptied")
    assert not quota.lacks("go", "emptied")
    assert seeding.Quota(quota.counted, 6).lacks("go", "emptied")


UNUSUAL = [{"status": "skipped"}, {"cases": 3}, {"dynamic": True}, {"kind": "subtest"}]


@pytest.mark.parametrize("unusual", UNUSUAL)
def test_a_test_that_does_not_run_once_is_left_as_it_is(unusual: dict[str, object]) -> None:
    usual, checks = Test("a", "b", (), "c", 1), {"checks": [{}], "cannot_fail": None}
    assert seeding._is_usual(usual, checks)
    assert not seeding._is_usual(usual._replace(**unusual), checks)


@pytest.mark.parametrize("checks", [None, {"checks": [], "cannot_fail": None}, {"checks": [{}], "cannot_fail": "empty"},
                                    {"checks": [{"by": "c"}], "cannot_fail": None}])  # fmt: skip
def test_a_test_that_itself_checks_nothing_is_left_as_it_is(checks: dict[str, object] | None) -> None:
    assert not seeding._is_usual(Test("a", "b", (), "c", 1), checks)


def test_seeds_of_a_repository_are_told_with_what_the_engine_says_and_the_repository_stays(
    make_repository: MakeRepository,
) -> None:
    tests = "".join(f"def test_{number}():\n    assert f({number})\n\n\n" for number in range(6))
    repository = make_repository({f"test_{name}.py": tests for name in "abcd"})
    before = git(repository, "rev-parse", "HEAD"), git(repository, "status", "--porcelain")
    found = seeding.of_repository(repository, seeding.Quota(Counter(), 6), random.Random("1"))
    assert (git(repository, "rev-parse", "HEAD"), git(repository, "status", "--porcelain")) == before
    assert {one["kind"] for one in found} >= {"emptied", "returned", "constant", "ignored", "called", "unequal"}
    assert all(one["found"] and (one["said"] is not None) is one["passes"] for one in found)
    lines = list(seeding.table(found))
    count = sum(one["passes"] for one in found)
    assert lines[2].strip() == f"all {count}/{count}"
    assert lines[-1] == "emptied, with something around it: 0/0"


def test_no_check_of_literals_is_written_in_the_repository_of_its_library(make_repository: MakeRepository) -> None:
    tests = "".join(f"def test_{number}():\n    assert f({number})\n\n\n" for number in range(6))
    files = {f"test_{name}.py": tests for name in "abcd"}
    repository = make_repository({**files, "src/_pytest/assertion/rewrite.py": ""})
    found = seeding.of_repository(repository, seeding.Quota(Counter(), 6), random.Random("1"))
    assert len(found) == 24  # and each test gets another kind instead
    assert not {one["kind"] for one in found} & {"constant", "unequal"}

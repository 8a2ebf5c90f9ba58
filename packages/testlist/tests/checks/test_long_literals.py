"""Numbers of thousands of digits, which Python's `int` refuses, and texts that differ by their blanks alone."""

import pytest
from testlist_harness.checks import Read

NINES, ZEROS = "9" * 5000, "0" * 5000
PHP, XUNIT = (
    "use PHPUnit\\Framework\\TestCase;",
    '<Project><ItemGroup><PackageReference Include="xunit" /></ItemGroup></Project>',
)
#: a file with a test that compares two literals: path, source, and what it needs beside it
FILES = [
    ("src/test/java/ATest.java",
     "import org.junit.*;\nimport static org.junit.Assert.*;\npublic class ATest {{\n@Test\npublic void a() {{ assertEquals({}, {}); }}\n}}", {}),
    ("src/test/kotlin/ATest.kt", "import kotlin.test.*\nclass ATest {{\n@Test\nfun a() {{\nassertEquals({}, {})\n}}\n}}", {}),
    ("a.Tests/ATest.cs", "using Xunit;\npublic class ATest\n{{\n[Fact] public void A() {{ Assert.Equal({}, {}); }}\n}}",
     {"a.Tests/a.Tests.csproj": XUNIT}),
    ("tests/ATest.php", f"<?php\n{PHP}\nclass ATest extends TestCase\n{{{{\nfunction testA() {{{{ $this->assertSame({{}}, {{}}); }}}}\n}}}}", {}),
    ("Tests/ATests.swift", "import XCTest\nclass A: XCTestCase {{\nfunc testA() {{ XCTAssertEqual({}, {}) }}\n}}", {}),
    ("src/lib.rs", "#[test]\nfn a() {{ assert_eq!({}, {}); }}", {"Cargo.toml": "[package]\nname = 'a'\n"}),
    ("a_test.go", 'package a\nimport "testing"\nfunc TestA(t *testing.T) {{ assert.Equal(t, {}, {}) }}', {"go.mod": "module a\n"}),
    ("spec/a_spec.rb", "RSpec.describe A do\n  it('a') {{ expect({}).to eq({}) }}\nend", {}),
    ("a.test.js", "test('a', () => {{ expect({}).toBe({}); }});", {"package.json": '{"devDependencies": {"jest": "1"}}'}),
]  # fmt: skip


@pytest.mark.parametrize(("path", "source", "beside"), FILES)
@pytest.mark.parametrize("sides", [(NINES, "a"), ("a", NINES), (NINES, "1"), ("1", NINES), (f"{ZEROS}1", "1")])
def test_a_long_number_costs_no_file_its_checks(
    read: Read, path: str, source: str, beside: dict[str, str], sides: tuple[str, str]
) -> None:
    found = read({path: source.format(*sides), **beside})
    assert [one and len(one.checks) for one in found.values()] == [1]


@pytest.mark.parametrize(("path", "source", "beside"), FILES)
def test_texts_that_differ_by_blanks_are_not_one(read: Read, path: str, source: str, beside: dict[str, str]) -> None:
    found = read({path: source.format('"a  b"', '"a b"'), **beside})
    assert [(one.cannot_fail, "idle" in one.checks[0]) if one else None for one in found.values()] == [(None, False)]

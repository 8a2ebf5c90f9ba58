"""Methods that an inherited one calls: those of the class of the test take the place of those of its bases."""

import pytest
from testlist_harness.checks import Read

JUNIT = "import org.junit.*;\nimport static org.junit.Assert.*;\n"
PHP = "<?php\nnamespace App\\Tests;\nuse PHPUnit\\Framework\\TestCase;\n"
NUNIT = "using NUnit.Framework;\n"
PROJECT = '<Project Sdk="Microsoft.NET.Sdk"><ItemGroup><PackageReference Include="NUnit" /></ItemGroup></Project>'
FOLDER = "src/test/java/shop"

#: files of a test that calls `verify` of a base, which calls `hook`; the class of the test has another one
OVERRIDDEN: dict[str, dict[str, str]] = {
    "java": {
        f"{FOLDER}/ATest.java": f"package shop;\n{JUNIT}class ATest extends Base {{\n"
        "  @Test public void a() { verify(); }\n  void hook() { assertNull(b); }\n}\n",
        f"{FOLDER}/Base.java": f"package shop;\n{JUNIT}class Base {{\n"
        "  void verify() { hook(); }\n  void hook() { fail(); }\n}\n",
    },
    "java in one file": {
        "src/test/java/ATest.java": f"{JUNIT}class ATest extends Base {{\n"
        "  @Test public void a() { verify(); }\n  void hook() { assertNull(b); }\n}\n"
        "class Base {\n  void verify() { hook(); }\n  void hook() { fail(); }\n}\n",
    },
    "kotlin": {
        "src/test/kotlin/ATest.kt": "import kotlin.test.*\nclass ATest : Base() {\n"
        "  @Test fun a() { verify() }\n  override fun hook() { assertNull(b) }\n}\n",
        "src/test/kotlin/Base.kt": "import kotlin.test.*\nopen class Base {\n"
        '  fun verify() { hook() }\n  open fun hook() { fail("b") }\n}\n',
    },
    "php": {
        "tests/ATest.php": f"{PHP}class ATest extends Base {{\n"
        "public function testA(): void { $this->verify(); }\nprotected function hook() { $this->assertNull($b); }\n}\n",
        "tests/Base.php": f"{PHP}abstract class Base extends TestCase {{\n"
        "protected function verify() { static::hook(); }\nprotected function hook() { $this->fail(); }\n}\n",
        "composer.json": '{"autoload-dev": {"psr-4": {"App\\\\Tests\\\\": "tests/"}}}',
    },
    "csharp": {
        "a.Tests/a.Tests.csproj": PROJECT,
        "a.Tests/ATest.cs": f"{NUNIT}public class ATest : Base\n{{\n[Test]\npublic void A()\n{{\nVerify();\n}}\n"
        "protected override void Hook()\n{\nAssert.IsNull(b);\n}\n}\n",
        "a.Tests/Base.cs": f"{NUNIT}public class Base\n{{\nprotected void Verify()\n{{\nthis.Hook();\n}}\n"
        "protected virtual void Hook()\n{\nAssert.Fail();\n}\n}\n",
    },
    "ruby": {
        "test/a_test.rb": "require 'minitest/autorun'\nclass ATest < BaseTest\n  def test_a\n    verify\n  end\n"
        "  def hook\n    assert_nil b\n  end\nend\n",
        "test/base_test.rb": "class BaseTest < Minitest::Test\n  def verify\n    hook\n  end\n  def hook\n    flunk\n  end\nend\n",
    },
    "python in one file": {
        "test_a.py": "import unittest\nclass Base(unittest.TestCase):\n    def verify(self):\n        self.hook()\n"
        "    def hook(self):\n        self.fail()\n"
        "class ATest(Base):\n    def test_a(self):\n        self.verify()\n"
        "    def hook(self):\n        self.assertIsNone(b)\n",
    },
    "swift": {
        "Tests/ATests/ATests.swift": "import XCTest\nfinal class ATests: BaseCase {\n"
        "  func testA() { verify() }\n  override func hook() { XCTAssertNil(b) }\n}\n",
        "Tests/ATests/BaseCase.swift": "import XCTest\nclass BaseCase: XCTestCase {\n"
        "  func verify() { hook() }\n  func hook() { XCTFail() }\n}\n",
    },
}  # fmt: skip


@pytest.mark.parametrize("files", OVERRIDDEN.values(), ids=OVERRIDDEN)
def test_a_method_of_the_class_of_the_test_takes_the_place_of_the_base_s(read: Read, files: dict[str, str]) -> None:
    [found] = [one for one in read(files).values() if one is not None]
    assert [(one["by"].lower(), one["relation"], one.get("file")) for one in found.checks] == [
        ("self.hook", "none", None)
    ]


def php(base: str, *, uses: str = "") -> dict[str, str]:
    """A test of a class without a `hook` of its own, which calls `verify` of a base."""
    own = f"{PHP}class ATest extends Base {{\n{uses}\npublic function testA(): void {{ $this->verify(); }}\n}}\n"
    return {
        "tests/ATest.php": own,
        "tests/Base.php": f"{PHP}abstract class Base extends Low {{\n{base}\n}}\n",
        "tests/Low.php": f"{PHP}abstract class Low extends TestCase {{\n"
        "protected function verify() { $this->hook(); }\nprotected function hook() { $this->fail(); }\n}\n",
        "tests/Hooked.php": f"{PHP}trait Hooked {{\nprotected function hook() {{ $this->assertTrue($b); }}\n}}\n",
        "composer.json": '{"autoload-dev": {"psr-4": {"App\\\\Tests\\\\": "tests/"}}}',
    }


@pytest.mark.parametrize(
    ("files", "relation", "file"),
    [
        (php(""), "fails", "tests/Low.php"),
        (php("protected function hook() { $this->assertNull($b); }"), "none", "tests/Base.php"),
        (php("protected function hook() { $this->assertNull($b); }", uses="use Hooked;"), "truthy", "tests/Hooked.php"),
    ],
)
def test_the_nearest_base_or_trait_with_such_a_method_counts(
    read: Read, files: dict[str, str], relation: str, file: str
) -> None:
    [found] = [one for one in read(files).values() if one is not None]
    assert [(one["by"], one["relation"], one["file"]) for one in found.checks] == [("self.hook", relation, file)]


def test_a_method_of_another_object_keeps_its_own(read: Read) -> None:
    found = read({
        f"{FOLDER}/ATest.java": f"package shop;\n{JUNIT}class ATest {{\n"
        "  @Test public void a() { Other.verify(); }\n  void hook() { assertNull(b); }\n}\n",
        f"{FOLDER}/Other.java": f"package shop;\n{JUNIT}class Other {{\n"
        "  static void verify() { hook(); }\n  static void hook() { fail(); }\n}\n",
    })["a"]  # fmt: skip
    assert found is not None
    assert [(one["by"], one["relation"]) for one in found.checks] == [("self.hook", "fails")]


def test_go_calls_the_method_of_the_type_in_which_it_stands(read: Read) -> None:
    head = 'package a\nimport ("testing"; "github.com/stretchr/testify/suite")\n'
    found = read({
        "go.mod": "module a\n",
        "a_test.go": f"{head}type A struct {{ Base }}\nfunc TestA(t *testing.T) {{ suite.Run(t, new(A)) }}\n"
        "func (s *A) TestB() { s.verify() }\nfunc (s *A) hook() { s.Nil(1) }\n"
        "type Base struct { suite.Suite }\nfunc (s *Base) verify() { s.hook() }\n"
        "func (s *Base) hook() { s.True(f()) }\n",
    })["TestB"]  # fmt: skip
    assert found is not None
    assert [(one["by"], one["relation"]) for one in found.checks] == [("self.hook", "truthy")]

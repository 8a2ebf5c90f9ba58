"""Checks of functions in other files that a test calls, language by language."""

import pytest
from testlist_harness.checks import Followed, Read, followed

GO = 'package a\nimport "testing"\n'
SAME = "func same(t *testing.T, a int) { if a != 1 { t.Fatal() } }\n"
RUBY = "require 'minitest/autorun'\n"
PHP = "<?php\nnamespace App\\Tests;\n"
CASE = "use PHPUnit\\Framework\\TestCase;\n"
CARGO = {"Cargo.toml": "[package]\nname = 'a'\n"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # a base of the repository by the name of its file, required or not
        (
            {
                "test/a_test.rb": f"{RUBY}class ATest < BaseTest\n  def test_a\n    verify 1\n  end\nend\n",
                "test/base_test.rb": "class BaseTest < Minitest::Test\n  def verify(a)\n    assert_equal 1, a\n  end\nend\n",
            },
            [("self.verify", "test/base_test.rb")],
        ),
        # a class that the required file goes on with
        (
            {
                "test/a_test.rb": 'require "test_helper"\nclass ATest < Minitest::Test\n  def test_a\n    verify\n  end\nend\n',
                "test/test_helper.rb": "class Minitest::Test\n  def verify() = refute_nil(1)\nend\n",
            },
            [("self.verify", "test/test_helper.rb")],
        ),
        # a module of the same outer module, and a base of a base
        (
            {
                "test/a_test.rb": f"{RUBY}module M\n  class ATest < Minitest::Test\n    include DeepHelper\n"
                "    def test_a\n      verify\n    end\n  end\nend\n",
                "test/support/deep_helper.rb": "module M\n  module DeepHelper\n    include LowHelper\n  end\nend\n",
                "test/support/low_helper.rb": "module M::LowHelper\n  def verify() = flunk\nend\n",
            },
            [("self.verify", "test/support/low_helper.rb")],
        ),
        # a method outside of classes, and one of a module that all groups include
        (
            {
                "spec/a_spec.rb": "RSpec.describe 'A' do\n  it 'works' do\n    verify\n    compare\n  end\nend\n",
                "spec/spec_helper.rb": "RSpec.configure do |c|\n  c.include Comparing\nend\n"
                "def verify() = expect(1).to(eq(1))\n",
                "spec/support/comparing.rb": "module Comparing\n  def compare() = expect(1).to(eq(1))\nend\n",
            },
            [("self.verify", "spec/spec_helper.rb"), ("self.compare", "spec/support/comparing.rb")],
        ),
    ],
)  # fmt: skip
def test_ruby_follows_bases_modules_and_what_is_required(read: Read, files: dict[str, str], expected: Followed) -> None:
    assert followed(read, files) == expected


@pytest.mark.parametrize(
    "files",
    [
        # two files of the name, as near as each other
        {
            "c/test/a_test.rb": f"{RUBY}class ATest < Minitest::Test\n  include Base\n  def test_a\n    verify\n  end\nend\n",
            "test/x/base.rb": "module Base\n  def verify() = flunk\nend\n",
            "test/y/base.rb": "module Base\n  def verify() = flunk\nend\n",
        },
        # a class of the same file that has nothing to do with the test
        {
            "test/a_test.rb": f"{RUBY}class Fake\n  def verify() = flunk\nend\n"
            "class ATest < Minitest::Test\n  def test_a\n    verify\n  end\nend\n"
        },
        # a class of this name in another module
        {
            "test/a_test.rb": f"{RUBY}class ATest < BaseTest\n  def test_a\n    verify\n  end\nend\n",
            "test/base_test.rb": "module Other\n  class BaseTest\n    def verify() = flunk\n  end\nend\n",
        },
    ],
)  # fmt: skip
def test_ruby_says_nothing_where_it_is_not_sure(read: Read, files: dict[str, str]) -> None:
    [found] = read(files).values()
    assert found is not None
    assert (found.checks, found.cannot_fail) == ((), None)


def test_php_follows_bases_traits_and_static_methods_by_their_namespaces(read: Read) -> None:
    files = {
        "tests/Unit/ATest.php": "<?php\nnamespace App\\Tests\\Unit;\nuse App\\Tests\\{Base, Support\\Checker};\n"
        "class ATest extends Base { function test_a() { $this->verify(1); $this->compare(); Checker::check(2); } }",
        "tests/Base.php": f"{PHP}{CASE}abstract class Base extends TestCase {{ use Support\\Comparing;\n"
        "  function verify($a) { $this->assertSame(1, $a); } }",
        "tests/Support/Comparing.php": "<?php\nnamespace App\\Tests\\Support;\n"
        "trait Comparing { function compare() { $this->assertTrue(f()); } }",
        "tests/Support/Checker.php": "<?php\nnamespace App\\Tests\\Support;\nuse PHPUnit\\Framework\\Assert;\n"
        "class Checker { static function check($a) { Assert::assertSame(1, $a); } }",
        "other/Base.php": "<?php\nnamespace Other;\nclass Base { function verify($a) { exit; } }",
    }
    assert followed(read, files, "test_a") == [
        ("self.verify", "tests/Base.php"),
        ("self.compare", "tests/Support/Comparing.php"),
        ("Checker.check", "tests/Support/Checker.php"),
    ]


def test_a_php_class_of_another_namespace_is_no_base(read: Read) -> None:
    files = {
        "tests/ATest.php": f"{PHP}class ATest extends BaseTestCase {{ function test_a() {{ $this->verify(); }} }}",
        "tests/BaseTestCase.php": f"<?php\nnamespace Other;\n{CASE}"
        "class BaseTestCase extends TestCase { function verify() { $this->assertTrue(f()); } }",
    }
    assert followed(read, files, "test_a") == []


def test_pest_takes_functions_from_its_file(read: Read) -> None:
    files = {
        "tests/Unit/ATest.php": "<?php\ntest('a', function () { verify(1); });",
        "tests/Pest.php": "<?php\nfunction verify($a) { expect($a)->toBe(1); }",
        "composer.json": '{"require-dev": {"pestphp/pest": "*"}}',
    }
    assert followed(read, files) == [("verify", "tests/Pest.php")]


def test_go_follows_functions_of_its_package_methods_of_a_suite_and_imported_packages(read: Read) -> None:
    files = {
        "go.mod": "module example.org/shop\n",
        "a/a_test.go": f'{GO}import tu "example.org/shop/internal/testutil"\n'
        "type S struct { Base }\nfunc (s *S) TestB(t *testing.T) { s.verify(t) }\n"
        "func TestA(t *testing.T) { same(t, 2); tu.Check(t) }\n"
        'func TestS(t *testing.T) { s := &S{}; t.Run("inner", func(t *testing.T) { s.TestB(t) }) }\n'
        "func helper(t *testing.T) { s := S{}; s.TestB(t) }\n",
        "a/b_test.go": f"{GO}{SAME}type Base struct{{}}\nfunc (b *Base) verify(t *testing.T) {{ t.Fatal() }}\n",
        "internal/testutil/check.go": 'package testutil\nimport "testing"\nfunc Check(t *testing.T) { t.Fatal() }\n',
    }
    assert followed(read, files, "TestA") == [("same", "a/b_test.go"), ("tu.Check", "internal/testutil/check.go")]


@pytest.mark.parametrize(
    ("body", "others"),
    [
        ("same := func(*testing.T, int) {}; same(t, 2)", {"a/b_test.go": GO + SAME}),
        ("var same = f; same(t, 2)", {"a/b_test.go": GO + SAME}),
        ("for _, same := range fs { same(t, 2) }", {"a/b_test.go": GO + SAME}),
        ("func(same F) { same(t, 2) }(f)", {"a/b_test.go": GO + SAME}),
        ("same(t, 2)", {"a/b_test.go": GO.replace("package a", "package a_test") + SAME}),
        ("same(t, 2)", {"a/b_test.go": GO + SAME, "a/c_test.go": f"//go:build windows\n\n{GO}{SAME}"}),
        ("same(t, 2)", {"b/b_test.go": GO + SAME}),
    ],
)
def test_go_leaves_variables_other_packages_and_what_is_there_twice(
    read: Read, body: str, others: dict[str, str]
) -> None:
    files = {"go.mod": "module shop\n", "a/a_test.go": f"{GO}func TestA(t *testing.T) {{ {body} }}\n", **others}
    assert followed(read, files, "TestA") == []


JAVA, KOTLIN = "src/test/java/shop/{}.java", "src/test/kotlin/shop/{}.kt"


def each(read: Read, files: dict[str, str]) -> dict[str, Followed]:
    """The checks of functions that each test calls; an empty name for its own file."""
    found = read({path: f"package shop;\n{text}" for path, text in files.items()})
    return {name: [(check["by"], check.get("file", "")) for check in one.checks] for name, one in found.items() if one}


def test_java_follows_bases_and_outer_classes(read: Read) -> None:
    test = """class CartTest extends Near<Cart> {
  @Test void a() { near(1); }
  @Test void b() { this.far(2); }
  @Test void c() { outer(3); }
  @Test void d() { stranger(4); }
  void outer(int c) { assertEquals(3, c); }
  @Nested class Inner extends Own { @Test void e() { outer(5); own(6); } }
  static class Own { void own(int e) { assertEquals(6, e); } }
  static class Other { void stranger(int d) { assertEquals(4, d); } }
}
"""
    files = {
        JAVA.format("CartTest"): f"import org.junit.jupiter.api.*;\n{test}",
        JAVA.format("Near"): "abstract class Near<T> extends Far<T> { void near(T a) { assertNull(a); far(a); } }\n",
        JAVA.format("Far"): "abstract class Far<T> implements All { void far(T a) { assertTrue(a); } }\n",
    }
    assert each(read, files) == {
        "a": [("self.near", JAVA.format("Near")), ("self.far", JAVA.format("Far"))],
        "b": [("self.far", JAVA.format("Far"))],
        "c": [("self.outer", "")],
        "d": [],
        "e": [("self.outer", ""), ("self.own", "")],
    }


def test_kotlin_follows_bases_companions_and_functions_of_the_file(read: Read) -> None:
    test = """class CartTest : Near<Int>(1), Priced {
  @Test fun a() { near(1) }
  @Test fun b() { ofFile(2) }
  @Test fun c() { ofAll(3) }
  companion object { fun ofAll(c: Int) { assertNotNull(c) } }
}
fun ofFile(b: Int) { assertNull(b) }
"""
    files = {
        KOTLIN.format("CartTest"): f"import org.junit.jupiter.api.*\n{test}",
        KOTLIN.format("Near"): "import kotlin.test.*\nopen class Near<T> { fun near(a: T) { assertNotNull(a) } }\n",
    }
    assert each(read, files) == {
        "a": [("self.near", KOTLIN.format("Near"))],
        "b": [("self.ofFile", "")],
        "c": [("self.ofAll", "")],
    }


def test_csharp_follows_bases_outer_and_partial_types_and_static_methods(read: Read) -> None:
    files = {
        "test/ATests.cs": "using Xunit;\npublic partial class ATests : BaseTests<int> {\n"
        "  [Fact] public void A() { Verify(1); Compare(); Checking.Check(1); }\n}\n",
        "test/ATests.Parts.cs": "public partial class ATests { }\n",
        "test/Common/BaseTests.cs": "using Xunit;\npublic class BaseTests<T> : Root {\n"
        "  protected void Verify(int a) { Assert.Equal(1, a); }\n}\n",
        "test/Common/Root.cs": "using Xunit;\npublic class Root { protected void Compare() { Assert.True(F()); } }\n",
        "test/Common/Checking.cs": "using Xunit;\n"
        "public static class Checking { public static void Check(int a) { Assert.Equal(1, a); } }\n",
    }
    assert followed(read, files, "A") == [
        ("self.Verify", "test/Common/BaseTests.cs"),
        ("self.Compare", "test/Common/Root.cs"),
        ("Checking.Check", "test/Common/Checking.cs"),
    ]


def test_rust_follows_modules_uses_and_macros_of_a_crate_of_tests(read: Read) -> None:
    files = CARGO | {
        "tests/all.rs": "#[macro_use]\nmod macros;\nmod common;\nmod inner;\n"
        "#[test]\nfn a() { common::verify(1); same!(1, 2); }\n",
        "tests/common/mod.rs": "pub fn verify(a: i32) { assert_eq!(a, 1); }\n",
        "tests/macros.rs": "macro_rules! same { ($a:expr, $b:expr) => { if $a != $b { panic!() } } }\n",
        "tests/inner.rs": "use crate::common::{verify as check};\nuse super::common;\n"
        "#[test]\nfn b() { check(1); }\n#[test]\nfn c() { common::verify(2); println!(); }\n",
    }
    assert followed(read, files, "a") == [("common.verify", "tests/common/mod.rs"), ("same!", "tests/macros.rs")]
    assert followed(read, files, "b") == [("check", "tests/common/mod.rs")]
    assert followed(read, files, "c") == [("common.verify", "tests/common/mod.rs")]


def test_what_stands_above_a_rust_module_is_looked_for_in_its_own_file(read: Read) -> None:
    files = CARGO | {
        "src/lib.rs": "mod shop;\n",
        "src/shop.rs": "mod cart;\n#[cfg(test)]\nmod tests {\n"
        " fn verify() { assert!(f()); }\n fn check() { assert!(f()); }\n}\n",
        "src/shop/cart.rs": "fn verify() {}\n#[cfg(test)]\nmod should {\n use super::*;\n"
        " #[test]\n fn a() { verify(); }\n"
        " mod more { use super::super::*; use super::super::super::check;\n"
        "  #[test]\n fn b() { verify(); }\n #[test]\n fn c() { check(); } }\n}\n",
    }
    assert followed(read, files, "a") == []
    assert followed(read, files, "b") == []
    assert followed(read, files, "c") == [("check", "src/shop.rs")]


def test_a_rust_macro_that_two_files_have_is_followed_to_neither(read: Read) -> None:
    macro = "macro_rules! same { ($a:expr) => { assert!($a) } }\n"
    files = CARGO | {
        "tests/a.rs": "#[test]\nfn a() { same!(1); other::verify(); }\n",
        "tests/b.rs": macro,
        "tests/c.rs": macro,
        "tests/other.rs": "pub fn verify() { assert!(f()); }\n",  # no module of this crate
    }
    assert followed(read, files, "a") == []


def test_swift_follows_functions_of_its_target_and_bases(read: Read) -> None:
    files = {
        "Tests/ATests/ATests.swift": "import XCTest\nfinal class ATests: BaseCase {\n"
        "  func testA() { verify(1); check(); compare() }\n  func testB() { twice() }\n}\n",
        "Tests/ATests/BaseCase.swift": "import XCTest\nclass BaseCase: XCTestCase {\n"
        "  func verify(_ a: Int) { XCTAssertEqual(a, 1) }\n}\n",
        "Tests/ATests/Checks.swift": "import XCTest\nfunc check() { XCTAssertTrue(f()) }\n"
        "extension XCTestCase { func compare() { XCTAssertTrue(f()) } }\nfunc twice() { XCTFail() }\n",
        "Tests/ATests/More.swift": "import XCTest\nfunc twice() { XCTFail() }\n",
        "Tests/BTests/Checks.swift": "import XCTest\nfunc check() { XCTFail() }\n",
    }
    assert followed(read, files, "testA") == [
        ("self.verify", "Tests/ATests/BaseCase.swift"),
        ("self.check", "Tests/ATests/Checks.swift"),
        ("self.compare", "Tests/ATests/Checks.swift"),
    ]
    assert followed(read, files, "testB") == []


def test_cpp_follows_functions_of_headers_that_it_includes(read: Read) -> None:
    files = {
        "test/a_test.cc": '#include <gtest/gtest.h>\n#include "checks.h"\n'
        "TEST(A, B) { same(1); x.other(); auto local = [](int) {}; local(1); B(); }\n",
        "test/checks.h": "inline void same(int a) { EXPECT_EQ(a, 1); }\nvoid other() { EXPECT_EQ(a, 1); }\n"
        "void local(int) { FAIL(); }\nvoid B() { FAIL(); }\n",
        "test/unseen.h": "inline void same(int a) { FAIL(); }\n",
    }
    assert followed(read, files, "B") == [("same", "test/checks.h")]

"""Whether tests of each language are accused of never failing, by all that their bodies do."""

from collections.abc import Callable

import pytest
from testlist_harness.checks import Read

#: a body -> why a test with it passes whatever the code does; None if it may fail
Bodies = dict[str, str | None]
CATCH_RUST = "std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {"


def go(bodies: list[str]) -> dict[str, str]:
    head = 'package a\nimport ("testing"; "github.com/stretchr/testify/assert")\n'
    tests = (f"func TestT{place}(t *testing.T) {{\n{body}\n}}\n" for place, body in enumerate(bodies))
    return {"go.mod": "module a\n", "a_test.go": head + "".join(tests)}


def java(bodies: list[str]) -> dict[str, str]:
    head = (
        "import org.junit.Test;\nimport static org.junit.Assert.*;\n"
        "import static org.assertj.core.api.Assertions.assertThat;\n"
        "class ATest {\n  private static final int SIZE = 3;\n  String name;\n  static class Inner { }\n"
        "  @Ignore @Test public void other() { run(); }\n"
    )
    tests = (f"  @Test public void t{place}() {{\n{body}\n  }}\n" for place, body in enumerate(bodies))
    return {"src/test/java/ATest.java": f"{head}{''.join(tests)}}}\n"}


def kotlin(bodies: list[str]) -> dict[str, str]:
    head = "import kotlin.test.*\nimport io.kotest.matchers.shouldBe\nclass ATest {\n  val size = 3\n"
    tests = (f"  @Test fun t{place}() {{\n{body}\n  }}\n" for place, body in enumerate(bodies))
    return {"src/test/kotlin/ATest.kt": f"{head}{''.join(tests)}}}\n"}


def php(bodies: list[str]) -> dict[str, str]:
    head = "<?php\nnamespace A;\nuse PHPUnit\\Framework\\TestCase;\nfinal class ATest extends TestCase {\n"
    tests = (f"public function testT{place}(): void {{\n{body}\n}}\n" for place, body in enumerate(bodies))
    return {"phpunit.xml": "<phpunit/>", "tests/ATest.php": f"{head}{''.join(tests)}}}\n"}


def minitest(bodies: list[str]) -> dict[str, str]:
    tests = (f"def test_t{place}\n{body}\nend\n" for place, body in enumerate(bodies))
    return {"test/a_test.rb": f'require "minitest/autorun"\nclass ATest < Minitest::Test\n{"".join(tests)}end\n'}


def rspec(bodies: list[str]) -> dict[str, str]:
    tests = (f'it "t{place}" do\n{body}\nend\n' for place, body in enumerate(bodies))
    return {".rspec": "--require spec_helper", "spec/a_spec.rb": f'RSpec.describe "a" do\n{"".join(tests)}end\n'}


def rust(bodies: list[str]) -> dict[str, str]:
    tests = (f"#[test]\nfn t{place}() {{\n{body}\n}}\n" for place, body in enumerate(bodies))
    manifest = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n'
    return {"Cargo.toml": manifest, "tests/a.rs": "".join(tests)}


def xunit(bodies: list[str]) -> dict[str, str]:
    head = "using Xunit;\npublic class ATest {\n  const int Size = 3;\n  public TestContext TestContext { get; set; }\n"
    tests = (f"  [Fact] public void T{place}() {{\n{body}\n  }}\n" for place, body in enumerate(bodies))
    project = '<Project><ItemGroup><PackageReference Include="xunit" /></ItemGroup></Project>'
    return {"tests/a.csproj": project, "tests/ATest.cs": f"{head}{''.join(tests)}}}\n"}


def nunit(bodies: list[str]) -> dict[str, str]:
    files = xunit(bodies)
    change = [("xunit", "NUnit"), ("using Xunit;", "using NUnit.Framework;"), ("[Fact]", "[Test]")]
    for before, after in change:
        files = {path: source.replace(before, after) for path, source in files.items()}
    return files


def swift(bodies: list[str]) -> dict[str, str]:
    head = "import XCTest\nimport Testing\nimport Nimble\nfinal class ATests: XCTestCase {\n"
    tests = (f"func testT{place}() throws {{\n{body}\n}}\n" for place, body in enumerate(bodies))
    return {"Package.swift": "// swift-tools-version:5.5\n", "Tests/ATests.swift": f"{head}{''.join(tests)}}}\n"}


def javascript(bodies: list[str]) -> dict[str, str]:
    tests = (f"test('t{place}', () => {{\n{body}\n}});\n" for place, body in enumerate(bodies))
    return {"a.test.js": "import { test, expect, assert } from 'vitest';\n" + "".join(tests)}


def python(bodies: list[str]) -> dict[str, str]:
    tests = (f"def test_t{place}():\n{indented(body)}\n" for place, body in enumerate(bodies))
    return {"test_a.py": "".join(tests)}


def indented(body: str) -> str:
    return "".join(f"    {line}\n" for line in body.splitlines())


def cpp(bodies: list[str]) -> dict[str, str]:
    tests = (f"TEST(A, T{place}) {{\n{body}\n}}\n" for place, body in enumerate(bodies))
    return {"a_test.cc": "#include <gtest/gtest.h>\n" + "".join(tests)}


TABLE: list[tuple[Callable[[list[str]], dict[str, str]], Bodies]] = [
    (go, {
        "total := 1 + 2\n_ = total": "no_check", 'var name = "a"\n_ = name': "no_check", "a := f()\n_ = a": None,
        "return\nif f() != 1 { t.Fatal() }": "unreachable", "if f() { return }\nassert.True(t, f())": None,
        "t.Skip()\nassert.True(t, f())": "unreachable", "t.Parallel()\nassert.Equal(t, 1, 1)": "constant",
        "t.Parallel()\nt.Parallel()": None, "if 1 != 1 { t.Fatal() }": "constant", "if 1 != 2 { t.Fatal() }": None,
        "a, b := 1, 2\nif a == b { t.Fatal() }": "constant", "a := 1\nif a == 1 { t.Fatal() }": None,
        "assert.Equal(t, 1, 2)": None, "assert.Equal(t, 1, 1, f())": None, "assert.Equal(other, 1, 1)": None,
        "defer func() { recover() }()\nif f() != 1 { t.Fatal() }": None,
    }),
    (java, {
        "int total = 1 + 2; total = 3;": "no_check", 'String name = "a\\n";': "no_check", "int total = f();": None,
        "Integer a = null; int b = a;": None, "if (true) { return; } assertTrue(f());": "unreachable",
        "if (true) return; assertTrue(f());": "unreachable", "if (f()) return; assertTrue(f());": None,
        "try { assertTrue(f()); } catch (Throwable t) { }": "ignored",
        "try { assertTrue(f()); } catch (Exception e) { }": None,
        "try { assertTrue(f()); } catch (Throwable t) { throw t; }": None,
        "try { assertTrue(f()); } catch (Throwable t) { } finally { f(); }": None,
        "try { assertTrue(f()); System.exit(1); } catch (Throwable t) { }": None,
        "try { run(); } catch (Throwable t) { } assertTrue(f());": None,
        "assertThat(true).isTrue();": "constant", "assertThat(1).isEqualTo(1);": "constant",
        "assertThat(1).isEqualTo(2);": None, "assertThat(f()).isEqualTo(1);": None, "assertEquals(1, 2);": None,
    }),
    (kotlin, {
        "val total = 1 + 2": "no_check", 'var n = "a"\nn = "b"': "no_check", "val total = f()": None, 'val n = "$a"': None,
        "val total by lazy { f() }": None, "return\nassertTrue(f())": "unreachable", "if (f()) return\nassertTrue(f())": None,
        "try { assertTrue(f()) } catch (t: Throwable) { }": "ignored",
        "try { assertTrue(f()) } catch (e: Exception) { }": None,
        "1 shouldBe 1": "constant", "true shouldBe true": "constant", "1 shouldBe 2": None, "f() shouldBe 1": None,
    }),
    (php, {
        "$total = 1 + 2;": "no_check", "$total = f();": None, '$name = "a $b";': None,
        "return;\n$this->assertTrue(f());": "unreachable", "if (f()) return;\n$this->assertTrue(f());": None,
        "$this->markTestSkipped('a'); $this->assertTrue(f());": "unreachable",
        "try { $this->assertTrue(f()); } catch (\\Throwable $e) { }": "ignored",
        "try { $this->assertTrue(f()); } catch (Throwable $e) { }": None,
        "try { $this->assertTrue(f()); } catch (\\Exception $e) { }": None,
        "try { $this->createMock(A::class)->expects($this->once()); } catch (\\Throwable $e) { }": None,
        "self::assertSame(1, 1);": "constant", "self::assertSame(1, 2);": None,
    }),
    (minitest, {
        "total = 1 + 2\nother = total": "no_check", "a = b = 3": "no_check", "total = f": None, 'name = "a#{f}"': None,
        "return\nassert f": "unreachable", "return if f\nassert f": None, 'skip "a"\nassert f': "unreachable",
        "begin\nassert f\nrescue Exception => e\nnil\nend": "ignored", "assert f\nrescue Exception": "ignored",
        "begin\nassert f\nrescue => e\nend": None, "begin\nassert f\nrescue Exception\nraise\nend": None,
        "assert f\nrescue Exception\nensure\nf\nend\nbegin": None, "assert true": "constant", "assert 1": "constant",
        "assert_equal 1, 1": "constant", "_(1).must_equal 1": "constant", "assert nil": None, "assert_equal 1, 2": None,
        "_(1).must_equal 2": None, "refute true": None,
    }),
    (rspec, {
        "expect(true).to be true": "constant", "expect(1).to eq(1)": "constant", "expect(nil).to be_nil": "constant",
        "expect(1).to eq(2)": None, "expect(1).not_to eq(1)": None, "expect(f).to eq(1)": None,
        "next\nexpect(f).to eq(1)": "unreachable", "return\nexpect(f).to eq(1)": None,
        "begin\nexpect(f).to eq(1)\nrescue Exception\nend": None,
    }),
    (rust, {
        "let total = 1 + 2;\nlet _ = total;": "no_check", 'let _name = "a";': "no_check", "let total = f();": None,
        "return;\nassert!(f());": "unreachable", "if f() { return; }\nassert!(f());": None,
        f"let _ = {CATCH_RUST} assert!(f()); }}));": "ignored",
        f"let found = {CATCH_RUST} assert!(f()); }}));\nassert!(found.is_ok());": None,
        f"{CATCH_RUST} assert!(f()); }})).unwrap();": None,
        f"let _ = {CATCH_RUST} assert!(f()); std::process::exit(1); }}));": None,
        "assert!(1 == 1);": "constant", "assert!(!false);": "constant", "assert_ne!(1, 2);": "constant",
        "assert!(1 == 2);": None, 'assert!(true, "{}", f());': None,
    }),
    (xunit, {
        "int total = 1 + 2; total = 3;": "no_check", 'var name = "a";': "no_check", 'var name = $"{F()}";': None,
        "Total = 3;": None, "return;\nAssert.True(F());": "unreachable", "if (F()) return;\nAssert.True(F());": None,
        "try { Assert.True(F()); } catch { }": "ignored", "try { Assert.True(F()); } catch (Exception) { }": "ignored",
        "try { Assert.True(F()); } catch (Exception) { throw; }": None,
        "try { Assert.True(F()); } catch (Exception e) when (F()) { }": None,
        "try { Assert.True(F()); } catch (ArgumentException) { }": None,
        "true.Should().BeTrue();": "constant", "1.Should().Be(1);": "constant", "1.ShouldBe(1);": "constant",
        "1.Should().Be(2);": None, "1.ShouldBe(2);": None, "Assert.Equal(1, 2);": None,
    }),
    (nunit, {
        "Assert.That(true, Is.True);": "constant", "Assert.That(1, Is.EqualTo(1));": "constant",
        "Assert.That(1, Is.EqualTo(2));": None, "Assert.That(1, Is.EqualTo(F()));": None,
        "try { Assert.That(F(), Is.True); } catch { }": None, "return;\nAssert.That(F());": "unreachable",
    }),
    (swift, {
        "let total = 1 + 2\n_ = total": "no_check", 'var n = "a"\nn = "b"': "no_check", "let total = f()": None,
        'let n = "\\(f())"': None, "/* later */": "empty", "return;\nXCTAssertTrue(f())": "unreachable",
        "return ()\nXCTAssertTrue(f())": "unreachable", "return\nXCTAssertTrue(f())": None,
        "return\nlet a = f()\nXCTAssertTrue(a)": "unreachable", "if f() { return }\nXCTAssertTrue(f())": None,
        "do { XCTAssertTrue(try f()) } catch { }": None, "XCTAssert(1 == 1)": "constant", "XCTAssertEqual(1, 2)": None,
        "#expect(true)": "constant", "#expect(1 == 1)": "constant", "#expect(1 == 2)": None, "#expect(f())": None,
        "expect(1).to(equal(1))": "constant", "expect(1) == 1": "constant", "expect(1).toNot(equal(1))": None,
        "expect(1) == 2": None, "expect(f()) == 1": None,
    }),
    (javascript, {
        "const total = 1 + 2;": "no_check", "let n = 'a'; n = 'b';": "no_check", "const a = 1; a = 2;": None,
        "const total = f();": None, "const n = `${f()}`;": None, "return;\nexpect(f()).toBe(1);": "unreachable",
        "if (f()) return;\nexpect(f()).toBe(1);": None, "if (1 !== 1) { expect(f()).toBe(1); }": "constant",
        "try { expect(f()).toBe(1); } catch { }": "ignored", "try { expect.soft(f()).toBe(1); } catch { }": None,
        "try { f({done: 1, once: 2}); expect(f()).toBe(1); } catch { }": "ignored", "try { f(done); expect(f()).toBe(1); } catch { }": None,
        "try { a.once('b', f); expect(f()).toBe(1); } catch { }": None,
        "expect(true).toBeTruthy();": "constant", "assert.ok(true);": "constant", "expect(null).toBeNull();": "constant",
        "expect(true).to.be.true;": "constant", "expect(1).toEqual(2);": None, "expect(false).toBeTruthy();": None,
    }),
    (python, {
        "total = 1 + 2\nother = total * 3": "no_check", "total = 'a' + 1": None, "total = 1 - f()": None,
        "a = None\nb = -a": None,
    }),
    (cpp, {
        "int total = 1 + 2;\n(void)total;": "no_check", "const bool a = true;\n(void)a;": "no_check", "auto a = f();": None,
        "return;\nEXPECT_EQ(1, f());": "unreachable", "if (f()) { return; }\nEXPECT_EQ(1, f());": None,
        "try { EXPECT_EQ(1, f()); } catch (...) { }": None, "EXPECT_EQ(1, 1);": "constant", "CHECK(1 == 1);": "constant",
        "EXPECT_FALSE(false);": "constant", "BOOST_CHECK_EQUAL(1, 1);": "constant", "EXPECT_NE(1, 2);": "constant",
        "EXPECT_EQ(1, 2);": None, "CHECK(1 == 2);": None, "EXPECT_TRUE(true) << f();": None, 'EXPECT_EQ("a", "a");': None,
        "EXPECT_EQ(1, f());": None,
    }),
]  # fmt: skip


@pytest.mark.parametrize(("files", "bodies"), TABLE, ids=[files.__name__ for files, _ in TABLE])
def test_a_body_is_accused_only_of_what_is_known(
    read: Read, files: Callable[[list[str]], dict[str, str]], bodies: Bodies
) -> None:
    found = read(files([*bodies]))
    said = {name.lower(): one.cannot_fail if one else "?" for name, one in found.items()}
    answers = {name.removeprefix("test").lstrip("_"): answer for name, answer in said.items()}
    assert {body: answers[f"t{place}"] for place, body in enumerate(bodies)} == bodies


@pytest.mark.parametrize(("files", "bodies"), TABLE, ids=[files.__name__ for files, _ in TABLE])
def test_a_body_of_thousands_of_statements_or_deep_expressions_is_read(
    read: Read, files: Callable[[list[str]], dict[str, str]], bodies: Bodies
) -> None:
    plain = next(body for body, reason in bodies.items() if reason in ("no_check", "constant"))
    deep = "(" * 300 + "1" + ")" * 300
    found = read(files(["\n".join([plain] * 3000), deep]))
    assert len([one for name, one in found.items() if name.lower().endswith(("t0", "t1"))]) == 2


@pytest.mark.parametrize(
    ("path", "source", "reason"),
    [
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { [Fact] public void A() { } }", "empty"),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { [Fact] public void A<T>() { } }", None),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { Cart cart = new Cart(); [Fact] public void A() { } }", None),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { Cart Cart { get; } = new(); [Fact] public void A() { } }", None),
        ("tests/ATest.cs", "using Xunit;\npublic class EqualAssertsTest { [Fact] public void A() { Assert.Equal(1, 1); } }", None),
        ("tests/ATest.cs", "using Xunit; using Fact = Retry;\npublic class ATest { [Fact] public void A() { } }", None),
        ("tests/ATest.cs", ("using Xunit;\npublic class ATest { Cart cart; enum E { A = 1 } struct S { } interface I { }\n"
         "record R(int A); delegate void D(int a); static int count; [Fact] public void A() { } }"), "empty"),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { readonly int a = 0; static readonly string b = \"c\"; long d = -8; char e = 'f'; bool g = true; A h = null; [Fact] public void A() { } }", "empty"),
        ("tests/ATest.cs", 'using Xunit;\npublic class ATest { string a = $"{F()}"; [Fact] public void A() { } }', None),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { int a = 1, b = F(); [Fact] public void A() { } }", None),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { static readonly string A = Environment.NewLine; string b = string.Empty; [Fact] public void A() { } }", "empty"),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { string a = Own.NewLine; [Fact] public void A() { } }", None),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { int a = 1 + F(); [Fact] public void A() { } }", None),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { [Fact] public void A() { } }\npublic class B { [SetUp] void SetUp() { } public void Dispose() { } }", "empty"),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { [Fact] public void A() { } [SetUp] void B() { } }", None),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { [Fact] public void A() { } }\n[SetUpFixture] class B { }", None),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { [Fact] public void A() { } }\nclass B { [AssemblyInitialize] void C() { } }", None),
        ("tests/ATest.cs", "using NUnit.Framework;\n[TestFixture(), NonParallelizable]\npublic class ATest { [Test] public void A() { } }", "empty"),
        ("tests/ATest.cs", "using NUnit.Framework;\n[TestFixture(1)]\npublic class ATest { [Test] public void A() { } }", None),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { static int a = F(), b; [Fact] public void A() { } }", None),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { [Own] int a; [Fact] public void A() { } }", None),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { Cart a\n = new(); [Fact] public void A() { } }", None),
        ("tests/ATest.cs", "using Xunit;\npublic class ATest { static ATest() { F(); } [Fact] public void A() { } }", None),
        ("tests/ATest.cs", 'using Xunit;\n[SupportedOSPlatform("macos")]\npublic class ATest { [Fact] public void A() { } }', "empty"),
        ("a_test.cc", '#include <catch2/catch.hpp>\nTEST_CASE("A", "[a]") {}\n', "empty"),
        ("a_test.cc", '#include <catch2/catch.hpp>\nTEST_CASE("A", "[a]") {}\nTEST_CASE("A", "[a]") {}\n', None),
        ("a_test.cc", "#include <gtest/gtest.h>\nTEST(B, A) { return;\n#if C\nEXPECT_EQ(1, f());\n#endif\n}\n", "unreachable"),
        ("a_test.cc", "#include <gtest/gtest.h>\nTEST(B, A) {\n#if C\nreturn;\n#endif\nEXPECT_EQ(1, f());\n}\n", None),
        ("Tests/A.swift", "import XCTest\nclass T: XCTestCase {}\nextension T { func testA() {} }\nstruct B { init() {} }", "empty"),
        ("Tests/A.swift", "import XCTest\nclass T: XCTestCase { let a = f() }\nextension T { func testA() {} }\n", None),
        ("a.test.js", "import { test } from 'vitest'\n// after a while\ntest('A', () => { })\nprocess.env.A", "empty"),
        ("a.test.js", "import { test } from 'vitest'\ntest('A', () => { })\nprocess.on('exit', f)", None),
        ("a.test.js", "import { test } from 'vitest'\nimport { assert } from './own'\ntest('A', () => { })", "empty"),
        ("a.test.js", "import { test } from 'vitest'\nimport { assert } from './own'\ntest('A', () => { assert(true) })", None),
        ("a.test.js", "import { test } from 'vitest'\nimport * as assert from './own'\ntest('A', () => { assert.ok(true) })", None),
        ("a.test.js", "import { test } from 'vitest'\nimport { assert } from './own'\ntest('A', () => { try { assert(f()) } catch { } })", None),
        ("a.test.js", "import { test } from 'vitest'\nimport { expect } from './own'\ntest('A', () => { expect(1).toBe(1) })", None),
        ("a.test.js", "import { test } from './own'\ntest('A', () => { })", None),
        ("tests/ATest.php", ("<?php\nuse PHPUnit\\Framework\\TestCase;\nclass ATest extends TestCase {\n"
         "function testA() { } function a() { $b->before('c'); f('d after e'); } }"), "empty"),
        ("tests/ATest.php", ("<?php\nuse PHPUnit\\Framework\\TestCase;\nclass ATest extends TestCase {\n"
         "function testA() { } #[\nBefore] function a() { } }"), None),
        ("tests/ATest.php", ("<?php\nuse PHPUnit\\Framework\\{TestCase, Attributes\\Before as B};\nclass ATest extends TestCase {\n"
         "function testA() { } #[B] function a() { } }"), None),
        ("a.test.js", "import { test, expect } from 'strange'\ntest('A', () => { })", None),
        ("a.test.js", "import { test } from 'vitest'\nimport { expect } from 'strange'\ntest('A', () => { expect(1).toBe(1) })", None),
        ("a.test.js", "import { test as base } from 'vitest'\nconst test = base.extend({ a: [f, { auto: true }] })\ntest('A', () => { })", None),
        ("a.test.js", "import { test } from 'vitest'\nfunction assert(a) { throw a }\ntest('A', () => { assert(true) })", None),
        ("a.test.js", "const { expect } = require('chai')\nit('A', () => { expect(1).to.equal(1) })", "constant"),
        ("a.test.js", "const assert = require('assert').strict\nit('A', () => { assert.ok(true) })", "constant"),
        ("a.test.js", "const assert = chai.assert\nit('A', () => { assert.ok(true) })", "constant"),
        ("tests/a.rs", '#![cfg_attr(not(feature = "a"), allow(dead_code, x), doc = "b")]\n#[test]\nfn a() { }', "empty"),
        ("tests/a.rs", "#[cfg_attr(miri, ignore)]\n#[test]\nfn a() { }", "empty"),
        ("tests/a.rs", "#![cfg_attr(a, allow(b), test_runner(c))]\n#[test]\nfn a() { }", None),
        ("tests/a.rs", "#[cfg_attr(a, should_panic)]\n#[test]\nfn a() { }", None),
        ("Tests/A.swift", "import XCTest\n@available(macOS 13, *)\nclass T: XCTestCase { public func testA() {} }", "empty"),
        ("Tests/A.swift", "import XCTest\nclass T: XCTestCase { @Own var a: Int; func testA() {} }", None),
        ("Tests/A.swift", "import Testing\n@Suite(.tags(.a)) struct T { @Test(\n.tags(\n.Size.a, // b\n),\n)\n func testA() {} }", "empty"),
        ("Tests/A.swift", "import Testing\nstruct T { @Test(.tags(.a), .enabled(if: f())) func testA() {} }", None),
        ("Tests/A.swift", "import Testing\nstruct T { @Test(.own) func testA() {} }", None),
        ("Tests/A.swift", "import Testing\n@Suite(.own) struct T { @Test func testA() {} }", None),
    ],
)  # fmt: skip
def test_what_is_around_a_test_may_fail_for_it(read: Read, path: str, source: str, reason: str | None) -> None:
    project = {
        "tests/a.csproj": '<Project><ItemGroup><PackageReference Include="xunit" /></ItemGroup></Project>',
        "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\n', "package.json": '{"devDependencies": {"mocha": "1"}}',
        "Package.swift": "// swift-tools-version:5.5\n", "phpunit.xml": "<phpunit/>",
        "own.js": "export function assert(a) { if (a) throw a }\nexport const test = f, expect = f\n",
    }  # fmt: skip
    said = {one.cannot_fail if one else None for one in read({**project, path: source}).values()}
    assert said == {reason}

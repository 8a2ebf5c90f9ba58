"""What rows depend on, by language: whom a change concerns is resolved again, and nobody else."""

from collections.abc import Collection, Mapping

import pytest
from testlist import concerned
from testlist_harness.history import Files, History

PHP = {
    "phpunit.xml": '<phpunit><testsuites><testsuite name="a"><directory>tests</directory></testsuite></testsuites></phpunit>',
    "tests/BaseCase.php": "<?php\nabstract class BaseCase extends PHPUnit\\Framework\\TestCase { function testShared() {} }\n",
    "tests/Helps.php": "<?php\ntrait Helps { function testHelped() {} }\n",
    "tests/ATest.php": "<?php\nclass ATest extends BaseCase { use Helps; function testA() {} }\n",
    "tests/BTest.php": "<?php\nclass BTest extends BaseCase { function testB() {} }\n",
    "tests/CTest.php": "<?php\nclass CTest extends PHPUnit\\Framework\\TestCase { function testC() {} }\n",
}
GO = {
    "go.mod": "module example.org/m\n",
    "a_test.go": 'package m\nimport "testing"\nfunc TestA(t *testing.T) {}\n',
    "suite_test.go": 'package m\nimport (\n"testing"\n"github.com/stretchr/testify/suite"\n)\ntype S struct { suite.Suite }\n'
    "func (s *S) TestOne() {}\nfunc TestS(t *testing.T) { suite.Run(t, new(S)) }\n",
    "more_test.go": "package m\nfunc (s *S) TestTwo() {}\n",
    "b_test.go": 'package m\nimport . "github.com/onsi/ginkgo/v2"\nvar _ = Describe("b", func() { It("one", f) })\n',
}
CSHARP = {
    "T/T.csproj": '<Project Sdk="Microsoft.NET.Sdk"><ItemGroup><PackageReference Include="xunit" /></ItemGroup></Project>',
    "T/Base.cs": "using Xunit;\npublic abstract class Base { [Fact] public void Shared() {} }\n",
    "T/A.cs": "using Xunit;\npublic partial class A : Base { [Fact] public void One() {} }\n",
    "T/A2.cs": "using Xunit;\npublic partial class A { [Fact] public void Two() {} }\n",
    "T/B.cs": "using Xunit;\npublic class B { [Fact] public void Three() {} }\n",
}
TUNIT = {
    "T/T.csproj": '<Project Sdk="Microsoft.NET.Sdk"><ItemGroup><PackageReference Include="TUnit" /></ItemGroup></Project>',
    "T/Base.cs": "public abstract class Base { [Test] public void Shared() {} }\n",
    "T/A.cs": "[InheritsTests]\npublic class A : Base { [Test] public void One() {} }\n",
    "T/B.cs": "public class B { [Test, Needs] public void Two() {} }\n",
    "T/NeedsAttribute.cs": "public class NeedsAttribute : SkipAttribute { }\n",
    "T/Usings.cs": "global using System;\n",
}
JAVA = {
    "src/test/java/p/Base.java": "package p;\nimport org.junit.jupiter.api.Test;\nabstract class Base { @Test void shared() {} }\n",
    "src/test/java/p/Slow.java": "package p;\nimport org.junit.jupiter.api.*;\n@Test @interface Slow {}\n",
    "src/test/java/p/ATest.java": "package p;\nimport org.junit.jupiter.api.Test;\nclass ATest extends Base { @Test void a() {} }\n",
    "src/test/java/p/BTest.java": "package p;\nclass BTest { @Slow void b() {} }\n",
}
SWIFT = {
    "Tests/Base.swift": "import XCTest\nclass Base: XCTestCase { func testShared() {} }\n",
    "Tests/ATests.swift": "import XCTest\nclass ATests: Base { func testA() {} }\n",
}
ELIXIR = {
    "mix.exs": "defmodule M.MixProject do\n  use Mix.Project\nend\n",
    "test/support/data_case.ex": "defmodule DataCase do\n  use ExUnit.CaseTemplate\nend\n",
    "test/support/shared.ex": "defmodule Shared do\n  defmacro __using__(_) do\n    quote do\n"
    '      test "shared" do\n      end\n    end\n  end\nend\n',
    "test/a_test.exs": 'defmodule ATest do\n  use DataCase\n  use Shared\n  test "a" do\n  end\nend\n',
    "test/b_test.exs": 'defmodule BTest do\n  use DataCase\n  test "b" do\n  end\nend\n',
}
SCALA = {
    "src/main/scala/Lib.scala": 'abstract class Lib extends munit.FunSuite {\n  test("of all") {}\n}\n',
    "src/test/scala/Base.scala": 'abstract class Base extends munit.FunSuite {\n  test("shared") {}\n'
    "  def quietly(name: String)(body: => Any) = test(name)(body)\n}\n",
    "src/test/scala/ASuite.scala": 'class ASuite extends Base {\n  quietly("a") { 1 }\n}\n',
    "src/test/scala/BSuite.scala": 'class BSuite extends munit.FunSuite {\n  test("b") {}\n}\n',
    "src/test/scala/LibSuite.scala": 'class LibSuite extends Lib {\n  test("c") {}\n}\n',
}
OBJECTIVE_C = {
    "AppTests/Base.h": "@interface Base : XCTestCase\n@end\n",
    "AppTests/Base.m": "@implementation Base\n- (void)testShared {}\n@end\n",
    "AppTests/ATests.m": "@interface A : Base\n@end\n@implementation A\n- (void)testA {}\n@end\n",
    "AppTests/BTests.mm": "@interface B : A\n@end\n@implementation B\n- (void)testB {}\n@end\n",
}
DART = {
    "test/a_test.dart": "import 'package:test/test.dart';\nimport 'src/shared.dart';\nvoid main() {\n  all();\n"
    "  quietly('a', () {});\n}\n",
    "test/b_test.dart": "import 'package:test/test.dart';\nvoid main() {\n  test('b', () {});\n}\n",
    "test/src/shared.dart": "import 'package:test/test.dart';\nvoid all() {\n  test('shared', () {});\n}\n"
    "void quietly(String name, Function() body) => test(name, body);\n",
}
GHERKIN = {
    "features/a.feature": "Feature: A\n  Scenario: a\n    Given a\n",
    "features/b.feature": "Feature: B\n  Scenario: b\n    Given b\n",
}
BATS = {"test/a.bats": '@test "a" {\n  true\n}\n', "test/b.bats": '@test "b" {\n  true\n}\n'}
ROBOT = {
    "suites/__init__.robot": "*** Settings ***\nTest Tags    a\n",
    "suites/a.robot": "*** Test Cases ***\nA\n    Log    x\n",
    "b.robot": "*** Test Cases ***\nB\n    Log    x\n",
}
#: of other languages: files, what changes in one of them, and what is resolved for it; None: all of the language
OTHERS: Mapping[str, tuple[Mapping[str, str], str, tuple[str, str], Collection[str] | None]] = {
    "php, a test": (PHP, "tests/CTest.php", ("testC", "testD"), {"tests/CTest.php"}),
    "php, a test of a base": (
        PHP,
        "tests/BaseCase.php",
        ("testShared", "testOther"),
        {"tests/ATest.php", "tests/BTest.php"},
    ),
    "php, a test of a trait": (
        PHP,
        "tests/Helps.php",
        ("testHelped", "helped"),
        {"tests/ATest.php", "tests/BTest.php"},
    ),
    "php, another base": (PHP, "tests/CTest.php", ("PHPUnit\\Framework\\TestCase", "BaseCase"), None),
    "go, a function": (GO, "a_test.go", ("TestA", "TestB"), {"a_test.go"}),
    "go, a subtest of a suite": (GO, "more_test.go", ("{}", "{ s.Run(`x`, func() {}) }"), {"more_test.go"}),
    "go, a spec": (GO, "b_test.go", ('"one"', '"two"'), {"b_test.go"}),
    "go, a method of a suite": (GO, "more_test.go", ("TestTwo", "TestThree"), None),
    "c#, a test": (CSHARP, "T/B.cs", ("Three", "Four"), {"T/B.cs"}),
    "c#, a test of a part": (CSHARP, "T/A2.cs", ("Two", "Four"), {"T/A.cs", "T/A2.cs", "T/Base.cs"}),
    "c#, a skip in a base": (CSHARP, "T/Base.cs", ("[Fact]", '[Fact(Skip = "x")]'), {"T/A.cs", "T/A2.cs", "T/Base.cs"}),
    "c#, another base": (CSHARP, "T/B.cs", ("class B", "class B : Base"), None),
    "c#, a class that inherits no tests": (TUNIT, "T/A.cs", ("[InheritsTests]", ""), {"T/A.cs", "T/Base.cs"}),
    "c#, an attribute that skips no more": (TUNIT, "T/NeedsAttribute.cs", (": Skip", ": Some"), None),
    "c#, usings of another framework": (TUNIT, "T/Usings.cs", ("System;", "NUnit.Framework;"), None),
    "java, a test": (JAVA, "src/test/java/p/BTest.java", ("void b", "void c"), {"src/test/java/p/BTest.java"}),
    "java, a test of a base": (
        JAVA,
        "src/test/java/p/Base.java",
        ("void shared", "void other"),
        {"src/test/java/p/Base.java", "src/test/java/p/ATest.java"},
    ),
    "java, an annotation": (
        JAVA,
        "src/test/java/p/Slow.java",
        ("@Test @interface", "@Disabled @Test @interface"),
        None,
    ),
    "swift, a test": (SWIFT, "Tests/ATests.swift", ("testA", "testB"), {"Tests/ATests.swift"}),
    "swift, another base": (SWIFT, "Tests/ATests.swift", (": Base", ": Unknown"), None),
    "elixir, a test": (ELIXIR, "test/b_test.exs", ('"b"', '"c"'), {"test/b_test.exs"}),
    "elixir, a test that others use": (
        ELIXIR,
        "test/support/shared.ex",
        ('"shared"', '"c"'),
        {"test/support/shared.ex"},
    ),
    "elixir, a module that is used no more": (ELIXIR, "test/a_test.exs", ("  use Shared\n", ""), None),
    "scala, a test": (SCALA, "src/test/scala/BSuite.scala", ('"b"', '"c"'), {"src/test/scala/BSuite.scala"}),
    "scala, a test that others inherit": (
        SCALA,
        "src/test/scala/Base.scala",
        ('"shared"', '"other"'),
        {"src/test/scala/Base.scala"},
    ),
    "scala, a test in a file that is read for its class alone": (
        SCALA,
        "src/main/scala/Lib.scala",
        ('"of all"', '"of any"'),
        {"src/test/scala/LibSuite.scala"},
    ),
    "scala, a method that declares tests no more": (
        SCALA,
        "src/test/scala/Base.scala",
        ("test(name)(body)", "1"),
        None,
    ),
    "scala, another base": (SCALA, "src/test/scala/BSuite.scala", ("munit.FunSuite", "Helper"), None),
    "scala, nobody can make it": (SCALA, "src/test/scala/ASuite.scala", ("class A", "abstract class A"), None),
    "objective-c, a test": (OBJECTIVE_C, "AppTests/BTests.mm", ("testB", "testC"), None),
    "objective-c, another base": (OBJECTIVE_C, "AppTests/Base.h", ("XCTestCase", "NSObject"), None),
    "dart, a test": (DART, "test/b_test.dart", ("'b'", "'c'"), None),
    "dart, a function that passes tests on no more": (DART, "test/src/shared.dart", ("test(name, body)", "1"), None),
    "gherkin, a scenario": (GHERKIN, "features/b.feature", ("Scenario: b", "Scenario: c"), {"features/b.feature"}),
    "bats, a test": (BATS, "test/b.bats", ('"b"', '"c"'), {"test/b.bats"}),
    "robot framework, a test": (ROBOT, "b.robot", ("B\n", "C\n"), {"b.robot"}),
    "robot framework, what a folder says": (
        ROBOT,
        "suites/__init__.robot",
        ("Tags    a", "Tags    robot:skip"),
        {"suites/__init__.robot", "suites/a.robot"},
    ),
    "elixir, another template": (ELIXIR, "test/support/data_case.ex", ("ExUnit.CaseTemplate", "GenServer"), None),
}


@pytest.mark.parametrize("change", OTHERS)
def test_other_languages_say_whom_a_change_concerns(history: History, change: str) -> None:
    files, path, (old, new), resolved = OTHERS[change]
    assert old in files[path]
    history.then(files)
    every = set(history.resolved)
    history.then({path: files[path].replace(old, new)})
    assert history.resolved == (every if resolved is None else resolved)
    history.then({path: files[path]})


CASE = "import unittest\nclass Base(unittest.TestCase):\n    def test_x(self): pass\n"
MORE = CASE + "    def test_y(self): pass\n"
SLOW, FAILS = "import pytest\nslow = pytest.mark.skip\n", "import pytest\nslow = pytest.mark.xfail\n"
STARS = {
    "tests/a.py": "from tests.b import *\n",
    "tests/b.py": "from tests.a import *\n" + CASE,
    "tests/test_c.py": "from tests.b import *\n",
    "tests/test_d.py": "from tests.a import *\nclass TestD(Base):\n    def test_d(self): pass\n",
}
AVA = {
    "package.json": '{"devDependencies": {"ava": "1", "jest": "1"}}',
    "lib/shared-tests.js": "test(function () {})\n",
    "src/x.test.js": "import test from 'ava'\nimport '../lib/shared-tests'\ntest('x', t => {})\n",
    "src/y.test.js": "import {test} from '@jest/globals'\nimport '../lib/shared-tests'\ntest('y', () => {})\n",
}


def chain(length: int, form: str) -> str:
    return "".join(form.format(step, step + 1) for step in range(length))


#: what a review found: files, and changes one after the other, each of which must be what a whole run finds
FOUND: Mapping[str, tuple[Mapping[str, str], Files]] = {
    "a module of a folder that is no package": (
        {
            "tests/base/case.py": CASE,
            "tests/test_a.py": "import tests.base.case\nclass TestA(tests.base.case.Base): pass\n",
        },
        {"tests/base/case.py": MORE},
    ),
    "a mark of a folder that is no package": (
        {"tests/marks.py": SLOW, "tests/test_a.py": "import tests.marks\n@tests.marks.slow\ndef test_a(): pass\n"},
        {"tests/marks.py": FAILS},
    ),
    "a package under another name": (
        {
            "tests/__init__.py": "",
            "tests/test_m.py": SLOW,
            "tests/test_a.py": "import tests.test_m\nt = tests\n@t.test_m.slow\ndef test_a(): pass\n",
        },
        {"tests/test_m.py": FAILS},
    ),
    "modules that take all names from each other": (STARS, {"tests/test_d.py": STARS["tests/test_d.py"] + "\n"}),
    "a file that one runner reaches first and knows nothing of": (
        AVA,
        {"src/y.test.js": AVA["src/y.test.js"].replace("import '../lib/shared-tests'\n", "")},
    ),
    "a long chain of Swift": (
        {
            "Tests/Base.swift": "class C0: XCTestCase {}\n" + chain(20, "class C{1}: C{0} {{}}\n"),
            "Tests/A.swift": "class A: C20 { func testA() {} }\n",
            "Tests/Z.swift": "class Z: C7 { func testZ() {} }\n",
        },
        {"Tests/Z.swift": "class Z: C7 { func testY() {} }\n"},
    ),
    "a long chain of what Ruby requires": (
        {
            "spec/a_spec.rb": "require_relative 'b'\ndescribe('a') { it('a') { } }\n",
            "spec/b.rb": "require_relative 'c'\n",
            "spec/c.rb": "require_relative 'd'\n",
            "spec/d.rb": "require_relative 'e_spec'\n",
            "spec/e_spec.rb": "require_relative 'f'\ndescribe('e') { it('e') { } }\n",
            "spec/f.rb": "require 'minitest/autorun'\n",
        },
        {"spec/e_spec.rb": "require_relative 'f'\ndescribe('e') { it('other') { } }\n"},
    ),
    "functions that return each other": (
        {
            "tests/makers.py": chain(9, "def f{0}(): return f{1}\n")
            + "def f9():\n    def test(self): pass\n    return test\n",
            "tests/test_a.py": "import unittest\nfrom tests.makers import f0\nclass A(unittest.TestCase):\n    test_a = f0()\n",
            "tests/test_b.py": "import unittest\nfrom tests.makers import f5\nclass B(unittest.TestCase):\n    test_b = f5()\n",
        },
        {
            "tests/test_b.py": "import unittest\nfrom tests.makers import f5\nclass B(unittest.TestCase):\n    test_c = f5()\n"
        },
    ),
}


@pytest.mark.parametrize("found", FOUND)
def test_what_a_review_found_is_the_same_both_ways(history: History, found: str) -> None:
    files, changed = FOUND[found]
    history.then(files)
    history.then(changed)
    history.then({path: files[path] for path in changed})


def test_more_links_than_anybody_writes_mean_a_whole_run(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concerned, "MOST_LINKS", 20)
    files = {f"a{n}/test_m.py": f"import p\nx = p.test_m\ndef test_{n}(): pass\n" for n in range(6)}
    history.then(files)
    history.then({"a0/test_m.py": files["a0/test_m.py"] + "def test_more(): pass\n"})
    assert history.resolved == files.keys()


def test_imports_of_a_file_without_classes_may_say_which_framework_most_files_speak_of(history: History) -> None:
    speaks = "// with\nimport {0}._\ndef total = 1\n"
    history.then(
        {
            "src/test/scala/a.scala": speaks.format("munit"),
            "src/test/scala/b.scala": speaks.format("munit"),
            "src/test/scala/CSuite.scala": 'class CSuite extends other.ShopSuite {\n  test("c") {}\n}\n',
        }
    )
    found = history.then({f"src/test/scala/{name}.scala": speaks.format("weaver") for name in "ab"})
    assert [test.framework for test in found.tests] == ["weaver"]

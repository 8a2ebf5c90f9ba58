"""What rows depend on, by language: whom a change concerns is resolved again, and nobody else."""

from collections.abc import Collection, Mapping

import pytest
from testlist_harness.history import History

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
}
CSHARP = {
    "T/T.csproj": '<Project Sdk="Microsoft.NET.Sdk"><ItemGroup><PackageReference Include="xunit" /></ItemGroup></Project>',
    "T/Base.cs": "using Xunit;\npublic abstract class Base { [Fact] public void Shared() {} }\n",
    "T/A.cs": "using Xunit;\npublic partial class A : Base { [Fact] public void One() {} }\n",
    "T/A2.cs": "using Xunit;\npublic partial class A { [Fact] public void Two() {} }\n",
    "T/B.cs": "using Xunit;\npublic class B { [Fact] public void Three() {} }\n",
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
    "go, a method of a suite": (GO, "more_test.go", ("TestTwo", "TestThree"), None),
    "c#, a test": (CSHARP, "T/B.cs", ("Three", "Four"), {"T/B.cs"}),
    "c#, a test of a part": (CSHARP, "T/A2.cs", ("Two", "Four"), {"T/A.cs", "T/A2.cs", "T/Base.cs"}),
    "c#, a skip in a base": (CSHARP, "T/Base.cs", ("[Fact]", '[Fact(Skip = "x")]'), {"T/A.cs", "T/A2.cs", "T/Base.cs"}),
    "c#, another base": (CSHARP, "T/B.cs", ("class B", "class B : Base"), None),
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

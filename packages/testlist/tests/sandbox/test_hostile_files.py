"""Files that mean harm: each is named with its reason, everything else is listed."""

import resource

import pytest
from testlist import ParseLimits
from testlist_harness.processes import no_children_left
from testlist_harness.repositories import MakeRepository, TakeInventory

GOOD = {"test_good.py": "def test_good(): pass\n", "src/good.test.js": "it('good', () => {})\n"}

SKIPPED: dict[str, tuple[str, bytes]] = {
    "binary garbage": ("binary", b"\x7fELF\0\1\2" * 400),
    "a NUL byte": ("binary", b"def test_a(): pass\n\0"),
    "utf-16": ("unreadable", "def test_a(): pass\n".encode("utf-16")),
    "cp1252 without a word": ("unreadable", "def test_a(): 'é ü ß'\n".encode("cp1252")),
    "broken utf-8": ("unreadable", b"def test_a(): '\xc3('\n"),
    "an unknown encoding": ("unreadable", b"# coding: klingon\ndef test_a(): pass\n"),
    "a codec that is no encoding": ("unreadable", b"# coding: zip\ndef test_a(): pass\n"),
    "one byte too many": ("too_large", b"#" * ((1 << 20) + 1)),
}


@pytest.mark.parametrize("case", SKIPPED)
def test_a_file_that_is_no_text_is_skipped_with_its_reason(
    case: str, make_repository: MakeRepository, take: TakeInventory
) -> None:
    reason, content = SKIPPED[case]
    found = take(make_repository({**GOOD, "test_bad.py": content}))
    assert [test.name for test in found.tests] == ["good", "test_good"]
    assert [(file.path, file.skipped) for file in found.files if file.skipped] == [("test_bad.py", reason)]


def test_a_declared_encoding_and_a_byte_order_mark_are_read(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    declared = "# -*- coding: cp1252 -*-\ndef test_é(): 'ß'\n".encode("cp1252")
    marked = b"\xef\xbb\xbfdef test_marked(): pass\n"
    script = "it('groß', () => {}) // ßßß\n".ljust(400).encode("cp1252")
    found = take(make_repository({"test_a.py": declared, "test_b.py": marked, "c.test.js": script}))
    assert [(test.name, test.line) for test in found.tests] == [("gro\ufffd", 1), ("test_é", 2), ("test_marked", 1)]


def test_a_nul_in_a_string_keeps_no_script_from_being_read(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    script = b"it('begins with a \0', () => {})\nit('follows', () => {})\n".ljust(3000, b"/")
    found = take(make_repository({"a.test.js": script, "b.test.js": b"it('a', () => {})\0\0"}))
    assert [(test.name, test.line) for test in found.tests] == [("begins with a \1", 1), ("follows", 2)]
    assert [(file.path, file.skipped) for file in found.files if file.skipped] == [("b.test.js", "binary")]


BOMBS = {
    "test_brackets.py": b"x = " + b"[" * 50_000,
    "test_closed.py": b"x = " + b"(" * 50_000 + b")" * 50_000,
    "test_nested.py": b"".join(b" " * depth + b"if x:\n" for depth in range(1_200)),
    "test_line.py": b"def test_a(): " + b"a+" * 300_000 + b"a\n",
    "test_decorators.py": b"@a\n" * 100_000 + b"def test_a(): pass\n",
    "src/generic.test.ts": b"a<" * 20_000,
    "src/brackets.test.js": b"[" * 50_000,
    "src/calls.test.js": b"describe('a', () => {" * 20_000,
    "src/sum.test.js": b"it(" + b"'a'+" * 20_000 + b"'a', () => {})",
    "src/subtests.test.js": b"import t from 'tap'\n" + b"t.test('a', t => {" * 20_000,
    "src/members.test.js": b"test" + b".skip" * 50_000 + b"('a', () => {})",
    "src/curried.test.js": b"test.each" + b"([])" * 20_000 + b"('a', () => {})",
    "src/objects.test.ts": b"Deno.test({name: 'a', fn() {" * 20_000,
    "src/exports.test.ts": b"export * from './exports.test'\n" * 20_000,
    "src/modules.test.js": b"QUnit.module('a');" * 40_000,
    "deno.jsonc": b"/* " * 300_000 + b'"\\' * 100_000,
    ".mocharc.yml": b"spec:\n" + b"- [" * 100_000,
    "src/tags.test.tsx": b"<a>" * 20_000,
    "brackets_test.go": b"package a\nvar x = " + b"(" * 50_000,
    "BracketTests.cs": b"class A { int x = " + b"(" * 50_000,
    "ClassTests.cs": b"class A { " * 50_000,
    "GenericTests.cs": b"a<" * 20_000,
    "QuoteTests.cs": b'class A { void B() { $"{' * 20_000 + b'"""' * 20_000,
    "ConditionTests.cs": b"#if A\n" * 50_000 + b"class A { [Fact] void B() {} }\n",
    "BracketTest.php": b"<?php\n$x = " + b"[" * 50_000,
    "DescribeTest.php": b"<?php\n" + b"describe('a', function () {" * 20_000,
    "ChainTest.php": b"<?php\nit('a')" + b"->b()" * 50_000 + b";",
    "a/a.csproj": b"<a>" * 50_000,
    "composer.json": b'{"require-dev": {"pestphp/pest": "*"}}',
    "phpunit.xml": b"<testsuite><directory>.</directory>" * 10_000,
    "unclosed_test.cc": b"TEST(" * 60_000,
    "commas_test.cc": b"TEST(a," * 50_000,
    "spread_test.cc": (b"TEST(" * 20 + b"()" * 4_000) * 30,
    "generic_test.cc": b"TEST_a<" * 140_000,
    "brackets_test.cc": b"TEST(a, b) " + b"{" * 300_000,
    "comments_test.cc": b"TEST /*" * 140_000,
    "raw_test.cc": b'TEST R"(' * 120_000,
    "hashes_test.cc": b"TEST" + b"#" * 300_000,
    "ifs_test.cc": b"TEST(a, b) {\n" + b"#if a\n{\n#else\n" * 60_000,
    "macros_test.cc": b"#define A_TEST(a) A_TEST(a##a) A_TEST(a##a)\n#define B_TEST(a) A_TEST(a) TEST(a, b)\n"
    + b"B_TEST(a) {}\n" * 50_000,
    "alike_test.cc": b"#if a\n#else\nTEST(a, b) {}\n#endif\n" * 5_000,
    "parts_test.cc": b'TEST_CASE("a") {' + b'SECTION("a") {' * 60_000,
    "BracketTests.swift": b"class ATests: XCTestCase { let a = " + b"[" * 50_000,
    "GenericTests.swift": b"let aTest: a" + b"<a" * 20_000,
    "ClassTests.swift": b"class ATests { func testA() {} " * 20_000,
    "ArgumentTests.swift": b"@Test(" + b"a(" * 50_000,
    "concat_test.exs": b"defmodule A do use B\ntest " + b'"a" <> ' * 5_000,
    "module_test.exs": b"defmodule A do use B\n" * 4_000,
    "do_test.exs": b"defmodule A do use B\n" + b'a "b" do\n' * 4_000,
    "features/tags.feature": b"@a " * 100_000 + b"\nFeature: a\n" + b"Scenario:\n" * 60_000,
    "features/rules.feature": b"Feature: a\n" + b"Rule:\n@a\nScenario:\nExamples:\n|\n|\n" * 20_000,
    "features/fences.feature": b"Feature: a\nScenario: a\n* a\n" + b'"""\n' * 200_000,
    "features/colons.feature": b"Feature" + b":" * 900_000,
    "features/languages.feature": b"# language: de\n" * 60_000,
    "features/spaces.feature": b"Feature: a\nScenario: a\n" + b" " * 900_000 + b"@",
    "cucumber.yml": b"default: --tags " + b"'(" * 200_000 + b"\na = '" + b"'" * 200_000,
    "behave.ini": b"[behave]\ntags = " + b"not " * 200_000 + b"@a\n",
    "test/spaces.bats": b"@test a" + b" " * 400_000 + b"\n" + b"a" + b" " * 400_000 + b"# @test",
    "test/braces.bats": b"@test a" + b" {" * 400_000,
    "test/texts.bats": b"@test a {\n" + b"cat <<EOF\n" * 80_000 + b"EOF\n",
    "test/headings.bats": b"@test a {\ncat <<EOF\n" * 30_000 + b"EOF\n",
    "test/options.bats": b"bats_test_function " + b"--tags " * 120_000,
    "suites/spaces.robot": b"*** Test Cases ***\na" + b" " * 900_000 + b"\xc2\xa0x\n| a" + b" " * 900_000 + b"x",
    "suites/pipes.robot": b"*** Test Cases ***\n" + b"| " * 400_000 + b"\n| a" + b"\t \n..." * 100_000,
    "suites/blocks.robot": b"*** Test Cases ***\na\n" + b"  IF  a\n" * 100_000 + b"* * *" * 10_000,
    "specs_test.go": b'package a\nimport . "github.com/onsi/ginkgo/v2"\n' + b'var _ = Describe("a", func() {' * 30_000,
    "tables_test.go": b'package a\nimport . "github.com/onsi/ginkgo/v2"\nvar _ = DescribeTable("a", '
    + b'Entry("a", ' * 30_000,
    "titles_test.go": b'package a\nimport . "github.com/onsi/ginkgo/v2"\nvar _ = It(' + b'"a" + ' * 100_000,
    "conveys_test.go": b'package a\nimport . "github.com/smarty/goconvey/convey"\nfunc TestA(t *testing.T) {'
    + b'Convey("a", func() {' * 30_000,
    "IfTests.swift": b"#if a\nfunc testA() {}\n" * 20_000,
    "suites_test.go": b'package a\nimport "github.com/stretchr/testify/suite"\nvar x = ' + b"suite.Run(t, " * 40_000,
    "spec/brackets_spec.rb": b"x = " + b"[" * 50_000,
    "spec/groups_spec.rb": b"describe 'a' do\n" * 20_000,
    "spec/chain_spec.rb": b"a" + b".b { it('c') {} }" * 20_000,
    "spec/nested_spec.rb": b"a(" * 50_000,
    "test/modules_test.rb": b"class A" + b"::A" * 100_000 + b" < A\nend\n",
    "test/cycle_test.rb": b"class ATest < BTest\nend\nclass BTest < ATest\nend\n" * 5_000,
    "src/brackets.rs": b"mod a { m! {" + b"[" * 50_000,
    "src/modules.rs": b"mod test { " * 50_000,
    "src/strings.rs": b"m!{" + b'r#" r##" ' * 2_000,
    "src/comments.rs": b"m!{" + b"/*" * 50_000,
    "src/growing.rs": b"macro_rules! g { ($($a:tt)*) => { g!{$($a)* $($a)*} g!{$($a)* $($a)*} } }\ng!{test a}\n",
    "src/circle.rs": b"macro_rules! o { ($a:ident) => { p!{$a} p!{$a} } }\n"
    b"macro_rules! p { ($a:ident) => { o!{$a} o!{$a} #[test] fn $a() {} } }\no!{a}\n",
    "src/many.rs": b"".join(
        b"macro_rules! m%d { () => { m%d!{} #[test] fn a() {} } }\n" % (n, n + 1) for n in range(9_000)
    ),
    "src/functions.rs": b"m!{" + b"fn " * 100_000 + b"}",
    "src/test/java/GenericTest.java": b"a<" * 20_000,
    "src/test/java/BracketTest.java": b"class A { int a = " + b"(" * 50_000,
    "src/test/java/NestedTest.java": b"class A { " * 20_000,
    "src/test/java/MarkedTest.java": b"@A" * 50_000 + b"class B {}",
    "src/test/kotlin/LambdaTest.kt": b'class A : FunSpec({ context("a") {' + b'context("a") {' * 20_000,
    "src/test/kotlin/BracketTest.kt": b"val a = " + b"[" * 50_000,
    "src/test/groovy/BracketSpec.groovy": b"def a = " + b"[" * 50_000,
    "src/test/groovy/NestedSpec.groovy": b"class A { " * 50_000,
    "src/test/groovy/TextSpec.groovy": b'class A { def "a"() { ' + b'"${' * 100_000,
    "src/test/groovy/SlashSpec.groovy": b"class A { def a() { " + b"\\/ /*" * 60_000,
    "src/test/groovy/CommentSpec.groovy": b"class A { def a() { b / " + b"$/" * 100_000,
    "src/test/groovy/SpaceSpec.groovy": b"class A { def a() { b:\n" + b" \n" * 200_000,
    "AppTests/BraceTests.m": b"@implementation A\n- (void)testA { " + b"{ " * 100_000,
    "AppTests/TextTests.m": b"@implementation A\n- (void)testA { @" + b'"' * 100_001,
    "AppTests/MethodTests.m": b"@implementation A\n" + b"- (void)testA\n" * 50_000,
    "AppTests/DashTests.m": b"@implementation A\n" + b"- ( void ) " * 80_000,
    "AppTests/ConditionTests.m": b"#if 1\n" * 20_000 + b"@implementation A\n" + b"- (void)testA {}\n" * 20_000,
    "AppTests/BaseTests.m": b"".join(
        b"@interface A%d : A%d\n@end\n@implementation A%d\n- (void)testA {}\n@end\n" % (n, n + 1, n)
        for n in range(9_000)
    ),
    "AppTests/RoundTests.m": b"@interface A : B\n@interface B : A\n@implementation A\n- (void)testA {}\n" * 9_000,
    "AppTests/ClassTests.m": b"@interface A " * 50_000 + b"@interface " + b"A" * 300_000 + b" : B\n",
    "AppTests/LineTests.mm": b"@implementation A - (void)testA { a" + b" + a" * 250_000 + b"; }",
    "Specs/GroupSpec.m": b"QuickSpecBegin(A)\n" + b'describe(@"a", ^{ ' * 20_000 + b'it(@"b", ^{});',
    "Specs/ExampleSpec.m": b"SpecBegin(A)\n" + b'it(@"a", ^{ ' * 20_000,
    "Specs/TitleSpec.m": b"SPEC_BEGIN(A)\n" + b'it(@"a" ' * 20_000 + b"it(" * 30_000,
    "Specs/JoinedSpec.m": b"SPEC_BEGIN(A)\nit(" + b'@"a" ' * 60_000,
    "Specs/IfSpec.m": b"SPEC_BEGIN(A)\n" + b"if (a) { " * 30_000,
    "Specs/SpaceSpec.m": b"SPEC_BEGIN(A)\n" + b"it(a," * 100 + b" " * 800_000,
    "test/bracket_test.dart": b"void main() { test(" + b"[" * 50_000,
    "test/group_test.dart": b"void main() { " + b"group('a', () { " * 5_000,
    "test/unknown_test.dart": b"void main() { " + b"testAll('a', () { " * 5_000,
    "test/text_test.dart": b"void main() { test('" + b"${" * 50_000,
    "test/quotes_test.dart": b"void main() { test(" + b"'''a" * 3_000,
    "test/adjacent_test.dart": b"void main() { test(" + b"'a' " * 40_000 + b", () {}); }",
    "test/sum_test.dart": b"void main() { test(" + b"'a' + " * 30_000 + b"'a', () {}); }",
    "test/chain_test.dart": b"void main() { test" + b".b()" * 10_000 + b"; }",
    "test/generic_test.dart": b"var test = " + b"a<" * 1_000,
    "test/class_test.dart": b"@reflectiveTest class A { " * 1_000,
    "test/base_test.dart": b"".join(
        b"@reflectiveTest class A%d extends A%d { void test_a() {} }\n" % (n, n + 1) for n in range(3_000)
    ),
    "test/passed_test.dart": b"void test1(String a, b) => test(a, b);\n" * 4_000,
    "test/parameter_test.dart": b"void test1(" + b"a, " * 30_000 + b"b) => test(a, b);\n",
    "test/local_test.dart": b"void main() { " + b"a(b) { test(b, () { b(); }); " * 1_000,
    "test/import_test.dart": b"import 'a_test.dart';\n" * 10_000,
    "src/test/scala/BracketSuite.scala": b"class A extends B { val a = " + b"(" * 50_000,
    "src/test/scala/ClassSuite.scala": b"class A extends B { " * 20_000,
    "src/test/scala/GroupSpec.scala": b"class A extends B { " + b'"a" should { ' * 20_000,
    "src/test/scala/DescribeSpec.scala": b"class A extends B { " + b'describe("a") { ' * 20_000,
    "src/test/scala/CurriedSuite.scala": b"class A extends B { test" + b'("a")' * 50_000 + b" }",
    "src/test/scala/ChainSuite.scala": b'class A extends B { test("a"' + b".b" * 50_000 + b") {} }",
    "src/test/scala/JoinSpec.scala": b"class A extends B { def is = " + b'"a" ! b ^ ' * 30_000 + b"c }",
    "src/test/scala/SumSuite.scala": b"class A extends B { test(" + b'"a" + ' * 30_000 + b'"a") {} }',
    "src/test/scala/TagSpec.scala": b"class A extends B { it should " + b'"a" taggedAs ' * 30_000 + b"c in {} }",
    "src/test/scala/TextSpec.scala": b"class A extends B { def is = s2" + b'"""' + b"a $b\n" * 60_000,
    "src/test/scala/LineSpec.scala": b"class A extends B { def is = s2" + b'"""' + b"a $b " * 60_000 + b'""" }',
    "src/test/scala/NestedTests.scala": b"import utest._\nobject A extends TestSuite { " + b'test("a") { ' * 20_000,
    "src/test/scala/PassedSuite.scala": b"trait A { def b(c: String)(d: => Unit) = " + b"test(c) { x(d) { " * 10_000,
    "src/test/scala/MethodSuite.scala": b"trait A { def b(c: => Any) = { " * 20_000,
    "src/test/scala/BaseSuite.scala": b"".join(b"class A%d extends A%d\n" % (n, n + 1) for n in range(5_000)),
    "src/test/scala/AlikeSuite.scala": b"class A extends A with B { test(a) {} }\n" * 3_000,
    "src/test/scala/ImportSuite.scala": b"import a._\n" * 10_000 + b"class A extends B with C\n" * 2_000,
    "src/test/scala/PackageSuite.scala": b"package a { " * 20_000,
    "pyproject.toml": b"a = " + b"[" * 50_000,
    "package.json": b"[" * 50_000,
    "deep/pyproject.toml": b".".join([b"a"] * 50_000) + b" = 1\n",
    "jest.config.js": b"module.exports = " + b"[" * 50_000,
    "tox.ini": b"[pytest\n= = =\n",
}


@pytest.mark.proof
@pytest.mark.timeout(600)  # what counts is processor time: under a load of 9 it took 141 s
def test_bombs_end_in_time_and_harm_no_other_file(make_repository: MakeRepository, take: TakeInventory) -> None:
    repository = make_repository({**BOMBS, **GOOD})
    began = processor_seconds()
    found = take(repository, limits=ParseLimits(file_seconds=1.5))
    assert {"good", "test_good"} <= {test.name for test in found.tests}
    took = processor_seconds() - began
    print(f"{took:.1f} s of processors")
    assert took < 30
    no_children_left()


def processor_seconds() -> float:
    """Processor time of this process and of the children that it has seen end."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

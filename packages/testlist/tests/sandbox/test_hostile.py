"""Files and hosts that mean harm: the file is named with its reason, everything else is listed."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Timer

import pytest
from testlist import GitLimits, InventoryError, ParseLimits, Source, fetched, inventory, resolve
from testlist.progress import Progress
from testlist.sandbox.parsers import Job, Parsers
from testlist_harness.githost import serving
from testlist_harness.processes import mentioning, no_children_left
from testlist_harness.repositories import MakeRepository, TakeInventory, git

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
def test_bombs_end_in_time_and_harm_no_other_file(make_repository: MakeRepository, take: TakeInventory) -> None:
    repository = make_repository({**BOMBS, **GOOD})
    began = processor_seconds()
    found = take(repository, limits=ParseLimits(file_seconds=1.5))
    assert {"good", "test_good"} <= {test.name for test in found.tests}
    assert processor_seconds() - began < 30
    no_children_left()


def processor_seconds() -> float:
    """Of this process and the children it has seen end."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def test_a_child_that_gets_no_processor_for_a_while_costs_no_file() -> None:
    limits = ParseLimits(file_seconds=0.2, children=1)
    stopped = Event()
    with Parsers(limits) as parsers:
        parsers.warm(["python"])
        pid = parsers.idle[0].process.pid
        os.kill(pid, signal.SIGSTOP)
        goes_on = Timer(3 * limits.file_seconds, lambda: (stopped.set(), os.kill(pid, signal.SIGCONT)))
        goes_on.start()
        results = dict(parsers.parse(iter([Job("late", "python", b"def test_a(): pass\n")])))
        assert stopped.is_set()
    assert "skipped" not in results["late"]
    no_children_left()


def test_a_child_that_gets_none_at_all_is_given_up() -> None:
    with Parsers(ParseLimits(file_seconds=0.05, children=1)) as parsers:
        parsers.warm(["python"])
        os.kill(parsers.idle[0].process.pid, signal.SIGSTOP)
        results = dict(parsers.parse(iter([Job("never", "python", b"def test_a(): pass\n")])))
    assert results == {"never": {"skipped": "parse_timeout"}}
    no_children_left()


@pytest.mark.proof
def test_a_slow_file_is_named_and_its_neighbours_are_parsed() -> None:
    slow = Job("slow", "python", b"[" * 1_000_000)
    jobs = [Job("before", "python", b"x = 1"), slow, *(Job(f"after {n}", "python", b"x = 1") for n in range(40))]
    with Parsers(ParseLimits(file_seconds=0.0005)) as parsers:
        results = dict(parsers.parse(iter([slow])))
    assert results == {"slow": {"skipped": "parse_timeout"}}
    with Parsers(ParseLimits()) as parsers:
        assert dict(parsers.parse(iter(jobs))).keys() == {job.key for job in jobs}
    no_children_left()


def test_a_file_that_needs_too_much_memory_is_named_and_its_neighbours_are_parsed() -> None:
    greedy = Job("greedy", "python", b"x = " + b"[a," * 300_000)
    jobs = [*(Job(f"before {n}", "python", b"x = 1") for n in range(3)), greedy, Job("after", "python", b"x = 1")]
    with Parsers(ParseLimits(memory_bytes=70 << 20, file_seconds=20.0)) as parsers:
        results = dict(parsers.parse(iter(jobs)))
    assert results.pop("greedy") == {"skipped": "parse_failed"}
    assert all("skipped" not in facts for facts in results.values())
    assert len(results) == 4


def test_a_child_killed_from_outside_costs_no_file() -> None:
    jobs = [Job(str(number), "python", b"def f(): pass\n" * 50) for number in range(200)]
    killed: list[int] = []
    with Parsers(ParseLimits(children=1)) as parsers:
        results = {}
        for key, facts in parsers.parse(iter(jobs)):
            results[key] = facts
            if not killed:
                killed = [child.process.pid for child in parsers.busy]
                os.kill(killed[0], signal.SIGKILL)
    assert len(results) == len(jobs)
    assert not any("skipped" in facts for facts in results.values())


def test_a_host_that_answers_nothing_is_given_up(tmp_path: Path) -> None:
    over = Event()
    with serving(tmp_path, stall=over) as host:
        source = Source.remote(f"{host}/repo", plain_http=True)
        with pytest.raises(InventoryError) as caught:
            resolve(source, None, limits=GitLimits(wall_seconds=0.4))
        over.set()
    assert (caught.value.code, caught.value.retryable) == ("git_timeout", True)
    no_children_left()


class Stop(Exception):  # noqa: N818 - it is no error
    """Raised by a checkpoint."""


def test_a_checkpoint_stops_a_run_that_waits_for_a_silent_host(tmp_path: Path) -> None:
    over = Event()
    calls = []

    def checkpoint(phase: str, done: int, total: int) -> None:
        calls.append(phase)
        if len(calls) == 2:
            raise Stop

    with serving(tmp_path, stall=over) as host:
        source = Source.remote(f"{host}/repo", plain_http=True)
        began = time.monotonic()
        with pytest.raises(Stop), fetched(source, "1" * 40, workdir=tmp_path / "work", checkpoint=checkpoint):
            pass
        assert time.monotonic() - began < 30  # the host answers nothing until the end of the test
        over.set()
    assert list((tmp_path / "work").iterdir()) == []
    no_children_left()


@pytest.mark.parametrize("calls", [1, 2, 3, 5, 8])
def test_a_checkpoint_may_stop_a_run_at_any_point(calls: int, make_repository: MakeRepository, tmp_path: Path) -> None:
    repository = make_repository({f"test_{number}.py": "def test_a(): pass\n" for number in range(50)})
    head = git(repository, "rev-parse", "HEAD")
    count = 0

    def checkpoint(phase: str, done: int, total: int) -> None:
        nonlocal count
        count += 1
        if count == calls:
            raise Stop

    def run(url: str) -> None:
        source = Source.remote(url, plain_http=True)
        with fetched(source, head, workdir=tmp_path / "work", checkpoint=checkpoint) as repo:
            repo.progress.every = repo.progress.due = 0.0  # every call comes through
            inventory(repo)

    with serving(tmp_path) as host, pytest.raises(Stop):
        run(f"{host}/repo/.git")
    assert list((tmp_path / "work").iterdir()) == []
    no_children_left()


def test_a_pulse_passes_on_the_first_call_and_then_two_a_second() -> None:
    seen: list[tuple[str, int, int]] = []
    progress = Progress(lambda *values: seen.append(values))
    for number in range(1_000):
        progress.at("parsing", number, 1_000)
    assert seen == [("parsing", 0, 1_000)]


KILLED = """
import sys
from pathlib import Path
from testlist import Source, fetched
def checkpoint(phase, done, total):
    print("waiting", flush=True)
source = Source.remote(sys.argv[1], plain_http=True)
with fetched(source, "1" * 40, workdir=Path(sys.argv[2]), checkpoint=checkpoint):
    pass
"""


@pytest.mark.proof
def test_a_killed_worker_leaves_no_git_and_the_next_run_removes_its_directory(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    repository = make_repository(GOOD)
    head = git(repository, "rev-parse", "HEAD")
    over, work = Event(), tmp_path / "work"
    with serving(tmp_path, stall=over) as host:
        argv = [sys.executable, "-c", KILLED, f"{host}/repo", str(work)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE) as worker:
            assert worker.stdout is not None
            assert worker.stdout.readline() == b"waiting\n"
            worker.kill()
        patience = time.monotonic() + 10
        while (running := mentioning(host)) and time.monotonic() < patience:
            os.sched_yield()
        assert running == []
        over.set()
    left = list(work.iterdir())
    assert left
    with (
        serving(tmp_path) as host,
        fetched(Source.remote(f"{host}/repo/.git", plain_http=True), head, workdir=work) as repo,
    ):
        assert repo.directory.is_dir()
        assert not any(path.exists() for path in left)
    assert list(work.iterdir()) == []

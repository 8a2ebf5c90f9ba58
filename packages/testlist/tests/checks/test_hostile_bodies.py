"""Files that are made to cost a reader of bodies much time, or its whole answer."""

import json
from collections.abc import Callable
from functools import partial

import pytest
from testlist.languages.cpp.checks import extract as cpp
from testlist.languages.csharp.checks import extract as csharp
from testlist.languages.go.checks import extract as go
from testlist.languages.javascript.checks import extract as javascript
from testlist.languages.jvm.checks import extract as jvm
from testlist.languages.php.checks import extract as php
from testlist.languages.ruby.checks import extract as ruby
from testlist.languages.rust.checks import extract as rust
from testlist.model import Facts
from testlist_harness.growth import growth

Extract = Callable[[bytes, str], Facts]

GTEST = b"#include <gtest/gtest.h>\nTEST(A, B) {\n%b\n}\n"
GO = b'package a\nimport "testing"\nfunc TestA(t *testing.T) {\n%b\n}\n'


def nested(before: bytes, inside: bytes, after: bytes) -> Callable[[int], bytes]:
    return lambda count: before * count + inside + after * count


@pytest.mark.parametrize(
    ("extract", "make"),
    [
        (ruby, nested(b"describe 'a' do\n", b"it('b') { a }\n", b"end\n")),
        (ruby, nested(b"tell 'a' do\n", b"it('b') { a }\n", b"end\n")),
        (ruby, nested(b"expect {", b"a", b"}.to eq(1)")),
        (cpp, lambda count: GTEST % (b'a = "' + b'\\"' * count * 100 + b"; FAIL();")),
        (cpp, lambda count: GTEST % (b"a = '" + b"\\'" * count * 100 + b"; FAIL();")),
        (cpp, lambda count: GTEST % (b'aR"(' * count * 100)),
        (cpp, lambda count: GTEST % (b'R"(' * count * 100)),
        (rust, lambda count: b"#[cfg(test)]" + b"#[a]" * count + b"x"),
        (rust, lambda count: b"#[cfg(test)]" * count * 20 + b"x"),
        (rust, lambda count: b"#[cfg(test)]#[" + b"a[b]" * count * 20 + b"x"),
        (go, lambda count: GO % (b"f(" + b"a, " * count * 100 + b"b)")),
        (go, lambda count: GO % (b"f(" + b"a" * count * 1_000 + b" " * count * 1_000 + b")")),
        (go, lambda count: GO % nested(b"if a {", b"t.Fatal()", b"} else { t.Fatal() }")(count)),
        (go, lambda count: GO % (b"if a { t.Log() }" + b" else if a { t.Fatal() }" * count)),
        (go, lambda count: GO % nested(b't.Run("a", func(t *testing.T) {\n', b"f()\n", b"})\n")(count)),
    ],
)
def test_blocks_in_blocks_take_linear_time(extract: Extract, make: Callable[[int], bytes]) -> None:
    def work(count: int) -> None:
        for _ in range(3):
            extract(make(count), "")

    assert growth(work, 50, 200, allowed=12) < 12


def test_a_condition_of_thousands_of_parts_is_read() -> None:
    found = go(GO % (b"if " + b" || ".join([b"a != 1"] * 5_000) + b" { t.Fatal() }"), "")
    assert len(found["functions"][0]["checks"]) == 200


WHOLE: dict[Extract, bytes] = {
    jvm: b"class A {\n@org.junit.Test void a() {\n%b\n}\n}",
    csharp: b"using NUnit.Framework;\nclass A {\n[Test] void A() {\n%b\n}\n}",
    php: b"<?php class A extends TestCase {\nfunction testA() {\n%b\n}\n}",
    ruby: b"class A < Minitest::Test\ndef test_a\n%b\nend\nend",
    cpp: GTEST,
    javascript: b"test('a', () => {\n%b\n})",
}
#: what begins a branch, fails in it, and ends it; and the same of a `try`
BRANCHES: dict[Extract, tuple[bytes, bytes, bytes, bytes, bytes]] = {
    jvm: (b"if (a) {", b"fail();", b"}", b"try { f();", b"} catch (E e) { fail(); }"),
    csharp: (b"if (a) {", b"Assert.Fail();", b"}", b"try { f();", b"} catch (E e) { Assert.Fail(); }"),
    php: (b"if ($a) {", b"$this->fail();", b"}", b"try { f();", b"} catch (E $e) { $this->fail(); }"),
    ruby: (b"if a\n", b"flunk\n", b"\nend\n", b"begin\nf\n", b"\nrescue E\nflunk\nend\n"),
    cpp: (b"if (a) {", b"FAIL();", b"}", b"try { f();", b"} catch (E e) { FAIL(); }"),
}


@pytest.mark.parametrize("extract", BRANCHES)
def test_failures_in_branches_take_linear_time(extract: Extract) -> None:
    begin, fails, end, attempt, caught = BRANCHES[extract]
    makes: list[Callable[[int], bytes]] = [
        lambda count: begin * 3 + (begin + fails + end) * count + end * 3,
        lambda count: begin + fails * count + end,
        lambda count: begin.rstrip(b"{") + b" " * 10 * count + b"{" * begin.endswith(b"{") + fails * count + end,
        lambda count: (attempt + fails + caught) * count,
        lambda count: begin * (count // 4) + fails + end * (count // 4),
        lambda count: attempt * (count // 4) + fails + caught * (count // 4),
    ]
    for make in makes:
        work = partial(lambda make, count: extract(WHOLE[extract] % make(count), "java-bodies"), make)
        assert growth(work, 300, 1_200, allowed=12) < 12


def test_thousands_of_failures_in_one_block_of_cpp_take_linear_time() -> None:
    """Each looked through all that stands before it: 9,600 took 20 times as long as 1,200."""
    one = b"try { f(); FAIL(); } catch (E e) { FAIL(); }"
    assert growth(lambda count: cpp(WHOLE[cpp] % (one * count), ""), 1_200, 9_600, allowed=12) < 12


@pytest.mark.parametrize(
    ("extract", "condition"),
    [(csharp, b"if (%b) Assert.Fail();"), (php, b"if (%b) $this->fail();"), (ruby, b"flunk if %b"),
     (cpp, b"if (%b) FAIL();"), (javascript, b"if (%b) assert.fail();"), (ruby, b"refute(%b)"),
     (php, b"assert(!(%b));"), (javascript, b"assert(!(%b))")],
    ids=lambda one: one.__module__ if callable(one) else repr(one),  # else its address
)  # fmt: skip
def test_a_failure_under_a_condition_of_thousands_of_parts_is_read(extract: Extract, condition: bytes) -> None:
    found = extract(WHOLE[extract] % (condition % b" || ".join([b"A != 1"] * 5_000)), "javascript-bodies")
    assert len(found["functions"][0]["checks"]) == 200


@pytest.mark.parametrize("strange", [b"\0", b"\xed\xa0\x80", b"\xff\xfe"])
def test_bytes_that_are_no_text_cost_nothing_else(strange: bytes) -> None:
    source = b"class A%b < B%b\n  def test_a() = flunk\nend\ndef test_b() = flunk\n" % (strange, strange)
    assert [one["name"] for one in ruby(source, "")["functions"]][-1] == "test_b"
    body = b't.Run("a%b", func(t *testing.T) { if a != "%b" { t.Fatal() } })' % (strange, strange)
    found = go(GO % body, "")
    assert json.dumps(found)
    assert len(found["functions"][0]["checks"]) == 1

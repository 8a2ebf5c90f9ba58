"""Files that are made to cost a reader of bodies much time, or its whole answer."""

import json
import time
from collections.abc import Callable

import pytest
from testlist.languages.cpp.checks import extract as cpp
from testlist.languages.csharp.checks import extract as csharp
from testlist.languages.go.checks import extract as go
from testlist.languages.javascript.checks import extract as javascript
from testlist.languages.jvm.checks import extract as jvm
from testlist.languages.php.checks import extract as php
from testlist.languages.ruby.checks import extract as ruby
from testlist.model import Facts

Extract = Callable[[bytes, str], Facts]

GO = b'package a\nimport "testing"\nfunc TestA(t *testing.T) {\n%b\n}\n'


def nested(before: bytes, inside: bytes, after: bytes) -> Callable[[int], bytes]:
    return lambda count: before * count + inside + after * count


@pytest.mark.parametrize(
    ("extract", "make"),
    [
        (ruby, nested(b"describe 'a' do\n", b"it('b') { a }\n", b"end\n")),
        (ruby, nested(b"tell 'a' do\n", b"it('b') { a }\n", b"end\n")),
        (ruby, nested(b"expect {", b"a", b"}.to eq(1)")),
        (go, lambda count: GO % (b"f(" + b"a, " * count * 100 + b"b)")),
        (go, lambda count: GO % (b"f(" + b"a" * count * 1_000 + b" " * count * 1_000 + b")")),
        (go, lambda count: GO % nested(b"if a {", b"t.Fatal()", b"} else { t.Fatal() }")(count)),
        (go, lambda count: GO % (b"if a { t.Log() }" + b" else if a { t.Fatal() }" * count)),
        (go, lambda count: GO % nested(b't.Run("a", func(t *testing.T) {\n', b"f()\n", b"})\n")(count)),
    ],
)
def test_blocks_in_blocks_take_linear_time(extract: Extract, make: Callable[[int], bytes]) -> None:
    took = []
    for count in (50, 200):
        begun = time.process_time()
        for _ in range(3):
            extract(make(count), "")
        took.append(time.process_time() - begun)
    assert took[1] < 12 * max(took[0], 0.02)


def test_a_condition_of_thousands_of_parts_is_read() -> None:
    found = go(GO % (b"if " + b" || ".join([b"a != 1"] * 5_000) + b" { t.Fatal() }"), "")
    assert len(found["functions"][0]["checks"]) == 200


WHOLE: dict[Extract, bytes] = {
    jvm: b"class A {\n@org.junit.Test void a() {\n%b\n}\n}",
    csharp: b"using NUnit.Framework;\nclass A {\n[Test] void A() {\n%b\n}\n}",
    php: b"<?php class A extends TestCase {\nfunction testA() {\n%b\n}\n}",
    ruby: b"class A < Minitest::Test\ndef test_a\n%b\nend\nend",
    cpp: b"#include <gtest/gtest.h>\nTEST(A, B) {\n%b\n}\n",
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
        took = []
        for count in (300, 1_200):
            begun = time.process_time()
            extract(WHOLE[extract] % make(count), "java-bodies")
            took.append(time.process_time() - begun)
        assert took[1] < 12 * max(took[0], 0.03)


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

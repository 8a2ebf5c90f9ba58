"""Files in Go and Ruby that are made to cost a reader of bodies much time, or its whole answer."""

import json
import time
from collections.abc import Callable

import pytest
from testlist.languages.go.checks import extract as go
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


@pytest.mark.parametrize("strange", [b"\0", b"\xed\xa0\x80", b"\xff\xfe"])
def test_bytes_that_are_no_text_cost_nothing_else(strange: bytes) -> None:
    source = b"class A%b < B%b\n  def test_a() = flunk\nend\ndef test_b() = flunk\n" % (strange, strange)
    assert [one["name"] for one in ruby(source, "")["functions"]][-1] == "test_b"
    body = b't.Run("a%b", func(t *testing.T) { if a != "%b" { t.Fatal() } })' % (strange, strange)
    found = go(GO % body, "")
    assert json.dumps(found)
    assert len(found["functions"][0]["checks"]) == 1

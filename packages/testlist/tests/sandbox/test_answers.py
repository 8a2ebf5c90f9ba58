"""What a parsing child answers is looked at before it is believed: a file may have taken the child over."""

import json
import sys
from collections.abc import Sequence

import pytest
from testlist.model import Test
from testlist.sandbox import parsers
from testlist.sandbox.answers import CONTAINERS, DEPTH, VALUES, Unsound, facts_in
from testlist.sandbox.guard import guarded, use_sandbox
from testlist.sandbox.parsers import Job, Parsers
from testlist.sandbox.process import Order, Process

GOOD = {
    "facts": {"body": [{"name": "a", "line": 1}], "hints": ["a.b"]},
    "nothing": {},
    "skipped": {"skipped": "binary"},
    "a large text": {"body": ["x" * 100_000]},
    "zeros in a text": {"body": ["0" * 99 + " and \\\\u0000, written out"]},
}
BAD = {
    "nothing at all": b"",
    "no JSON": b"{",
    "no UTF-8": b'{"a": "\xff"}',
    "a list": b"[]",
    "a text": b'"facts"',
    "a fraction": b'{"line": 1.5}',
    "no number": b'{"line": NaN}',
    "an endless number": b'{"line": 1e999}',
    "a large number": b'{"line": 4294967296}',
    "a number of a million digits": b'{"line": ' + b"9" * 1_000_000 + b"}",
    "a NUL": b'{"name": "a\\u0000"}',
    "a NUL in a key": b'{"a\\u0000": 1}',
    "half a character": b'{"name": "\\ud800"}',
    "depth": b'{"a": ' + b"[" * DEPTH + b"]" * DEPTH + b"}",
    "more depth than a stack": b'{"a": ' + b"[" * 200_000,
    "many lists": b'{"a": [' + b"[]," * CONTAINERS + b"[]]}",
    "many values": b'{"a": [' + b"1," * (VALUES + 1) + b"1]}",
    "a reason of its own": b'{"skipped": "because"}',
    "a reason that is none": b'{"skipped": ["binary"]}',
    "skipped and read": b'{"skipped": "binary", "body": []}',
    "hints that are none": b'{"hints": [1]}',
    "a hint without end": b'{"hints": ["' + b"x" * 10_000 + b'"]}',
    "hints without end": b'{"hints": [' + b'"x",' * 10_000 + b'"x"]}',
}


@pytest.mark.parametrize("case", GOOD)
def test_facts_are_taken_as_they_are(case: str) -> None:
    assert facts_in(json.dumps(GOOD[case]).encode()) == GOOD[case]


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_answer_is_refused(case: str) -> None:
    with pytest.raises(Unsound):
        facts_in(BAD[case])


#: in place of a parser.  READ takes the next file, HONEST answers it
LIES = {
    "says nothing and goes": "",
    "answers before it is asked": "print('{}', flush=True); HONEST()",
    "answers a file twice": "READ(); print('{}\\n{}', flush=True); HONEST()",
    "answers what is none": "READ(); print('{\"a\": 1.5}', flush=True); HONEST()",
    "answers with a NUL": 'READ(); print(\'{"a": "\\\\u0000"}\', flush=True); HONEST()',
    "answers garbage": "READ(); sys.stdout.buffer.write(bytes(range(256)) * 9); sys.stdout.flush(); HONEST()",
    "answers without end": "READ()\nwhile True: print('x' * 65536, end='')",
    "answers in lines without end": "READ()\nwhile True: print('{}')",
}
PLAUSIBLE = {"answers before it is asked", "answers a file twice", "answers in lines without end"}
BEGIN = """
import sys
def READ():
    line = sys.stdin.buffer.readline()
    line and sys.stdin.buffer.read(int(line.split()[1]))
    return line
def HONEST():
    while READ():
        print('{"body": []}', flush=True)
"""


@pytest.mark.parametrize("lie", LIES)
def test_a_child_that_lies_harms_neither_its_reader_nor_files_of_others(
    lie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Process] = []

    def first_lies(order: Order, needs: Sequence[str]) -> Process:
        program = BEGIN + (LIES[lie] if not begun else "HONEST()")
        begun.append(guarded(Order(argv=[sys.executable, "-c", program], limits=order.limits), ["git"]))
        return begun[-1]

    monkeypatch.setattr(parsers, "guarded", first_lies)
    use_sandbox(on=False)  # the liar is no git and no parser
    try:
        with Parsers(parsers.ParseLimits(children=1, answer_bytes=1 << 20)) as reader:
            found = dict(reader.parse(Job(f"{n}", "python", b"x" * n) for n in range(1, 6)))
    finally:
        use_sandbox(on=True)
    assert found.keys() == {"1", "2", "3", "4", "5"}
    assert all(facts in ({"body": []}, {}, {"skipped": "parse_failed"}) for facts in found.values())
    assert [key for key, facts in found.items() if facts == {"skipped": "parse_failed"}] == []
    # an empty answer to a file it has in hand might be true; anything else ends it
    assert len(begun) >= (1 if lie in PLAUSIBLE else 2)


@pytest.mark.parametrize(
    "change",
    [{"name": 1}, {"name": None}, {"suites": (1,)}, {"line": "1"}, {"line": -1}, {"line": 1 << 40}, {"status": "fine"},
     {"kind": "x"}, {"status": ["active"]}, {"cases": "many"}],
)  # fmt: skip
def test_a_test_with_a_value_of_the_wrong_kind_is_not_sound(change: dict[str, object]) -> None:
    test = Test("a.py", "pytest", ("A",), "b", 1)
    assert test.sound
    assert not test._replace(**change).sound

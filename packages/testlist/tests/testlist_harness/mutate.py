"""Files as accidents and enemies leave them: pieces lost, doubled, torn apart, mixed with others and with noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

BRACKETS = b"()[]{}<>\"'`/*#\\\n:;@$%&|!?=,.-+ \t"
#: What opens something in one language or the other.
WORDS = (
    b"class ", b"def ", b"func ", b"fn ", b"it(", b"describe(", b"test(", b"TEST(", b"@Test", b"[Fact]", b"#[test]", b"do\n",
    b"end\n", b"/*", b"*/", b"'''", b'"""', b"<<EOS\n", b'R"(', b"=>", b"${", b"#{", b"#if 0\n", b"#endif\n", b"<?php ",
)  # fmt: skip
LONGEST = 200_000


def mutated(source: bytes, others: Sequence[bytes], dice: Random) -> bytes:
    """The file after one to six changes."""
    for _ in range(dice.randint(1, 6)):
        source = dice.choice(CHANGES)(source, others, dice)[:LONGEST]
    return source


def _span(source: bytes, dice: Random) -> tuple[int, int]:
    first = dice.randrange(len(source) + 1)
    return first, min(len(source), first + dice.choice((1, 2, 8, 40, 300)))


def _lose(source: bytes, _: Sequence[bytes], dice: Random) -> bytes:
    first, last = _span(source, dice)
    return source[:first] + source[last:]


def _double(source: bytes, _: Sequence[bytes], dice: Random) -> bytes:
    first, last = _span(source, dice)
    return source[:last] + source[first:last] * dice.choice((1, 1, 5, 200)) + source[last:]


def _insert(source: bytes, _: Sequence[bytes], dice: Random) -> bytes:
    first, _last = _span(source, dice)
    what = dice.choice((bytes([dice.choice(BRACKETS)]), dice.choice(WORDS)))
    return source[:first] + what * dice.choice((1, 1, 1, 3, 1000)) + source[first:]


def _noise(source: bytes, _: Sequence[bytes], dice: Random) -> bytes:
    first, last = _span(source, dice)
    return source[:first] + dice.randbytes(last - first) + source[last:]


def _cut(source: bytes, _: Sequence[bytes], dice: Random) -> bytes:
    first, _last = _span(source, dice)
    return source[:first] if dice.random() < 0.5 else source[first:]


def _splice(source: bytes, others: Sequence[bytes], dice: Random) -> bytes:
    first, _last = _span(source, dice)
    other = dice.choice(others)
    begin, end = _span(other, dice)
    return source[:first] + other[begin:end] + source[first:]


def _swap(source: bytes, _: Sequence[bytes], dice: Random) -> bytes:
    lines = source.splitlines(keepends=True)
    dice.shuffle(lines) if dice.random() < 0.2 else lines.reverse()
    return b"".join(lines)


CHANGES: tuple[Callable[[bytes, Sequence[bytes], Random], bytes], ...] = (
    _lose, _lose, _double, _insert, _insert, _noise, _cut, _splice, _splice, _swap,
)  # fmt: skip

"""C++ source in which only code is left, byte for byte where it was.

Comments, the insides of texts, directives and branches that are never compiled become blanks.  A conditional
directive leaves one control byte, so that who counts braces can follow the branches.
"""

import re
from dataclasses import dataclass, field
from typing import Final

#: what a live `#if`, `#else` or `#elif`, and `#endif` leave behind
IF: Final = 1
ELSE: Final = 2
ENDIF: Final = 3
CLEAN: Final = bytes(32 if byte in (IF, ELSE, ENDIF) else byte for byte in range(256))

START: Final = re.compile(rb"""["'#]|/[/*]""")
STRING: Final = re.compile(rb'"(?:[^"\\\n]++|\\\r\n|\\[\s\S])*+"?')
LETTER: Final = re.compile(rb"'(?:[^'\\\n]++|\\\r\n|\\[\s\S])*+'?")
LINE: Final = re.compile(rb"//(?:[^\\\n]++|\\\r\n|\\[\s\S])*+")
RAW: Final = re.compile(rb'"([^()\\\s"]{0,16}+)\(')
RAW_PREFIX: Final = re.compile(rb"(?<![A-Za-z0-9_])(?:u8|[uUL])?R\Z")
BEFORE_LETTER: Final = re.compile(rb"(?<![A-Za-z0-9_])(?:u8|[uUL]|case|return)\Z")
DIRECTIVE: Final = re.compile(
    rb"#(?:"
    rb'[^\\\n/"]++|\\\r\n|\\[\s\S]|"(?:[^"\\\n]++|\\\r\n|\\[\s\S])*+"?'
    rb"|//(?:[^\\\n]++|\\\r\n|\\[\s\S])*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*(?:\*/)?|/"
    rb")*"
)
PARTS: Final = re.compile(rb"#[ \t]*+([a-z_]*+)([\s\S]*)")
INCLUDED: Final = re.compile(rb'\s*+[<"]([^<>"\n]++)')
DEFINED: Final = re.compile(rb"\s*+#[ \t]*+define[ \t]++(\w++)")
NEVER: Final = re.compile(rb"\s*+(?:0[uUlL]*+|false)\s*+(?:\Z|&&|/[/*])")
ALWAYS: Final = re.compile(rb"\s*+(?:[1-9]|true)\s*+(?:\Z|/[/*])")
LOOK_BACK: Final = 200


@dataclass(slots=True)
class Level:
    """One `#if`.  live: its current branch may be compiled; taken: an earlier branch always is."""

    outer: bool
    live: bool
    taken: bool


@dataclass(slots=True)
class Masked:
    """A source, and a copy of it in which parts are blank.

    code: the masked source.  defined: bodies of live `#define` directives, with their offsets.
    """

    source: bytes
    code: bytearray
    includes: list[str] = field(default_factory=list)
    defined: list[tuple[int, bytes]] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    plain: set[int] = field(default_factory=set)  # offsets of `#if`s that leave no choice
    dead_from: int | None = None

    def blank(self, start: int, end: int) -> None:
        """Leave nothing of a stretch."""
        self.code[start:end] = b" " * (end - start)


def mask(source: bytes) -> Masked:
    """Read a whole file, once, from its first byte to its last."""
    source = source.translate(CLEAN)
    masked = Masked(source, bytearray(source))
    found = START.search(source)
    while found is not None:
        end = _token(masked, found.start())
        found = START.search(source, end)
    if masked.dead_from is not None:
        masked.blank(masked.dead_from, len(source))
    return masked


def _token(masked: Masked, at: int) -> int:
    """Mask what begins at an offset; returns where it ends."""
    source, first = masked.source, masked.source[at]
    if first == ord('"'):
        end = _text_end(source, at)
        masked.blank(at + 1, max(at + 1, end - 1))
    elif first == ord("'"):
        if source[at - 1 : at].isalnum() and not BEFORE_LETTER.search(source[max(0, at - 7) : at]):
            return at + 1  # it groups digits
        end = _matched(LETTER, source, at)
        masked.blank(at, end)
    elif first == ord("#"):
        before = masked.code[max(0, at - LOOK_BACK) : at]
        if before[before.rfind(b"\n") + 1 :].strip():
            return at + 1
        end = _matched(DIRECTIVE, source, at)
        _directive(masked, at, end)
    else:
        closed = source.find(b"*/", at + 2) + 2 if source[at + 1] == ord("*") else _matched(LINE, source, at)
        end = closed if closed > 1 else len(source)
        masked.blank(at, end)
    return end


def _matched(pattern: re.Pattern[bytes], source: bytes, at: int) -> int:
    found = pattern.match(source, at)
    return found.end() if found else at + 1


def _text_end(source: bytes, at: int) -> int:
    raw = RAW.match(source, at) if RAW_PREFIX.search(source[max(0, at - 4) : at]) else None
    if raw is None:
        return _matched(STRING, source, at)
    closing = b")" + raw[1] + b'"'
    end = source.find(closing, raw.end())
    return end + len(closing) if end >= 0 else len(source)


def _directive(masked: Masked, at: int, end: int) -> None:
    parts = PARTS.match(masked.source, at, end)
    word, rest = (parts[1], parts[2]) if parts else (b"", b"")
    masked.blank(at, end)
    if word in (b"if", b"ifdef", b"ifndef"):
        if _is_plain(masked.source, word, rest, end):
            masked.plain.add(at)
        _begin(masked, at, rest if word == b"if" else b"")
    elif word in (b"else", b"elif", b"elifdef", b"elifndef"):
        _other(masked, at, rest if word == b"elif" else b"")
    elif word == b"endif":
        _over(masked, at)
    elif masked.dead_from is None and word in (b"include", b"import") and (path := INCLUDED.match(rest)):
        masked.includes.append(path[1].decode("utf-8", "replace").strip())
    elif masked.dead_from is None and word == b"define":
        masked.defined.append((at, rest))


def _is_plain(source: bytes, word: bytes, condition: bytes, end: int) -> bool:
    """Whether a condition is known, or only keeps a header from being read twice."""
    if word == b"if":
        return bool(NEVER.match(condition) or ALWAYS.match(condition))
    name = condition.strip()
    defined = DEFINED.match(source, end) if word == b"ifndef" else None
    return name == b"__cplusplus" or (defined is not None and defined[1] == name)


def _begin(masked: Masked, at: int, condition: bytes) -> None:
    outer = masked.dead_from is None
    live = outer and not NEVER.match(condition)
    masked.levels.append(Level(outer, live, bool(ALWAYS.match(condition))))
    _switch(masked, at, live=live)
    if outer:
        masked.code[at] = IF


def _other(masked: Masked, at: int, condition: bytes) -> None:
    if not masked.levels:
        return
    level = masked.levels[-1]
    live = level.outer and not level.taken and not NEVER.match(condition)
    level.taken = level.taken or bool(ALWAYS.match(condition))
    _switch(masked, at, live=live)
    if level.outer:
        masked.code[at] = ELSE


def _over(masked: Masked, at: int) -> None:
    if not masked.levels:
        return
    level = masked.levels.pop()
    _switch(masked, at, live=level.outer)
    if level.outer:
        masked.code[at] = ENDIF


def _switch(masked: Masked, at: int, *, live: bool) -> None:
    """Enter or leave text that is never compiled."""
    if live and masked.dead_from is not None:
        masked.blank(masked.dead_from, at)
        masked.dead_from = None
    elif not live and masked.dead_from is None:
        masked.dead_from = at + 1  # the directive itself leaves its mark

"""Facts of one Groovy file: package, imports, classes with their annotations and methods, and Spock's blocks."""

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from testlist.kit.rows import Placed
from testlist.languages.jvm.facts_tokens import SPACE, Scanner
from testlist.languages.jvm.shape import (
    DEEPEST,
    MODIFIERS,
    ClassFact,
    Import,
    Mark,
    Members,
    MethodFact,
    compact,
    kept,
    mark,
    matters,
    most,
)
from testlist.model import Facts

TOKEN: Final = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*|[\n;{}()\[\]\"'/@=.,<>]")
DOTTED: Final = re.compile(rb"[A-Za-z_$][\w$.]*")
PUNCTUATION: Final = frozenset({b".", b",", b"]", b")", b"<", b">"})
THROWS: Final = re.compile(rb"throws[\w\s.,]{1,400}")
NEWLINE: Final = re.compile(rb"\n")
TYPES: Final = {
    b"class": "class",
    b"interface": "interface",
    b"enum": "enum",
    b"trait": "interface",
    b"record": "class",
}
#: words that may stand before a name and are none
LEADING: Final = (
    frozenset({"def", "final", "var", "synchronized", "native", "transient", "volatile", "strictfp"}) | MODIFIERS
)
BLOCKS: Final = frozenset({"given", "setup", "expect", "when", "then", "cleanup", "where", "and", "combined", "filter"})


@dataclass(slots=True)
class _Body:
    """What was read of a body so far, and of the member that is being read."""

    depth: int
    methods: list[MethodFact] = field(default_factory=list)
    classes: list[ClassFact] = field(default_factory=list)
    words: list[tuple[str, int]] = field(default_factory=list)  # with their places
    marks: list[Mark] = field(default_factory=list)

    @property
    def mods(self) -> list[str]:
        return kept(word for word, _ in self.words)

    def open(self) -> bool:
        """Whether the member cannot end here: only annotations and modifiers were read."""
        return all(word in LEADING for word, _ in self.words)

    def end(self, place: int) -> int:
        """Begin a new member."""
        self.words, self.marks = [], []
        return place


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - every reader has it
    """Read one file: {"package", "imports": [[dotted, alias], ...], "classes"}."""
    reader = _Reader(source)
    found, _ = reader.members(0, 0)
    return {"package": reader.package, "imports": reader.imports, **found}


class _Reader:
    """One file."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.scanner = Scanner(source)
        self.lines = [0, *(found.end() for found in NEWLINE.finditer(source))]
        self.package = ""
        self.imports: list[Import] = []
        self.steps: dict[bytes, Callable[[int, int, _Body], int]] = {
            b"\n": lambda _, place, body: place if body.open() else body.end(place),
            b";": lambda _, place, body: body.end(place),
            b'"': self._string,
            b"'": self._string,
            b"/": lambda start, _place, _body: self.scanner.slash(start),
            b"@": self._annotation,
            b"(": lambda start, _, body: body.end(self._method(start, body)),
            b"{": lambda start, _, body: body.end(self.scanner.block(start)),
            b"[": lambda start, _place, _body: self.scanner.block(start),
            b"=": lambda _, place, body: body.end(self._value(place)),
        }

    def members(self, place: int, depth: int) -> tuple[Members, int]:
        """Methods and classes from here to the closing brace, and the place behind it."""
        body = _Body(depth)
        while (token := TOKEN.search(self.source, place)) is not None:
            word, start, place = token[0], token.start(), token.end()
            if word == b"}":
                break
            if word in self.steps:
                place = self.steps[word](start, place, body)
            elif word in TYPES and not self._is_name(start, place):
                place = body.end(self._class(TYPES[word], place, body))
            elif depth == 0 and word in (b"package", b"import") and not body.words:
                place = self._import(word, place)
            elif word not in PUNCTUATION:
                body.words.append((word.decode("utf-8", "replace"), start))
        found: Members = {"methods": body.methods, "classes": body.classes}
        return compact(found), place

    def _string(self, start: int, _: int, body: _Body) -> int:
        end = self.scanner.string(start)
        body.words.append((self._literal(start, end), start))
        return end

    def _literal(self, start: int, end: int) -> str:
        written = self.source[start:end].decode("utf-8", "replace")
        edge = 3 if written[:3] in ('"""', "'''") and len(written) > 5 else 1
        return re.sub(r"\\(.)", r"\1", written[edge:-edge])

    def _is_name(self, start: int, end: int) -> bool:
        """`x.class`, `record(`, `record = 1`: the word is no keyword here."""
        after = self.source[end : end + 1]
        return self.source[start - 1 : start] in (b".", b"@") or after not in (b" ", b"\t", b"\n", b"\r")

    def _import(self, word: bytes, place: int) -> int:
        end = self.source.find(b"\n", place)
        end = end if end >= 0 else len(self.source)
        text = self.source[place:end].partition(b"//")[0].partition(b";")[0].decode("utf-8", "replace")
        names = [one for one in text.split() if one != "static"]
        if names and word == b"package":
            self.package = names[0]
        elif names:
            path, _, last = names[0].rpartition(".")
            alias = names[2] if names[1:2] == ["as"] and len(names) > 2 else last
            self.imports.append((path, "*") if last == "*" else (names[0], alias))
        return end

    def _annotation(self, _: int, place: int, body: _Body) -> int:
        found = DOTTED.match(self.source, place)
        if found is None:
            return place
        if found[0] == b"interface":
            return body.end(self._class("annotation", found.end(), body))
        place, arguments = found.end(), b""
        if self.source.startswith(b"(", place):
            end = self.scanner.block(place)
            arguments, place = self.source[place : min(end, place + 400)], end
        body.marks.append(mark(found[0].decode(), arguments.decode("utf-8", "replace")))
        return place

    def _class(self, kind: str, place: int, body: _Body) -> int:
        """A class from behind its keyword; behind its body afterwards."""
        words, token = self._heading(place)
        if token is None:
            return len(self.source)
        if token[0] != b"{" or not words:
            return token.start() if token[0] == b"}" else token.end()
        name, start = words[0]
        inner: Members = {}
        if body.depth < DEEPEST:
            inner, end = self.members(token.end(), body.depth + 1)
        else:
            end = self.scanner.block(token.start())
        parent, bases = _bases([word for word, _ in words[1:]])
        found: ClassFact = {
            "k": kind,
            "name": name,
            **self._place(start, end),
            "mods": body.mods,
            "marks": most(body.marks),
            "super": parent,
            "bases": bases,
            **inner,
        }
        body.classes.append(compact(found))
        return end

    def _heading(self, place: int) -> tuple[list[tuple[str, int]], re.Match[bytes] | None]:
        """Words of a class heading, without type arguments, and the token that ends it."""
        words: list[tuple[str, int]] = []
        angle = 0
        while (token := TOKEN.search(self.source, place)) is not None and token[0] not in (b"{", b"}", b"=", b";"):
            place = token.end()
            if token[0] == b"/":
                place = self.scanner.slash(token.start())
            elif token[0] in (b'"', b"'"):
                place = self.scanner.string(token.start())
            elif token[0] == b"(":
                place = self.scanner.block(token.start())
            elif token[0] in (b"<", b">"):
                angle = max(0, angle + (1 if token[0] == b"<" else -1))
            elif token[0] != b"\n" and not angle:
                words.append((token[0].decode("utf-8", "replace"), token.start()))
        return words, token

    def _method(self, start: int, body: _Body) -> int:
        """A method from its opening parenthesis, if it is one; behind its body afterwards."""
        behind = self.scanner.block(start)
        after = self._skip_space(behind)
        if not body.words or body.open():
            return behind
        if (throws := THROWS.match(self.source, after)) is not None:
            after = throws.end()
        labels: list[str] = []
        has_body = self.source.startswith(b"{", after)
        end = self.scanner.block(after, labels=labels) if has_body else behind
        name, place = body.words[-1]
        leading = [word for word, _ in body.words[:-1]]
        at = self._place(place, end)
        found: MethodFact = {
            "name": name,
            "line": at["line"],
            "column": at["column"],
            "end": at["end"],
            "mods": body.mods if has_body else [*body.mods, "abstract"],
            "marks": most(body.marks),
            "params": self._parameters(start, behind),
            "value": "void" not in leading,
            "blocks": not BLOCKS.isdisjoint(labels),
            "where": "where" in labels,
        }
        item = compact(found)
        if leading and matters(item):
            body.methods.append(item)
        return end

    def _parameters(self, start: int, end: int) -> int:
        inner = self.source[start + 1 : min(end - 1, start + 2000)]
        return inner.count(b",") + 1 if inner.strip() else 0

    def _skip_space(self, place: int) -> int:
        while place < len(self.source) and self.source[place] in SPACE:
            place += 1
        return place

    def _value(self, place: int) -> int:
        """Go behind the value of a field: to the end of its line, with the brackets that begin there."""
        place = self._skip_space(place)
        while place < len(self.source) and (token := TOKEN.search(self.source, place)) is not None:
            if token[0] in (b"\n", b";", b"}"):
                return token.start()
            place = token.end()
            if token[0] in (b"{", b"(", b"["):
                place = self.scanner.block(token.start())
            elif token[0] in (b'"', b"'"):
                place = self.scanner.string(token.start())
            elif token[0] == b"/":
                place = self.scanner.slash(token.start())
        return len(self.source)

    def _place(self, start: int, end: int) -> Placed:
        row = bisect_right(self.lines, start)
        return {
            "line": row,
            "column": start - self.lines[row - 1] + 1,
            "end": bisect_right(self.lines, max(start, end - 1)),
        }


def _bases(words: list[str]) -> tuple[str, list[str]]:
    """The first name behind `extends`, and all behind it and `implements`; dotted ones are put together again."""
    bases: list[str] = []
    parent, collecting, dotted = "", "", False
    for word in words:
        if word in ("extends", "implements"):
            collecting = word
        elif word == ".":
            dotted = True
            continue
        elif collecting and word != ",":
            if dotted and bases:
                bases[-1] += f".{word}"
            else:
                bases.append(word)
            parent = bases[0] if collecting == "extends" else parent
        dotted = False
    return parent, bases

"""Finds what a page says without asking the catalogue: every text outside of the marks of a made-up language.

The made-up language wraps each message: ⟦Cancel⟧.  Data is no text of ours, so it is left out where the page says so
(translate="no"), and so are code and times.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from babel.messages.catalog import Catalog

from tools.messages import compiled, extracted

OPENS, CLOSES = "⟦", "⟧"
#: Elements whose text is no language's.
LEFT_OUT = {"code", "pre", "time", "script", "style"}
SPOKEN = {"title", "aria-label", "placeholder", "alt", "data-label"}
EMPTY = {"area", "br", "col", "hr", "img", "input", "link", "meta", "path", "rect", "wbr"}
_LETTER = re.compile("[A-Za-z]")
#: The moment behind "3 min ago", as a title.
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)")


def made_up(folder: Path, tag: str) -> Path:
    """A catalogue for `tag` in which every message is marked.  Returns: the folder of catalogues."""
    catalogue = Catalog(locale=tag)
    for message in extracted():
        if message.id:
            marked = f"{OPENS}{message.id if isinstance(message.id, str) else message.id[1]}{CLOSES}"
            catalogue.add(message.id, marked if isinstance(message.id, str) else (marked,))
    place = folder / tag / "LC_MESSAGES"
    place.mkdir(parents=True)
    (place / "messages.mo").write_bytes(compiled(catalogue))
    return folder


def untranslated(page: str) -> list[str]:
    """What a page says outside of the marks: its texts and spoken attributes that contain Latin letters."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.depth = 0  # of marks; a message may contain elements, so it goes on from one text to the next
        self.open: list[tuple[str, bool]] = []  # elements, and whether each is left out

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        is_out = self._is_out() or tag in LEFT_OUT or given.get("translate") == "no"
        if not is_out:
            for name in SPOKEN & given.keys():
                self._look(given[name] or "", f"{name} of {tag}", 0)
        if tag not in EMPTY:
            self.open.append((tag, is_out))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass  # an element whose end is optional

    def handle_data(self, data: str) -> None:
        self.depth = self._look(data, self.open[-1][0] if self.open else "page", self.depth)

    def _is_out(self) -> bool:
        return bool(self.open) and self.open[-1][1]

    def _look(self, text: str, where: str, depth: int) -> int:
        outside = ""
        for character in text:
            depth += (character == OPENS) - (character == CLOSES)
            outside += character if depth == 0 else ""
        if _LETTER.search(_MOMENT.sub("", outside)) and not self._is_out():
            self.found.append(f"{where}: {' '.join(outside.split())}")
        return depth

"""A specification in Gherkin: an archive with a file for each feature, because the grammar allows one per file."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Final

from app.domain.contents import domain_anchor, feature_anchor
from app.domain.specification import Behaviour, Domain, Feature
from app.web.core.visible_text import visible
from app.web.specifications.document import Document
from app.web.specifications.words import words

#: Keywords of the grammar's dialects, for a feature and for a scenario.
_KEYWORDS: Final = {"en": ("Feature", "Scenario"), "ko": ("기능", "시나리오")}
_NOT_IN_TAGS = re.compile(r"[\s@#]")


class _Pieces(io.RawIOBase):
    """The text that was written since the last read; an archive is written to it without seeking."""

    def __init__(self) -> None:
        super().__init__()
        self._written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object, /) -> int:
        piece = bytes(memoryview(data))  # type: ignore[arg-type]
        self._written += piece
        return len(piece)

    def take(self) -> bytes:
        """Return the written bytes and forget them."""
        piece = bytes(self._written)
        self._written.clear()
        return piece


def as_gherkin(document: Document) -> Iterator[bytes]:
    """Pieces of a ZIP archive: a folder per domain, a file per feature; the same document gives the same bytes."""
    pieces = _Pieces()
    with zipfile.ZipFile(pieces, "w", zipfile.ZIP_DEFLATED) as archive:
        for domain in document.specification.domains:
            folder = domain_anchor(domain.name).removeprefix("d-")
            for feature in domain.features:
                name = f"{folder}/{feature_anchor(domain.name, feature.name).removeprefix('f-')}.feature"
                entry = zipfile.ZipInfo(name, date_time=document.generated_at.timetuple()[:6])
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, "".join(feature_file(document, domain, feature)))
                yield pieces.take()
    yield pieces.take()


def feature_file(document: Document, domain: Domain, feature: Feature) -> Iterator[str]:
    """Lines of one file: a scenario without steps for each behaviour, its status as a tag, its test in a comment."""
    say, source = words(document.specification.language), document.source
    of_feature, of_scenario = _KEYWORDS[say.language]
    yield f"# language: {say.language}\n"
    yield f"# {_line(source.title)} {source.commit}\n"
    yield f"# {_line(say.domain(domain.name))}\n"
    yield f"{of_feature}: {_line(say.feature(feature.name))}\n"
    for behaviour in feature.behaviours:
        subject = behaviour.subject
        link = source.link(subject)
        yield f"\n  # {_line(f'{subject.file}:{subject.line}')}{f' {link}' if link else ''}\n"
        yield _tag(behaviour)
        yield f"  {of_scenario}: {_line(behaviour.sentence)}\n"


def _tag(behaviour: Behaviour) -> str:
    status = _NOT_IN_TAGS.sub("_", visible(behaviour.subject.status))
    return "" if status in ("active", "") else f"  @{status}\n"


def _line(text: str) -> str:
    """Put it on one line, where nothing after the keyword has a meaning."""
    return visible(text).strip()

"""A specification: domains hold features, features hold behaviours, each of one test (docs/adr/0047)."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

#: What cannot be grouped by anything that was found; the page says so in the reader's language.
UNGROUPED = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """A test as a generator sees it, never its body.  status: as in the inventory; line: 1-based."""

    file: str
    framework: str
    suites: tuple[str, ...]
    name: str
    line: int
    status: str

    @property
    def identity(self) -> bytes:
        """32 bytes that stay when the test moves within its file: of its file, framework, suites and name."""
        words = [self.file, self.framework, *self.suites, self.name]
        told = "\0".join(" ".join(unicodedata.normalize("NFC", word).split()) for word in words)
        return hashlib.sha256(f"{len(self.suites)}\0{told}".encode(errors="surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a behaviour stands.  Either may be UNGROUPED; a domain that is, has only such features."""

    domain: str
    feature: str


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One sentence about one test.  fell_back: the model failed here, so the built-in generator wrote it, for free."""

    subject: Subject
    sentence: str
    fell_back: bool = False


@dataclass(frozen=True, slots=True)
class Feature:
    """What belongs together in a domain."""

    name: str
    behaviours: Sequence[Behaviour]


@dataclass(frozen=True, slots=True)
class Domain:
    """A part of the product, in the order in which it is read."""

    name: str
    features: Sequence[Feature]


@dataclass(frozen=True, slots=True)
class Specification:
    """A whole document.  language: as in LANGUAGES; summary: two or three sentences, empty where none could be made."""

    language: str
    summary: str
    domains: Sequence[Domain]

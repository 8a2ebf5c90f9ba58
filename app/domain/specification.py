"""A specification: domains contain features, and features contain behaviours of one test each (docs/adr/0047)."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

#: The generator that needs no model; a part of every cache key, so it changes with its sentences.
BUILT_IN = "built-in 1"
#: The languages that it writes, by code (ISO 639-1).
LANGUAGES = {"en": "English", "ko": "Korean"}
#: The group of everything that could not be grouped; the page shows it in the reader's language.
UNGROUPED = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """A test as a generator sees it, without its body.  status: as in the inventory; line: 1-based.

    identity: 32 bytes of its file, framework, suites and name, which stay the same when the test moves within its file.
    """

    file: str
    framework: str
    suites: tuple[str, ...]
    name: str
    line: int
    status: str
    identity: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # calculated once: a document of 28,000 tests needs it a dozen times for each
        words = [self.file, self.framework, *self.suites, self.name]
        told = "\0".join(" ".join(unicodedata.normalize("NFC", word).split()) for word in words)
        digest = hashlib.sha256(f"{len(self.suites)}\0{told}".encode(errors="surrogatepass")).digest()
        object.__setattr__(self, "identity", digest)


class Mode(StrEnum):
    """What a job may reuse from earlier ones."""

    INITIAL = "initial"  #: the existing document, if there is one
    REGENERATE_CACHED = "regenerate_cached"  #: a new version, from stored sentences
    REGENERATE_FRESH = "regenerate_fresh"  #: a new version, from new sentences only


@dataclass(frozen=True, slots=True)
class Shelf:
    """Whose stored sentences a job may use: those of the repository, or for a private one the user's own.

    generator: which wrote them; language: of the sentences; fresh_for: the user who asked for new sentences, and who
    alone has them until a document is billed for them.
    """

    codebase_id: UUID
    user_id: UUID | None
    generator: str
    language: str
    fresh_for: UUID | None = None

    def key(self, kind: str, subject: Subject) -> bytes:
        """The key under which the words for a test are stored, 32 bytes.  kind: `place` or `sentence`."""
        return self.key_of(kind, subject.identity)

    def key_of(self, kind: str, identity: bytes) -> bytes:
        """The same key, from the identity of the test."""
        told = "\0".join((kind, str(self.codebase_id), str(self.user_id or ""), self.generator, self.language))
        told += f"\0{self.fresh_for}" if self.fresh_for else ""
        return hashlib.sha256(told.encode() + b"\0" + identity).digest()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a behaviour belongs.  Either part may be UNGROUPED; an ungrouped domain has only ungrouped features."""

    domain: str
    feature: str


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One sentence about one test.  fell_back: the model failed, so the built-in generator wrote it, for free."""

    subject: Subject
    sentence: str
    fell_back: bool = False


@dataclass(frozen=True, slots=True)
class Feature:
    """A group of related behaviours in a domain."""

    name: str
    behaviours: Sequence[Behaviour]


@dataclass(frozen=True, slots=True)
class Domain:
    """A part of the product; its features are in reading order."""

    name: str
    features: Sequence[Feature]


@dataclass(frozen=True, slots=True)
class Specification:
    """A whole document.  language: as in LANGUAGES; summary: two or three sentences, empty if none could be made."""

    language: str
    summary: str
    domains: Sequence[Domain]

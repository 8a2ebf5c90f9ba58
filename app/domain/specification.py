"""A specification: domains hold features, features hold behaviours, each of one test (docs/adr/0047)."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

#: The generator that needs nobody; a part of every cache key, so it changes with its sentences.
BUILT_IN = "built-in 1"
#: Those that it writes, by code (ISO 639-1).
LANGUAGES = {"en": "English", "ko": "Korean"}
#: What cannot be grouped by anything that was found; the page says so in the reader's language.
UNGROUPED = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """A test as a generator sees it, never its body.  status: as in the inventory; line: 1-based.

    identity: 32 bytes that stay when the test moves within its file: of its file, framework, suites and name.
    """

    file: str
    framework: str
    suites: tuple[str, ...]
    name: str
    line: int
    status: str
    identity: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # made once: a document of 28,000 tests asks for each a dozen times
        words = [self.file, self.framework, *self.suites, self.name]
        told = "\0".join(" ".join(unicodedata.normalize("NFC", word).split()) for word in words)
        digest = hashlib.sha256(f"{len(self.suites)}\0{told}".encode(errors="surrogatepass")).digest()
        object.__setattr__(self, "identity", digest)


class Mode(StrEnum):
    """What a job may take from earlier ones."""

    INITIAL = "initial"  #: the document that is there, if one is
    REGENERATE_CACHED = "regenerate_cached"  #: a new version, of words that are kept
    REGENERATE_FRESH = "regenerate_fresh"  #: a new version, of new words alone


@dataclass(frozen=True, slots=True)
class Shelf:
    """Whose kept words a job may use: those of the repository, of a private one the user's own.

    generator: who writes them; language: in which; fresh_for: a user who asked for new words,
    and who alone has them until a document is billed for them.
    """

    codebase_id: UUID
    user_id: UUID | None
    generator: str
    language: str
    fresh_for: UUID | None = None

    def key(self, kind: str, subject: Subject) -> bytes:
        """Under which a test's words are kept, 32 bytes.  kind: `place` or `sentence`."""
        return self.key_of(kind, subject.identity)

    def key_of(self, kind: str, identity: bytes) -> bytes:
        """The same by the identity of the test."""
        told = "\0".join((kind, str(self.codebase_id), str(self.user_id or ""), self.generator, self.language))
        told += f"\0{self.fresh_for}" if self.fresh_for else ""
        return hashlib.sha256(told.encode() + b"\0" + identity).digest()


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

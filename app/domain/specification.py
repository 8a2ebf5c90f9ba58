"""A specification: domains contain features, and features contain behaviours of one test each (docs/adr/0047)."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

#: The generator that needs no model; a part of every cache key, so it changes with its sentences.
BUILT_IN = "built-in 1"
#: The languages that it writes, by code (ISO 639-1).
LANGUAGES = {"en": "English", "ko": "Korean"}
#: Versions of a document that are kept for a user, an analysis and a language; a further one drops the oldest.
MOST_VERSIONS = 20
#: The group of everything that could not be grouped; the page shows it in the reader's language.
UNGROUPED = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """A test as a generator sees it, without its body.  status, kind: as in the inventory; line: 1-based.

    identity: 32 bytes of its file, framework, suites and name, which stay the same when the test moves within its file.
    """

    file: str
    framework: str
    suites: tuple[str, ...]
    name: str
    line: int
    status: str
    kind: str = field(default="test", compare=False)
    identity: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # calculated once: a document of 28,000 tests needs it a dozen times for each
        words = [self.file, self.framework, *self.suites, self.name]
        text = "\0".join(" ".join(unicodedata.normalize("NFC", word).split()) for word in words)
        digest = hashlib.sha256(f"{len(self.suites)}\0{text}".encode(errors="surrogatepass")).digest()
        object.__setattr__(self, "identity", digest)


class Mode(StrEnum):
    """How far a job may reuse sentences of earlier ones."""

    INITIAL = "initial"  #: the existing document, if there is one
    REGENERATE_CACHED = "regenerate_cached"  #: a new version from stored sentences, unless it would say the same
    REGENERATE_FRESH = "regenerate_fresh"  #: a new version, from new sentences only

    def by(self, generator: str) -> Mode:
        """The mode in which a generator works: the built-in one would write the same sentences again."""
        return Mode.REGENERATE_CACHED if self is Mode.REGENERATE_FRESH and generator == BUILT_IN else self


@dataclass(frozen=True, slots=True)
class Shelf:
    """The stored sentences that a job may use: those of the repository, or for a private one the user's own.

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
        """The key of a test's words, from the identity of the test."""
        text = "\0".join((kind, str(self.codebase_id), str(self.user_id or ""), self.generator, self.language))
        text += f"\0{self.fresh_for}" if self.fresh_for else ""
        return hashlib.sha256(text.encode() + b"\0" + identity).digest()

    def summary_key(self, domains: Sequence[Domain]) -> bytes:
        """The key under which a summary of these places is stored.  Only their names and their order count."""
        names = [[domain.name, *(feature.name for feature in domain.features)] for domain in domains]
        return self.key_of("summary", hashlib.sha256(json.dumps(names).encode()).digest())


@dataclass(frozen=True, slots=True)
class Place:
    """Where a behaviour belongs.  Either part may be UNGROUPED; an ungrouped domain has only ungrouped features."""

    domain: str
    feature: str

    def folded(self) -> Place:
        """The form in which headings are compared: by their words, ignoring what is between them."""
        return Place(" ".join(self.domain.split()), " ".join(self.feature.split()))


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


def fingerprint(places: Mapping[bytes, Place], sentences: Mapping[bytes, str]) -> bytes:
    """32 bytes of the words of a document, by identity of its tests: equal for documents that say the same."""
    digest = hashlib.sha256()
    for identity in sorted(sentences):
        place = places[identity]
        digest.update(identity + json.dumps([place.domain, place.feature, sentences[identity]]).encode())
    return digest.digest()

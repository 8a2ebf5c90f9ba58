"""Objects outside the database, by the digests of their contents (docs/adr/0095)."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Protocol


class Kind(StrEnum):
    """What an object contains."""

    #: the facts of many files, see `fact_packs`
    FACTS = "facts"
    #: the last inventory of a repository, as the engine packed it
    INVENTORY = "inventory"


class ObjectsAwayError(Exception):
    """The object store does not answer, or refuses to."""


class Objects(Protocol):
    """An object store.  Each call but the first raises ObjectsAwayError."""

    def answers(self) -> bool:
        """Whether it did so when it was asked last, or that is long ago; for work that only a store is worth."""
        ...

    def put(self, content: bytes) -> None:
        """Store an object, and again if it is there, as that may be damaged; nobody sees a part of it."""
        ...

    def get(self, digests: Collection[bytes]) -> Mapping[bytes, bytes]:
        """Contents by digest; objects that are lost or damaged are left out."""
        ...

    def delete(self, digests: Collection[bytes]) -> None:
        """Delete objects, if they are there."""
        ...


def digest_of(content: bytes) -> bytes:
    """The digest under which a content is stored."""
    return hashlib.sha256(content).digest()

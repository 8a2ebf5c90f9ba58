"""A store of objects that are verified, and that is not asked for a while after it did not answer (docs/adr/0095)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import monotonic
from typing import Protocol

import structlog

from app.domain.objects import ObjectsAwayError, digest_of

log = structlog.get_logger(__name__)

#: Seconds without a question after the first failure, and at most; they double in between.  A job that begins
#: meanwhile does not wait for the store at all.
PAUSE_SECONDS = (5.0, 60.0)
#: Objects that are read at once.
PARALLEL = 8


class ObjectPlace(Protocol):
    """Where objects are, by name.  Each call raises ObjectsAwayError."""

    def put(self, name: str, content: bytes) -> None:
        """Store or replace an object; nobody sees a part of it."""
        ...

    def get(self, name: str) -> bytes | None:
        """The content; None if there is none."""
        ...

    def delete(self, names: Collection[str]) -> None:
        """Delete objects, if they are there."""
        ...


class VerifiedObjects:
    """The objects of one process; see app.domain.objects.Objects."""

    def __init__(self, place: ObjectPlace, *, clock: Callable[[], float] = monotonic) -> None:
        self._place = place
        self._clock = clock
        self._failures = 0
        self._away_until = 0.0

    def answers(self) -> bool:
        """Whether the store is asked at present."""
        return self._clock() >= self._away_until

    def put(self, content: bytes) -> None:
        """Store an object."""
        with self._request():
            self._place.put(name_of(digest_of(content)), content)

    def get(self, digests: Collection[bytes]) -> Mapping[bytes, bytes]:
        """Contents by digest, without those that are not there or are not what the digest says."""
        with self._request():
            names = [name_of(digest) for digest in digests]
            if len(names) > 1:
                with ThreadPoolExecutor(PARALLEL) as pool:
                    contents = list(pool.map(self._place.get, names))
            else:
                contents = [self._place.get(name) for name in names]
        found = zip(digests, contents, strict=True)
        return {digest: content for digest, content in found if content is not None and digest_of(content) == digest}

    def delete(self, digests: Collection[bytes]) -> None:
        """Delete objects."""
        with self._request():
            self._place.delete([name_of(digest) for digest in digests])

    @contextmanager
    def _request(self) -> Iterator[None]:
        if not self.answers():
            raise ObjectsAwayError("did not answer a moment ago")
        try:
            yield
        except ObjectsAwayError as error:
            first, longest = PAUSE_SECONDS
            pause = min(longest, first * 2**self._failures)
            self._away_until = self._clock() + pause
            self._failures = min(self._failures + 1, 16)
            log.warning("objects_away", error=str(error), not_asked_for_seconds=pause)
            raise
        self._failures = 0


def name_of(digest: bytes) -> str:
    """The name of an object: in one of 256 folders, as a folder with millions of files is slow."""
    return f"{digest.hex()[:2]}/{digest.hex()}"

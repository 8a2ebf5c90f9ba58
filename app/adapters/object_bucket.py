"""Objects in a bucket of S3, or of a server that speaks its protocol, by obstore."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from app.domain.objects import ObjectsAwayError
from app.setting_types import Bucket

#: For one attempt, and for all attempts at one request: less than what is left of a job at its soft time limit.
TIMEOUTS: Mapping[str, Any] = {"connect_timeout": "3s", "timeout": "10s"}
ATTEMPTS: Mapping[str, Any] = {"max_retries": 2, "retry_timeout": timedelta(seconds=5)}
#: The process that made the first request.  The library's threads are not in a child that is forked later, where each
#: request would wait for ever.
_user: list[int] = []


class ForkedError(RuntimeError):
    """A process was forked from one that has used a bucket."""


class ObjectBucket:
    """A part of a bucket.  Credentials come from where programs for S3 have them: AWS_ACCESS_KEY_ID and others."""

    def __init__(self, bucket: Bucket) -> None:
        from obstore.store import S3Store  # noqa: PLC0415 - an extra

        found = {"endpoint": bucket.endpoint, "region": bucket.region}
        options: Any = {
            "prefix": bucket.prefix or None,
            "config": {name: value for name, value in found.items() if value},
            "client_options": {**TIMEOUTS, "allow_http": (bucket.endpoint or "").startswith("http://")},
            "retry_config": ATTEMPTS,
        }
        self._store = S3Store(bucket.name, **options)

    def put(self, name: str, content: bytes) -> None:
        """Store an object by one request."""
        with _answering():
            self._store.put(name, content, use_multipart=False)

    def get(self, name: str) -> bytes | None:
        """Read an object."""
        with _answering():
            try:
                return bytes(self._store.get(name).bytes())
            except FileNotFoundError as error:
                if "NoSuchBucket" in str(error):
                    raise
                return None

    def delete(self, names: Collection[str]) -> None:
        """Delete objects, up to a thousand by one request."""
        with _answering():
            self._store.delete(list(names))


@contextmanager
def _answering() -> Iterator[None]:
    if not _user:
        _user.append(os.getpid())
    if _user[0] != os.getpid():
        raise ForkedError
    from obstore.exceptions import BaseError  # noqa: PLC0415 - an extra

    try:
        yield
    except (BaseError, OSError) as error:
        # its further lines describe the request
        raise ObjectsAwayError(f"{type(error).__name__}: {str(error).partition(chr(10))[0]}") from error

"""Which failures are alike: the fingerprint of a failed job (code, and message without what differs by job)."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: What a message may name of one job: quoted names, addresses, paths, ids and numbers.  The order matters.
_NAMED = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'|\S*(?:://|@|/)\S*")
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
#: How much of a message distinguishes failures, in characters.
MOST = 200


@dataclass(frozen=True, slots=True, order=True)
class Fingerprint:
    """The common part of failures that are alike.

    service: of the job; code: of the error; message: with `…` for names and `N` for numbers, so it names nobody.
    """

    service: str
    code: str
    message: str


def fingerprint(service: str, code: str, message: str | None) -> Fingerprint:
    """The fingerprint of one failure."""
    text = _NAMED.sub("…", (message or "")[:1000])
    text = _NUMBER.sub("N", _ID.sub("…", text))
    return Fingerprint(service, code, " ".join(text.split())[:MOST])

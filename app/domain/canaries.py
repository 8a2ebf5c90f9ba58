"""Canaries: the secrets in use, in every encoding in which a text could contain one."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

#: A shorter secret would occur in innocent words; the service generates none as short.
SHORTEST = 8

_TOKEN = re.compile(r"fl_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])")
_PACKED = re.compile(r"[A-Za-z0-9+/]{60,}={0,2}")


def spellings(secret: str) -> set[str]:
    """The secret itself, and its forms in URLs, JSON, SQL rows, hexadecimal and Base64."""
    found = {secret, quote(secret, safe=""), quote(secret), quote(secret, safe=" +")}
    found |= {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    packed = set[str]().union(*(_packed(one.encode()) for one in found))
    found.add(secret.encode().hex())
    return found | packed | {one.replace("\\", "\\\\").replace('"', '""') for one in found}


@dataclass(frozen=True, slots=True)
class Canaries:
    """The strings to search for, as (name of the secret, one form of it)."""

    needles: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, secrets: Mapping[str, str]) -> Canaries:
        """All forms of the secrets that are long enough, by name."""
        long = {name: secret for name, secret in secrets.items() if len(secret) >= SHORTEST}
        return cls(tuple((name, one) for name, secret in long.items() for one in sorted(spellings(secret))))

    def found(self, words: str) -> set[str]:
        """Names of the secrets that a text contains.

        One search for each is many times faster than one regular expression for all of them.
        """
        return {name for name, spelt in self.needles if spelt in words}


def tokens(words: str) -> set[str]:
    """Find strings that look like an API token, also inside the Base64 in which messages wrap their bodies."""
    parts = [words]
    if any(core in words for core in _PACKED_PREFIX):
        parts += (b64decode(run[: len(run) // 4 * 4]).decode("latin-1") for run in _PACKED.findall(words))
    return {token for part in parts if "fl_" in part for token in _TOKEN.findall(part)}


def _packed(secret: bytes) -> set[str]:
    """The Base64 characters that depend on the secret alone, for each of the three offsets at which it may begin."""
    found = set()
    for before in range(3):
        text = b64encode(b"\0" * before + secret + b"\0\0\0").decode()
        own = text[-(-before * 8 // 6) : (before + len(secret)) * 8 // 6]
        found |= {own, own.translate(str.maketrans("+/", "-_")), own.replace("/", "\\/")}
    return found


#: For each of these Base64 forms of the beginning of a token.
_PACKED_PREFIX = sorted(_packed(b"fl_"))

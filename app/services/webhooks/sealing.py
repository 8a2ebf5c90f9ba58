"""Encrypt what the database keeps and the service must be able to read: AES-256-GCM, bound to the row."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

#: With them begins whatever a key has encrypted.
KEY_ID_BYTES = 4
_NONCE = 12  # bytes
_CONTEXT = b"fairlane sealed"  # at most 16 bytes


class CannotOpenError(Exception):
    """The key with which it was encrypted is not known, or it belongs to another row."""


@dataclass(frozen=True, slots=True, repr=False)
class Keyring:
    """Keys by their ids, and the id of the one that encrypts."""

    keys: dict[bytes, bytes]
    newest: bytes

    @classmethod
    def of(cls, phrases: Sequence[str]) -> Keyring:
        """Derive the keys from phrases; the first one's encrypts."""
        derived = [_derive(phrase) for phrase in phrases]
        return cls({_id(key): key for key in reversed(derived)}, _id(derived[0]))

    def seal(self, plain: bytes, row: UUID) -> bytes:
        """Encrypt into key id, nonce and ciphertext.  row: the id of the webhook that the text belongs to."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - few processes need it

        nonce = os.urandom(_NONCE)
        return self.newest + nonce + AESGCM(self.keys[self.newest]).encrypt(nonce, plain, row.bytes)

    def open(self, sealed: bytes, row: UUID) -> bytes:
        """Decrypt.  Raises: CannotOpenError."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - as above
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - as above

        key_id, nonce, rest = sealed[:KEY_ID_BYTES], sealed[KEY_ID_BYTES:][:_NONCE], sealed[KEY_ID_BYTES + _NONCE :]
        key = self.keys.get(key_id)
        if key is None or not rest:
            raise CannotOpenError("no key of ENCRYPTION_KEYS has encrypted this")
        try:
            return AESGCM(key).decrypt(nonce, rest, row.bytes)
        except InvalidTag:
            raise CannotOpenError("this was changed, or belongs to another row") from None


def key_id(phrase: str) -> bytes:
    """The id of the key that is derived from a phrase."""
    return _id(_derive(phrase))


def _id(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()[:KEY_ID_BYTES]


def _derive(phrase: str) -> bytes:
    """A key of its own for this purpose, as SECRET_KEY also signs.  The phrase is random, so no slow hash is needed."""
    return hashlib.blake2b(phrase.encode(), digest_size=32, person=_CONTEXT).digest()

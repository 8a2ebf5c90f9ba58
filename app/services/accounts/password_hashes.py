"""Hash passwords with argon2id, a few at a time, and compare as long for nobody as for somebody."""

from __future__ import annotations

import base64
import secrets
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

from app.errors import Busy, InvalidInput, Message

SHORTEST, LONGEST = 10, 200  # characters
#: Each takes 64 MiB; a flood of sign-ins must not take all memory.
AT_ONCE = 2
#: Longer than all the threads of a web process take, one after the other, on a slow machine.
PATIENCE = 5.0  # seconds

_hasher = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)
_seats = BoundedSemaphore(AT_ONCE)


def checked(password: str, email: str) -> str:
    """A password in the form that is hashed.  Raises: InvalidInput."""
    plain = normal(password) if len(password) <= LONGEST * 4 else password
    if not SHORTEST <= len(plain) <= LONGEST:
        raise _refused(
            Message("A password has %(shortest)s to %(longest)s characters", shortest=SHORTEST, longest=LONGEST)
        )
    if any("\ud800" <= character <= "\udfff" for character in plain):  # a terminal's bytes that are not UTF-8
        raise _refused(Message("A password is text in UTF-8"))
    if plain.casefold() == normal(email).casefold():
        raise _refused(Message("The password must not be the e-mail address"))
    return plain


def normal(password: str) -> str:
    """The same characters however a keyboard composes them."""
    return unicodedata.normalize("NFKC", password)


def hashed(password: str) -> str:
    """The hash of a checked password, with its parameters and a new salt.  Raises: Busy."""
    with _seat():
        return _hasher.hash(password)


def matches(password: str, stored: str | None) -> bool:
    """Compare.  stored: None takes as long, and matches nothing.  Raises: Busy."""
    with _seat():
        try:
            return _hasher.verify(stored or _NOBODYS, normal(password[: LONGEST * 4]))
        except (VerificationError, UnicodeEncodeError):
            return False


def is_outdated(stored: str) -> bool:
    """Whether it was made with other parameters than today's."""
    return _hasher.check_needs_rehash(stored)


def _nobodys() -> str:
    """A hash of today's parameters that no password is known to have."""
    salt, digest = (
        base64.b64encode(secrets.token_bytes(size)).rstrip(b"=").decode()
        for size in (_hasher.salt_len, _hasher.hash_len)
    )
    cost = f"m={_hasher.memory_cost},t={_hasher.time_cost},p={_hasher.parallelism}"
    return f"$argon2id$v=19${cost}${salt}${digest}"


@contextmanager
def _seat() -> Iterator[None]:
    if not _seats.acquire(timeout=PATIENCE):
        raise Busy("Too many people sign in at this moment; try again.", retry_after=5)
    try:
        yield
    finally:
        _seats.release()


def _refused(detail: Message) -> InvalidInput:
    return InvalidInput(detail, errors=[{"pointer": "/password", "detail": detail}])


_NOBODYS = _nobodys()

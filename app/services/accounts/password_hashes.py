"""Hash passwords with argon2id, a few at a time, and compare as long for nobody as for somebody."""

from __future__ import annotations

import base64
import secrets
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

from app.concurrency import Lane
from app.errors import InvalidInput, Message

SHORTEST, LONGEST = 10, 200  # characters
#: Turns at once of strangers, and of one client.  A hash takes 64 MiB and a processor.
AT_ONCE, OF_CLIENT = 2, 1
#: Requests that wait for their turn, and for how many seconds; a flood of sign-ins is refused at once.
WAITING, PATIENCE = 4, 1.5
#: The same for those who are signed in or have a link: strangers cannot use these up.
OWN_AT_ONCE, OWN_WAITING = 1, 2

_hasher = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)
_lane = Lane(Message("sign-ins"), AT_ONCE, OF_CLIENT, WAITING, PATIENCE)
_own_lane = Lane(Message("sign-ins"), OWN_AT_ONCE, OF_CLIENT, OWN_WAITING, PATIENCE, name="own sign-ins")


class Turn:
    """Hash passwords, one after the other; only `turn` and `own_turn` make one."""

    @staticmethod
    def hashed(password: str) -> str:
        """The hash of a checked password, with its parameters and a new salt."""
        return _hasher.hash(password)

    @staticmethod
    def matches(password: str, stored: str | None) -> bool:
        """Compare.  stored: None takes as long, and matches nothing."""
        try:
            return _hasher.verify(stored or _NOBODYS, normal(password[: LONGEST * 4]))
        except (VerificationError, UnicodeEncodeError):
            return False


@contextmanager
def turn(client: str) -> Iterator[Turn]:
    """Wait for a turn to hash for a stranger.

    client: the pseudonym of a network, because one person may have many /64.

    A request takes one turn, before an attempt at an account is counted or a link is used up: a refusal costs neither.
    Raises: TooManyRequests, Busy.
    """
    with _lane.place(client):
        yield Turn()


@contextmanager
def own_turn(client: str) -> Iterator[Turn]:
    """Wait for a turn to hash for somebody who is signed in or has a link.  client: the account, by one of these.

    A request takes one turn, as in `turn`.  Raises: TooManyRequests, Busy.
    """
    with _own_lane.place(client):
        yield Turn()


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
    """A password in one form, however a keyboard composes its characters."""
    return unicodedata.normalize("NFKC", password)


def is_outdated(stored: str) -> bool:
    """Whether a hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(stored)


def _nobodys() -> str:
    """A hash of today's parameters that no password is known to have."""
    salt, digest = (
        base64.b64encode(secrets.token_bytes(size)).rstrip(b"=").decode()
        for size in (_hasher.salt_len, _hasher.hash_len)
    )
    cost = f"m={_hasher.memory_cost},t={_hasher.time_cost},p={_hasher.parallelism}"
    return f"$argon2id$v=19${cost}${salt}${digest}"


def _refused(detail: Message) -> InvalidInput:
    return InvalidInput(detail, errors=[{"pointer": "/password", "detail": detail}])


_NOBODYS = _nobodys()

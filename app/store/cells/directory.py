"""The directory: which account lives in which cell.  Its functions take a transaction on the directory's database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.domain.cells import AccountCell
from app.store.core.unit_of_work import Tx

_HERE = text("SELECT to_regclass('directory.accounts') IS NOT NULL")
_ONE_AT_A_TIME = text("SELECT pg_advisory_xact_lock(hashtextextended('fairlane directory', 0))")
_PLACE = "SELECT a.user_id, a.cell, a.epoch, a.moving_to FROM directory.accounts a"
_OF_USER = text(f"{_PLACE} WHERE a.user_id = :user_id")
_OF_ADDRESS = text(f"{_PLACE} WHERE a.address_digest = :digest")
_OF_KEY = text(f"{_PLACE} JOIN directory.keys k ON k.user_id = a.user_id WHERE k.hash = :hash")
_MOVING = text(f"{_PLACE} WHERE a.moving_to IS NOT NULL ORDER BY a.user_id")
_ADD = text("""
    INSERT INTO directory.accounts (user_id, cell, address_digest) VALUES (:user_id, :cell, :digest)
    ON CONFLICT DO NOTHING""")
_LEARN = text("""
    INSERT INTO directory.keys (hash, user_id) SELECT :hash, user_id FROM directory.accounts WHERE user_id = :user_id
    ON CONFLICT (hash) DO UPDATE SET user_id = excluded.user_id, learned_at = excluded.learned_at""")
_FORGET_KEYS = text("""
    DELETE FROM directory.keys WHERE hash = ANY (ARRAY(
        SELECT hash FROM directory.keys WHERE learned_at < clock_timestamp() - CAST(:age AS interval)
         ORDER BY learned_at LIMIT :most))""")
# its time tells that a claim was made again
_CLAIM = text("""
    INSERT INTO directory.keys (hash, user_id) SELECT :hash, user_id FROM directory.accounts WHERE user_id = :user_id
    ON CONFLICT (hash) DO UPDATE SET learned_at = excluded.learned_at WHERE keys.user_id = excluded.user_id""")
_CLAIMED = text("""
    SELECT a.user_id, a.cell, a.epoch, a.moving_to, k.learned_at,
           k.learned_at < clock_timestamp() - interval '1 minute' AS is_old
      FROM directory.keys k JOIN directory.accounts a ON a.user_id = k.user_id WHERE k.hash = :hash""")
_TAKE = text("""
    UPDATE directory.keys k SET user_id = :user_id, learned_at = clock_timestamp()
      FROM directory.accounts a
     WHERE k.hash = :hash AND k.user_id = :other AND k.learned_at = :learned_at
       AND a.user_id = k.user_id AND a.epoch = :epoch AND a.moving_to IS NULL""")
# a younger one may be of a sign-up that has not committed in its cell yet; no transaction lasts that long
_DROP = text("""
    DELETE FROM directory.accounts
     WHERE user_id = :user_id AND cell = :cell AND epoch = :epoch AND moving_to IS NULL
       AND noted_at < clock_timestamp() - interval '1 minute'""")
_REMOVE = text("DELETE FROM directory.accounts WHERE user_id = :user_id AND cell = :cell AND moving_to IS NULL")
_BEGIN_MOVE = text("""
    UPDATE directory.accounts SET moving_to = :to, epoch = epoch + 1
     WHERE user_id = :user_id AND cell <> :to AND moving_to IS NULL
    RETURNING user_id, cell, epoch, moving_to""")
_END_MOVE = text("""
    UPDATE directory.accounts
       SET cell = CASE WHEN :moved THEN moving_to ELSE cell END, moving_to = NULL,
           moved_at = CASE WHEN :moved THEN clock_timestamp() ELSE moved_at END
     WHERE user_id = :user_id AND epoch = :epoch AND moving_to IS NOT NULL""")
_IN_CELL = text(f"{_PLACE} WHERE a.cell = :cell AND a.user_id > :after ORDER BY a.user_id LIMIT :most")
_CELLS = text("""
    SELECT cell, count(*) AS accounts, count(moving_to) AS moving
      FROM directory.accounts GROUP BY cell ORDER BY cell""")


class CellRow(NamedTuple):
    """A cell that has accounts.  moving: those that are leaving it."""

    cell: str
    accounts: int
    moving: int


class Claim(NamedTuple):
    """The account that a key is noted for.  is_old: a transaction that was about to make the key has ended since."""

    user_id: UUID
    cell: str
    epoch: int
    moving_to: str | None
    learned_at: datetime
    is_old: bool


def digest_of(email: str) -> bytes:
    """What the directory keeps of an address, of which upper and lower case are one."""
    return sha256(email.lower().encode()).digest()


def create(tx: Tx, *, rights: str | None = None) -> bool:
    """Create the directory's tables; False if they are there.

    rights: SQL that gives another role what it needs of the objects of the current schema; None: the caller has them.
    Locks: an advisory lock, as two hosts may begin.
    """
    tx.write(_ONE_AT_A_TIME)
    is_new = not is_made(tx)
    if is_new:
        tx.connection.exec_driver_sql(files("migrations").joinpath("directory.sql").read_text(encoding="utf-8"))
    if rights is not None:
        tx.connection.exec_driver_sql("SET LOCAL search_path = directory")
        tx.connection.exec_driver_sql(rights.replace("%", "%%"))  # as the driver reads it
    return is_new


def is_made(tx: Tx) -> bool:
    """Whether the directory's tables are there."""
    return bool(tx.run(_HERE).scalar_one())


def place_of(tx: Tx, user_id: UUID) -> AccountCell | None:
    """Where an account lives."""
    return tx.run(_OF_USER, user_id=user_id).value_or_none(AccountCell)


def place_of_address(tx: Tx, email: str) -> AccountCell | None:
    """Where the account with this e-mail address lives."""
    return tx.run(_OF_ADDRESS, digest=digest_of(email)).value_or_none(AccountCell)


def place_of_key(tx: Tx, key: bytes) -> AccountCell | None:
    """Where the account lives whose key has been used before.  key: the hash of a secret."""
    return tx.run(_OF_KEY, hash=key).value_or_none(AccountCell)


def add(tx: Tx, user_id: UUID, cell: str, email: str) -> bool:
    """Note an account; False if it, or its address, is noted already."""
    return tx.run(_ADD, user_id=user_id, cell=cell, digest=digest_of(email)).rowcount > 0


def learn(tx: Tx, key: bytes, user_id: UUID) -> None:
    """Note whose key this is; nothing if the directory does not know the account."""
    tx.write(_LEARN, hash=key, user_id=user_id)


def claim(tx: Tx, key: bytes, user_id: UUID) -> bool:
    """Note whose a key will be; False if it is another one's, or the directory does not know the account."""
    return tx.run(_CLAIM, hash=key, user_id=user_id).rowcount > 0


def claimed(tx: Tx, key: bytes) -> Claim | None:
    """Whose a key is, or was."""
    return tx.run(_CLAIMED, hash=key).value_or_none(Claim)


def take(tx: Tx, key: bytes, user_id: UUID, other: Claim) -> bool:
    """Note that a key will be an account's, instead of another one's; False if that has claimed it again, or moves."""
    given = {"other": other.user_id, "learned_at": other.learned_at, "epoch": other.epoch}
    return tx.run(_TAKE, hash=key, user_id=user_id, **given).rowcount > 0


def forget_keys(tx: Tx, *, age: timedelta, most: int) -> int:
    """Delete keys that were learned long ago, which are learned again if they are used.  Returns: how many."""
    return tx.run(_FORGET_KEYS, age=age, most=most).rowcount


def drop(tx: Tx, place: AccountCell) -> bool:
    """Remove an account that the cell of its place does not have.

    It stays if it is moving, has moved since the place was read, or was noted within the last minute.
    """
    return tx.run(_DROP, user_id=place.user_id, cell=place.cell, epoch=place.epoch).rowcount > 0


def remove(tx: Tx, user_id: UUID, cell: str) -> None:
    """Remove an account that its cell has deleted, with its keys; nothing if it is moving or lives elsewhere."""
    tx.write(_REMOVE, user_id=user_id, cell=cell)


def accounts_of(tx: Tx, cell: str, *, after: UUID, most: int) -> list[AccountCell]:
    """The accounts that live in a cell by their ids, beginning behind one."""
    return tx.run(_IN_CELL, cell=cell, after=after, most=most).values(AccountCell)


def begin_move(tx: Tx, user_id: UUID, to: str) -> AccountCell | None:
    """Note that an account will move; None if it is not here, is there already, or is moving."""
    return tx.run(_BEGIN_MOVE, user_id=user_id, to=to).value_or_none(AccountCell)


def end_move(tx: Tx, place: AccountCell, *, moved: bool) -> None:
    """Note how a move has ended; nothing if another process has noted it."""
    tx.write(_END_MOVE, user_id=place.user_id, epoch=place.epoch, moved=moved)


def moving(tx: Tx) -> Sequence[AccountCell]:
    """All moves that are under way, or were when their process died."""
    return tx.run(_MOVING).values(AccountCell)


def cells(tx: Tx) -> list[CellRow]:
    """How many accounts each cell has."""
    return tx.run(_CELLS).values(CellRow)

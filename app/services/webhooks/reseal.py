"""Encrypt everything that is stored encrypted with the newest key, so that an older one can be removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.services.operations.run_in_batches import in_batches
from app.services.webhooks.sealing import KEY_ID_BYTES, CannotOpenError, Keyring
from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.operations import audit_log
from app.store.webhooks import sealed


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A key, and how many stored secrets it has encrypted.  name: of its setting, None for a key that is not set."""

    id: str
    name: str | None
    secrets: int
    encrypts: bool


def uses(uow: UnitOfWork, keyring: Keyring, names: dict[str, str]) -> list[KeyUse]:
    """Each key that is set or was used, the newest first.  names: of the settings, by the ids of their keys."""
    with uow.once() as tx:
        found = sealed.by_key(tx, KEY_ID_BYTES)
    ids = [*names, *sorted(found.keys() - names.keys())]
    return [KeyUse(one, names.get(one), found.get(one, 0), one == keyring.newest.hex()) for one in ids]


def reseal(uow: UnitOfWork, keyring: Keyring, *, actor: str) -> int:
    """Encrypt with the newest key what another one has encrypted, in batches.

    A secret that no key opens stays as it is.  Returns: how many webhooks were changed.
    """

    def some(tx: Tx, after: Any, most: int) -> Batch:
        rows = sealed.part(tx, after, most)
        changed = sum(_replaced(tx, keyring, row.id, row.secret, row.old_secret) for row in rows)
        return Batch(rows[-1].id if len(rows) == most else None, changed)

    changed = in_batches(uow, some)
    with uow.begin() as tx:
        audit_log.add(tx, actor, "keys.reencrypt", keyring.newest.hex(), changed=changed)
    return changed


def _replaced(tx: Tx, keyring: Keyring, row_id: UUID, secret: bytes, old: bytes | None) -> bool:
    given = (bytes(secret), None if old is None else bytes(old))
    made = tuple(one if one is None else _newly(keyring, one, row_id) for one in given)
    if made == given or made[0] is None:
        return False
    sealed.replace(tx, row_id, made[0], made[1])
    return True


def _newly(keyring: Keyring, given: bytes, row_id: UUID) -> bytes:
    if given[:KEY_ID_BYTES] == keyring.newest:
        return given
    try:
        return keyring.seal(keyring.open(given, row_id), row_id)
    except CannotOpenError:
        return given

"""Digests of this process's settings, which it writes into the database beside its clock (clock.py).

They are made at the first write, because they need the database's salt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, text

from app.store.core.session import session

#: (the database's salt) -> digest by setting.
Digests = Callable[[bytes], Mapping[str, str]]

_SALT = text("SELECT uuid_send(settings_salt) AS salt FROM schema_support")
_noted: WeakKeyDictionary[Engine, Digests] = WeakKeyDictionary()
_written: WeakKeyDictionary[Engine, str] = WeakKeyDictionary()


def note(engine: Engine, digests: Digests) -> None:
    """Let this engine's process write such digests from now on."""
    _noted[engine] = digests
    _written.pop(engine, None)


def as_json(engine: Engine) -> str | None:
    """The digests as a JSON object; None for a process that writes none.  Raises: SQLAlchemyError at the first call."""
    if engine not in _noted:
        return None
    if engine not in _written:
        with session(engine, once=True) as connection:
            salt = connection.execute(_SALT).scalar_one()
        if salt is None:
            return None
        _written[engine] = json.dumps(dict(_noted[engine](bytes(salt))), sort_keys=True)
    return _written[engine]

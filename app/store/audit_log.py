"""The log of operators' actions."""

from __future__ import annotations

import json

from sqlalchemy import text

from app.store.unit_of_work import Tx

_ADD = text("""
    INSERT INTO audit_log (actor, action, subject, facts) VALUES (:actor, :action, :subject, CAST(:facts AS jsonb))""")


def add(tx: Tx, actor: str, action: str, subject: str, **facts: object) -> None:
    """Append one action.  actor: user id or `cli`."""
    tx.write(_ADD, actor=actor, action=action, subject=subject, facts=json.dumps(facts, default=str))

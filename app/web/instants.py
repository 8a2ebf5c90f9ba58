"""Instants as programs are told them: UTC, ISO 8601."""

from __future__ import annotations

from datetime import datetime


def iso(instant: datetime | None) -> str | None:
    """With Z for UTC; None for none."""
    return instant.isoformat().replace("+00:00", "Z") if instant else None

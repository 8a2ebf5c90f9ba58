"""Render instants for the API: UTC, ISO 8601."""

from __future__ import annotations

from datetime import datetime


def iso(instant: datetime | None) -> str | None:
    """An instant with Z for UTC; None stays None."""
    return instant.isoformat().replace("+00:00", "Z") if instant else None

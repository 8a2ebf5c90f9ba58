"""The shape of one batch of long work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Batch:
    """The outcome of one batch.

    after: where the next batch begins, None if this was the last; rows: how many were changed.
    """

    after: Any
    rows: int

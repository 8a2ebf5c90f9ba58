"""The order of the commits of a branch (docs/adr/0067)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

#: What a database tells apart.
STEP = timedelta(microseconds=1)


def places(members: Mapping[str, bool], made: Mapping[str, datetime]) -> dict[str, datetime | None]:
    """Instants in the order of the history; None for commits that are not members.

    Each is when the commit was made, or just after the member before it if that is later: a clock may have been wrong.
    So a place depends on what the commit descends from only, and stays when the branch grows.
    members: those that are on the branch in the order of its history, newest first; made: for each, when it was made,
    or its place of before.
    """
    found: dict[str, datetime | None] = dict.fromkeys(members)
    last: datetime | None = None
    for commit in reversed([commit for commit, is_member in members.items() if is_member]):
        at = made[commit]
        last = at if last is None or at > last else last + STEP
        found[commit] = last
    return found

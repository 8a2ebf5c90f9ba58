"""Which tokens were good when they were last used: a flood of others from their address does not stop them.

A token is looked up in any case; this only says whether it may be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.web.limits.read_buckets import Buckets

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

GOOD, REFUSED = 1.0, 0.0


def is_known(buckets: Buckets, secret: str | None) -> bool:
    """Whether some process of this host found it good, and none refused it since."""
    if secret is None:
        return False
    with buckets.table.row(_key(secret)) as row:
        return row.numbers is not None and row.numbers[0] == GOOD


def carries_known(buckets: Buckets, environ: WSGIEnvironment) -> bool:
    """Whether a request, before it has a thread, carries a token that `is_known`."""
    return is_known(buckets, environ.get("HTTP_AUTHORIZATION", "").partition(" ")[2].strip() or None)


def found_good(buckets: Buckets, secret: str | None) -> None:
    """Note a token that was accepted."""
    if secret is not None:
        with buckets.table.row(_key(secret)) as row:
            row.numbers = (GOOD, buckets.clock())


def found_refused(buckets: Buckets, secret: str | None) -> None:
    """Note that a known token has ended; unknown ones take no row."""
    if secret is not None:
        with buckets.table.row(_key(secret)) as row:
            if row.numbers is not None:
                row.numbers = (REFUSED, buckets.clock())


def _key(secret: str) -> str:
    return f"token:{secret}"

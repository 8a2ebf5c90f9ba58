"""A copy of all that is stored about an account, as one JSON file that is sent while it is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from uuid import UUID

from flask import Response

from app.services.accounts import export
from app.web.core import auth
from app.web.core.context import wired
from app.web.limits.read_costs import PER_UNIT, exported


def respond(user_id: UUID) -> Response:
    """The file; it holds a place for exports until it is sent.  Raises: TooManyRequests, Busy."""
    uow, client = wired().uow, auth.client()  # which the generator could not ask for once the request is over
    text, leave = exported(_written(export.parts(uow, user_id)), client, export.size(uow, user_id) // PER_UNIT)
    response = Response(text, mimetype="application/json")
    response.call_on_close(leave)
    response.headers["Content-Disposition"] = 'attachment; filename="fairlane-account.json"'
    return response


def _written(parts: Iterator[tuple[str, Iterator[str]]]) -> Iterator[str]:
    """One object with an array for each part, a row on each line."""
    opening = "{"
    for part, rows in parts:
        first = next(rows, None)
        yield f"{opening}\n{json.dumps(part)}: [" + ("" if first is None else f"\n{first}")
        for row in rows:
            yield f",\n{row}"
        yield "]"
        opening = ","
    yield "\n}\n"

"""The end of a page of results, as a client sends it back to get the next page."""

from __future__ import annotations

import base64
import binascii

from app.errors import InvalidInput


def write(ordinal: int, position: int) -> str:
    """Write the cursor that continues after a test.  ordinal: of its file; position: of the test in it."""
    return base64.urlsafe_b64encode(f"{ordinal}.{position}".encode()).decode()


def read(cursor: str | None) -> tuple[int, int]:
    """(ordinal, position); the beginning for None.  Raises: InvalidInput."""
    if not cursor:
        return 0, 0
    try:
        ordinal, position = base64.urlsafe_b64decode(cursor.encode()).decode().split(".")
        return int(ordinal), int(position)
    except (ValueError, binascii.Error) as error:
        raise InvalidInput(
            "The cursor did not come from this service",
            errors=[{"pointer": "/cursor", "detail": "expected `next` of a page"}],
        ) from error

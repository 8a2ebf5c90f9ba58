"""The answer of one cell's application, before the router decides whether it is sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus

from werkzeug.datastructures import Headers


@dataclass
class CellAnswer:
    """What an application has answered; the rest of its body is still being made.

    refusal: the slug of a problem; tenant: the account.
    """

    body: Iterable[bytes]
    status: str
    headers: Headers
    refusal: str | None
    tenant: str | None

    @property
    def code(self) -> int:
        """The number in the status."""
        return int(self.status[:3])

    @property
    def is_unsure(self) -> bool:
        """Whether the cell has not looked, as it is away or the client has asked too much."""
        return self.code >= HTTPStatus.INTERNAL_SERVER_ERROR or self.code == HTTPStatus.TOO_MANY_REQUESTS

    def close(self) -> None:
        """Make no more of the body, as nobody gets it."""
        if (close := getattr(self.body, "close", None)) is not None:
            close()

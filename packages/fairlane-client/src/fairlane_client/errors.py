"""What may go wrong between a client and the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ClientError(Exception):
    """Anything that goes wrong here."""


class UnreachableError(ClientError):
    """The service did not answer."""

    def __init__(self, url: str, reason: object) -> None:
        super().__init__(f"{url} does not answer: {reason}")
        self.url = url


class RefusedError(ClientError):
    """The service answered with a problem (RFC 9457).

    status: of HTTP; errors: pointer and detail of each wrong member; retry_after: seconds, if the service says so.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: float | None) -> None:
        super().__init__(str(problem.get("detail") or problem.get("title") or f"HTTP {status}"))
        self.status, self.problem, self.retry_after = status, problem, retry_after

    @property
    def errors(self) -> list[dict[str, str]]:
        """Each wrong member of a request; none if a proxy's answer has something else in their place."""
        found = self.problem.get("errors")
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

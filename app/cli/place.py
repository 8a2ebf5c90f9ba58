"""Where the service is: where `fairlane up` serves it, and where commands find it."""

from __future__ import annotations

from dataclasses import dataclass

from app import supervisor
from app.settings import Settings

#: What a server that listens on every address is reached by from its own machine.
NEAR = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared, not bound


@dataclass(frozen=True, slots=True)
class Place:
    """Where it serves."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """Of the address it listens on."""
        return f"http://{self.address}"

    @property
    def near_url(self) -> str:
        """For the processes of this machine."""
        return Place(NEAR.get(self.host, self.host), self.port).url

    @property
    def address(self) -> str:
        """HOST:PORT, as servers and URLs take it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def service_url(settings: Settings) -> str:
    """FAIRLANE_URL, else that of the `fairlane up` which runs for FAIRLANE_HOME, else the default."""
    running = None if "fairlane_url" in settings.model_fields_set else supervisor.address(settings.home)
    return running or settings.fairlane_url

"""The address of the service: where `fairlane up` serves, and where commands find it."""

from __future__ import annotations

from dataclasses import dataclass

from app import supervisor
from app.settings import Settings

#: The address for local clients of a server that listens on every address.
NEAR = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared, not bound


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where the service listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """The URL of the address that it listens on."""
        return f"http://{self.address}"

    @property
    def near_url(self) -> str:
        """The URL for processes of this host."""
        return ListenAddress(NEAR.get(self.host, self.host), self.port).url

    @property
    def address(self) -> str:
        """HOST:PORT, in the form that servers and URLs use."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def service_url(settings: Settings) -> str:
    """FAIRLANE_URL, or else the URL of the `fairlane up` that runs for FAIRLANE_HOME, or else the default."""
    running = None if "fairlane_url" in settings.model_fields_set else supervisor.address(settings.home)
    return running or settings.fairlane_url

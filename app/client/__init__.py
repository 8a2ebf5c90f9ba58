"""A client of the service, for programs in Python: `Client("https://fairlane.example.org", token).submit("acme/shop")`.

It needs httpx and nothing of the service.
"""

from app.client.client import Client
from app.client.errors import ClientError, RefusedError, UnreachableError
from app.client.shapes import FINAL, Job, Progress, Test, Wait

__all__ = [
    "FINAL",
    "Client",
    "ClientError",
    "Job",
    "Progress",
    "RefusedError",
    "Test",
    "TestPage",
    "UnreachableError",
    "Wait",
]

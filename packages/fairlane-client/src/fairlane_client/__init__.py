"""A client of the service, for programs in Python: `Client("https://fairlane.example.org", token).submit("acme/shop")`.

It needs httpx and nothing of the service.
"""

from fairlane_client.client import Client
from fairlane_client.errors import ClientError, RefusedError, UnreachableError
from fairlane_client.shapes import (
    FINAL,
    ChangedTest,
    Check,
    Comparison,
    Failure,
    Job,
    ListedTest,
    Meter,
    Progress,
    Repository,
    RepositoryResult,
    SpecificationJob,
    Summary,
    Test,
    TestPage,
    Usage,
    Wait,
)

__all__ = [
    "FINAL",
    "ChangedTest",
    "Check",
    "Client",
    "ClientError",
    "Comparison",
    "Failure",
    "Job",
    "ListedTest",
    "Meter",
    "Progress",
    "RefusedError",
    "Repository",
    "RepositoryResult",
    "SpecificationJob",
    "Summary",
    "Test",
    "TestPage",
    "UnreachableError",
    "Usage",
    "Wait",
]

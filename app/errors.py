"""The problems: answers to a client whose request a rule refuses (RFC 9457)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar, Self


class Message(str):
    """A sentence for a person, with the template and the facts that it was made of.

    The API sends the sentence; pages say it in another language, from the template and the facts.
    """

    __slots__ = ("facts", "template")
    template: str
    facts: dict[str, object]

    def __new__(cls, template: str, /, **facts: object) -> Self:
        """Make a message from its English text and the values in it.

        template: with places as `%(name)s`, if there are facts.
        """
        made = super().__new__(cls, template % facts if facts else template)
        made.template, made.facts = template, facts
        return made


class Problem(Exception):  # noqa: N818 - a Problem is an answer, not a programming error
    """An answer that refuses.  slug: stable, part of the `type` URL; extensions: its further members."""

    slug: ClassVar[str] = "internal"
    title: ClassVar[str] = "The service failed"
    status: ClassVar[int] = 500

    def __init__(self, detail: str = "", *, retry_after: int | None = None, **extensions: object) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.retry_after = retry_after  # seconds
        self.extensions = extensions


class InvalidInput(Problem):
    """422; errors: rows of {"pointer", "detail"} that say what was wrong and what is expected."""

    slug, title, status = "invalid-input", "The request is not valid", 422

    def __init__(self, detail: str = "", *, errors: Sequence[dict[str, str]] = (), **extensions: object) -> None:
        super().__init__(detail)
        self.extensions = extensions | ({"errors": list(errors)} if errors else {})


class UnknownHost(Problem):
    slug, title, status = "unknown-host", "This service does not have that host name", 400


class Unauthenticated(Problem):
    slug, title, status = "unauthenticated", "Sign in or send a token", 401


class Forbidden(Problem):
    slug, title, status = "forbidden", "This account or token may not do that", 403

    @classmethod
    def outliving(cls, ends_at: datetime) -> Forbidden:
        """A token would end later than the one that makes it."""
        return cls(f"This token ends at {ends_at.isoformat()} and cannot make one that ends later")


class ConfirmationNeeded(Forbidden):
    slug, title = "confirmation-needed", "Confirm first that it is you"


class NotFound(Problem):
    slug, title, status = "not-found", "Not found, or not visible to you", 404


class RepositoryNotFound(NotFound):
    slug, title = "repository-not-found", "No such repository, or not visible to you"


class CommitNotFound(NotFound):
    slug, title = "commit-not-found", "The repository has no such commit or ref"


class Conflict(Problem):
    slug, title, status = "conflict", "The state of the job does not allow this", 409


class TooManyTokens(Conflict):
    slug, title = "too-many-tokens", "The account has the maximum number of tokens"


class TooManyWebhooks(Conflict):
    slug, title = "too-many-webhooks", "The account has the maximum number of webhooks"


class IdempotencyInFlight(Conflict):
    slug, title = "idempotency-in-flight", "The first request with this Idempotency-Key is still being processed"


class IdempotencyMismatch(InvalidInput):
    slug, title = "idempotency-mismatch", "This Idempotency-Key was used with another request"


class QuotaExceeded(Problem):
    slug, title, status = "quota-exceeded", "The quota of this period is used up or reserved", 402


class TooManyRequests(Problem):
    slug, title, status = "too-many-requests", "Too many requests", 429


class Unavailable(Problem):
    slug, title, status = "unavailable", "The database or the queue is unavailable; try again", 503


class ReadOnly(Unavailable):
    slug, title = "read-only", "The service takes no changes at present; results can be read"


class GitHostUnreachable(Unavailable):
    slug, title = "git-host-unreachable", "The Git host cannot be reached; try again"


class Busy(Problem):
    slug, title, status = "busy", "Too many requests of this kind at once; try again", 503


class TimedOut(Problem):
    slug, title, status = "timed-out", "The answer took too long to produce; request less, or try again", 503


class BadSetting(Problem):
    slug, title = "bad-setting", "A setting has a value that is not allowed"


#: Any error that is our own defect; its reason is in the log alone.
UNEXPECTED = Problem("Report the request id to the operator. The request itself may have been correct.")

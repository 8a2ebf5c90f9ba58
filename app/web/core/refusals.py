"""The words of the pages for a refused request: the words of a problem in the language of the page."""

from __future__ import annotations

from typing import Any, Protocol

from app.errors import Message
from app.web.core.languages import gettext, lazy_gettext

#: By slug; the English ones are those of app/errors.py and of Werkzeug.
TITLES = {
    "internal": lazy_gettext("The service failed"),
    "invalid-input": lazy_gettext("The request is not valid"),
    "unknown-host": lazy_gettext("This service does not have that host name"),
    "unauthenticated": lazy_gettext("Sign in or send a token"),
    "forbidden": lazy_gettext("This account or token may not do that"),
    "confirmation-needed": lazy_gettext("Confirm first that it is you"),
    "not-found": lazy_gettext("Not found, or not visible to you"),
    "repository-not-found": lazy_gettext("No such repository, or not visible to you"),
    "commit-not-found": lazy_gettext("The repository has no such commit or ref"),
    "conflict": lazy_gettext("The state of the job does not allow this"),
    "too-many-webhooks": lazy_gettext("The account has the maximum number of webhooks"),
    "too-many-tokens": lazy_gettext("The account has the maximum number of tokens"),
    "idempotency-in-flight": lazy_gettext("The first request with this Idempotency-Key is still being processed"),
    "idempotency-mismatch": lazy_gettext("This Idempotency-Key was used with another request"),
    "quota-exceeded": lazy_gettext("The quota of this period is used up or reserved"),
    "too-many-requests": lazy_gettext("Too many requests"),
    "unavailable": lazy_gettext("The database or the queue is unavailable; try again"),
    "read-only": lazy_gettext("The service takes no changes at present; results can be read"),
    "git-host-unreachable": lazy_gettext("The Git host cannot be reached; try again"),
    "busy": lazy_gettext("Too many requests of this kind at once; try again"),
    "timed-out": lazy_gettext("The answer took too long to produce; request less, or try again"),
    "bad-setting": lazy_gettext("A setting has a value that is not allowed"),
}
#: Of refusals that are no Problem: the framework's own.
HTTP_TITLES = {
    400: lazy_gettext("Bad Request"),
    404: lazy_gettext("Not Found"),
    405: lazy_gettext("Method Not Allowed"),
    413: lazy_gettext("Request Entity Too Large"),
}


class Refusal(Protocol):
    """The parts of a problem that an answer shows."""

    slug: Any
    title: Any
    detail: str


def in_words(document: dict[str, Any]) -> dict[str, Any]:
    """A problem document with its title and detail in the language of the page."""
    slug = document["type"].rpartition("/")[2]
    title = TITLES.get(slug) or HTTP_TITLES.get(document["status"]) or document["title"]
    return document | {"title": str(title), "detail": translated(document["detail"])}


def title_of(problem: Refusal) -> str:
    """The title in the language of the page."""
    return str(TITLES.get(problem.slug, problem.title))


def detail_of(problem: Refusal) -> str:
    """The detail in the language of the page."""
    return translated(problem.detail)


def translated(sentence: str) -> str:
    """A sentence in the language of the page; in English if no catalogue has it."""
    if isinstance(sentence, Message) and sentence.facts:
        facts = {name: translated(fact) if isinstance(fact, Message) else fact for name, fact in sentence.facts.items()}
        return str(gettext(sentence.template)) % facts
    return str(gettext(str(sentence))) if sentence else ""

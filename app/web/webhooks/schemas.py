"""Bodies of requests about webhooks."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from app.domain.webhooks import EVENTS, MOST_URL, EventName
from app.store.webhooks.webhooks import OWN
from app.web.core.schemas import PLAIN, Body, Query

Url = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MOST_URL,
        description="https://…, on port 443, of a host with a public address",
        examples=["https://hooks.example.org/fairlane"],
    ),
]
Events = Annotated[list[EventName], Field(max_length=len(EVENTS), description="Default, and if empty: all of them")]
Description = Annotated[str, Field(max_length=200, pattern=PLAIN)]


class _Own(Body):
    url: Url
    description: Description = ""


class NewWebhook(_Own):
    """A webhook to be created."""

    events: Annotated[Events, Field(default_factory=list)]


class ChangedWebhook(Body):
    """The fields to change; members that are left out stay."""

    url: Url | None = None
    events: Events | None = None
    description: Description | None = None
    enabled: Annotated[bool | None, Field(description="true also forgets earlier failures")] = None


class WholeWebhook(_Own):
    """All that can be changed."""

    events: Events
    enabled: bool


class WebhookForm(Query):
    """A webhook, from its form.  events: a form repeats the name."""

    url: Annotated[str, Field(max_length=MOST_URL)] = ""
    description: Description = ""
    events: Annotated[list[str], Field(alias="event", default_factory=list)]


def own_fields(query: Body | Query) -> dict[str, Any]:
    """The fields that the owner decides, as far as they were sent, by name."""
    sent = {name: getattr(query, name) for name in OWN}
    return {name: value for name, value in sent.items() if value is not None}

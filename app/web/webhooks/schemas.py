"""What clients send about webhooks."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.domain.webhooks import EVENTS, MOST_URL, EventName
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


class NewWebhook(Body):
    """A webhook to be created."""

    url: Url
    events: Annotated[Events, Field(default_factory=list)]
    description: Description = ""


class ChangedWebhook(Body):
    """What is to be changed; members that are left out stay."""

    url: Url | None = None
    events: Events | None = None
    description: Description | None = None
    enabled: Annotated[bool | None, Field(description="true also forgets earlier failures")] = None


class WholeWebhook(Body):
    """All that can be changed."""

    url: Url
    events: Events
    description: Description = ""
    enabled: bool


class WebhookForm(Query):
    """A webhook, from its form.  Events are read apart, because a form repeats their name."""

    url: Annotated[str, Field(max_length=MOST_URL)] = ""
    description: Description = ""

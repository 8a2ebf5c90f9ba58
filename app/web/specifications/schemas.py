"""Forms and parameters of the pages of specifications."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.domain.specification import Mode
from app.web.core.schemas import Plain, Query

Language = Annotated[Plain, Field(max_length=20)]


class OfferQuery(Query):
    """The language in which a specification is offered."""

    language: Language = "en"


class SpecifyForm(OfferQuery):
    """A specification to be written, from its form."""

    mode: Mode = Mode.INITIAL


class HistoryQuery(Query):
    """Which specifications of a repository are listed.  language: none means all."""

    language: Language | None = None

"""What the pages of specifications are asked for by their forms and addresses."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.domain.specification import Mode
from app.web.schemas import Plain, Query

Language = Annotated[Plain, Field(max_length=20)]


class OfferQuery(Query):
    """In which language a specification is offered."""

    language: Language = "en"


class SpecifyForm(OfferQuery):
    """A specification to be written, from its form."""

    mode: Mode = Mode.INITIAL


class HistoryQuery(Query):
    """Which specifications of a repository are listed.  language: none: all."""

    language: Language | None = None

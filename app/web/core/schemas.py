"""Bodies and parameters that clients send: strict, so that a typing error is reported and never ignored."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from app.domain.plans import EventType
from app.domain.specification import Mode
from app.store.results.results import TestFilter

MOST_ITEMS = 100
PLAIN = r"^[^\x00-\x1f\x7f]*$"  # PostgreSQL takes no NUL, and no name needs a control character


def _utc(instant: datetime) -> datetime:
    """PostgreSQL supports fewer years and time zones than Python."""
    if not 2000 <= instant.year < 3000:
        raise ValueError("expected a year from 2000 to 2999")
    return instant.astimezone(UTC)


Instant = Annotated[AwareDatetime, AfterValidator(_utc)]
Plain = Annotated[str, Field(max_length=500, pattern=PLAIN)]

#: What the repository calls something.
Known = Annotated[str, Field(max_length=4000, pattern=r"^[^\x00]*$")]


class Body(BaseModel):
    """A JSON object, strictly: known members only, no "5" for 5."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Query(BaseModel):
    """Parameters of a URL, which are all text."""

    model_config = ConfigDict(extra="forbid")


class SubmitAnalysis(Body):
    """An analysis to be submitted."""

    repository: Annotated[
        str,
        Field(
            min_length=1,
            max_length=500,
            description="https://HOST/OWNER/NAME (also with /tree/REF, /blob/REF/… or /commit/SHA), "
            "git@HOST:OWNER/NAME.git, OWNER/NAME on github.com, or local:NAME",
            examples=["https://github.com/pallets/flask"],
        ),
    ]
    ref: Annotated[str | None, Field(max_length=200, description="A branch or tag; default: the default branch")] = None
    commit: Annotated[
        str | None, Field(max_length=64, description="A commit id; of a local repository, also its beginning")
    ] = None
    retry: Annotated[bool, Field(description="Start again if the last analysis of this commit failed")] = False


class SubmitBatch(Body):
    """Up to 100 analyses, reserved in one transaction."""

    items: Annotated[list[SubmitAnalysis], Field(min_length=1, max_length=MOST_ITEMS)]
    atomic: Annotated[bool, Field(description="Accept either all items or none")] = False


class SubmitSpecification(Body):
    """A specification to be submitted."""

    # JSON has neither ids nor enumerations, so these are read from text although the model is strict
    analysis_id: Annotated[UUID, Field(strict=False, description="A completed analysis that you may see")]
    language: Annotated[str, Field(max_length=20, pattern=PLAIN, description="ISO 639-1", examples=["en", "ko"])] = "en"
    mode: Annotated[
        Mode,
        Field(
            strict=False,
            description="initial: the newest document if there is one; regenerate_cached: a new version from stored"
            " sentences, or the newest document if it would say the same; regenerate_fresh: from new ones if a model"
            " writes them, otherwise as regenerate_cached",
        ),
    ] = Mode.INITIAL
    dry_run: Annotated[bool, Field(description="Only calculate the cost")] = False


class SpecificationsQuery(Query):
    """Which specifications are listed."""

    analysis_id: UUID | None = None


class QuotaQuestion(Body):
    """Whether this many units would be accepted now."""

    event_type: Literal["analysis", "specview"] = "analysis"
    amount: Annotated[int, Field(ge=1, le=1_000_000)] = 1

    @property
    def event(self) -> EventType:
        """The domain's value."""
        return EventType(self.event_type)


class NewToken(Body):
    """A token to be created."""

    name: Annotated[str, Field(max_length=100, pattern=PLAIN)] = ""
    scopes: Annotated[
        list[Literal["read", "write", "operator", "operator:read"]], Field(min_length=1, max_length=4)
    ] = ["read", "write"]
    # JSON has no instants, so this one member is read from text although the model is strict
    expires_at: Annotated[Instant | None, Field(strict=False, description="Default: valid until revoked")] = None


class SubmitForm(Query):
    """SubmitAnalysis from a form, which sends only text."""

    repository: Annotated[str, Field(max_length=500)] = ""
    ref: Annotated[str | None, Field(max_length=200)] = None
    commit: Annotated[str | None, Field(max_length=64)] = None
    retry: bool = False

    def analysis(self) -> SubmitAnalysis:
        """Convert the form without JSON's checks, because parse_address explains more to a person."""
        return SubmitAnalysis.model_construct(**self.model_dump())


class TokenForm(Query):
    """A new token, from its form."""

    name: Annotated[str, Field(max_length=100, pattern=PLAIN)] = ""
    may_write: bool = False


class Narrowed(Query):
    """The filter of an inventory's tests."""

    status: Annotated[Plain | None, Field(description="active, skipped, todo, focused or xfail")] = None
    framework: Plain | None = None
    kind: Annotated[Plain | None, Field(description="test, benchmark, example, fuzz or subtest")] = None
    conditional: Annotated[bool | None, Field(description="Whether the test runs only under a condition")] = None
    checks: Annotated[
        Literal["some", "none", "unknown"] | None,
        Field(description="Whether the test checks something; none: it is known that the test cannot fail"),
    ] = None
    path: Annotated[Plain | None, Field(description="Part of the file's path, ignoring case")] = None
    q: Annotated[Plain | None, Field(description="Part of a suite's or test's name, ignoring case")] = None
    about: Annotated[Plain | None, Field(description="Part of a hint of the file, ignoring case")] = None
    file: Annotated[Known | None, Field(description="The whole path of the file")] = None

    def filter(self) -> TestFilter:
        """An empty field of a form does not filter."""
        texts = {
            name: getattr(self, name) or None for name in ("status", "framework", "path", "q", "kind", "about", "file")
        }
        return TestFilter(**texts, conditional=self.conditional, checks=self.checks)

    def narrowed(self) -> dict[str, str]:
        """The active filters, as parameters of an address."""
        found = {name: getattr(self, name) for name in Narrowed.model_fields}
        found["conditional"] = None if self.conditional is None else str(self.conditional).lower()
        return {name: value for name, value in found.items() if value}


class TestsQuery(Narrowed):
    """Which tests to list, and from where."""

    __test__ = False

    cursor: Annotated[Plain | None, Field(description="`next` of the previous page")] = None
    limit: Annotated[int | None, Field(ge=1, le=1000, description="Rows; default: 100 for JSON, all for an export")] = (
        None
    )
    format: Annotated[
        Literal["json", "csv", "ndjson", "markdown", "junit"] | None,
        Field(description="Overrides the Accept header, for links in pages"),
    ] = None


class FilesQuery(Query):
    """Which files of an inventory to list, and from where."""

    path: Annotated[Plain | None, Field(description="Part of the path, ignoring case")] = None
    about: Annotated[Plain | None, Field(description="Part of a hint, ignoring case")] = None
    cursor: Annotated[Plain | None, Field(description="`next` of the previous page")] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


Number = Annotated[int, Field(ge=1, le=1_000_000)]


def _with_slash(directory: str) -> str:
    return f"{directory.rstrip('/')}/" if directory else ""


class SheetQuery(Narrowed):
    """Which sheet of a result to show."""

    page: Number = 1
    sort: Literal["path", "name", "status", "framework"] = "path"
    view: Literal["list", "tree"] = "list"
    under: Annotated[Known, AfterValidator(_with_slash)] = ""  # of the tree: a directory

    def shown_as(self) -> dict[str, str]:
        """The choices besides the filter and the page, as parameters of an address."""
        given = {"sort": self.sort, "view": self.view, "under": self.under}
        return {name: value for name, value in given.items() if value not in ("path", "list", "")}


class TestQuery(Query):
    """Which test of a result, by what it is known by.  suite: from the outermost to the innermost."""

    __test__ = False

    file: Known
    suite: list[Known] = []
    name: Known


class ChangesQuery(Query):
    """Parameters of the page of a comparison.  q: part of a path, suite or name, ignoring case."""

    group: Literal["added", "removed", "moved", "renamed", "status_changed"] | None = None
    q: Plain = ""
    page: Number = 1


class SpecificationQuery(Query):
    """Parameters of a specification's page.  q: part of a heading, sentence, file, suite or test, ignoring case."""

    status: Plain | None = None
    q: Plain = ""
    page: Number = 1


class SpecificationChangesQuery(Query):
    """Parameters of the page of a comparison of specifications.  q: as in SpecificationQuery."""

    group: Literal["added", "removed", "reworded", "moved", "status_changed"] | None = None
    q: Plain = ""
    page: Number = 1


class OtherQuery(Query):
    """Which commit to compare with, by the beginning of its id."""

    commit: Annotated[Plain, Field(max_length=64)] = ""


class PairQuery(Query):
    """Two analyses to compare, the older one first."""

    before: UUID
    after: UUID


class ExploreQuery(Query):
    """Which repositories to show: those whose address has these letters.

    cell: whose list, of a service with several (app/web/cells/router.py).
    """

    q: Annotated[Plain, Field(max_length=200)] = ""
    cell: Annotated[Plain, Field(max_length=31)] = ""


class CompareQuery(Query):
    """How much of a comparison to list."""

    limit: Annotated[int, Field(ge=1, le=10_000, description="Maximum number of tests in each group")] = 1000


class PageQuery(Query):
    """Which page of a list.  cursor: the id of the last row of the previous page."""

    cursor: Annotated[int | None, Field(ge=1, le=2**63 - 1, description="`next` of the previous page")] = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50

"""The contents of the pages of specifications, as plain values: no page reads a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.contents import Counts
from app.domain.specification import MOST_VERSIONS
from app.domain.specification_changes import SpecificationChanges
from app.web.core.schemas import SpecificationChangesQuery, SpecificationQuery
from app.web.specifications.changes import ChangesSheet
from app.web.specifications.document import Document, Source
from app.web.specifications.sheets import DocumentSheet
from app.web.specifications.words import Words, words


@dataclass(frozen=True, slots=True)
class Choice:
    """A link among others of its kind.  lang: of the label, if it is not English."""

    label: str
    url: str
    is_current: bool = False
    lang: str | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """The price of a version for its owner, in behaviours.

    billed: written for it; cached: stored sentences, free; fell_back: written by the built-in generator because the
    model failed, free.
    """

    billed: int
    cached: int
    fell_back: int


@dataclass(frozen=True, slots=True)
class Share:
    """The link with which others read a document.

    url: None if there is none, or if it is no longer known; shared_at: None if there is none; share_url, withdraw_url:
    targets of the forms; is_withheld: the repository is private, so the link does not work.
    """

    share_url: str
    withdraw_url: str
    url: str | None = None
    shared_at: datetime | None = None
    is_withheld: bool = False


@dataclass(frozen=True, slots=True)
class OwnersView:
    """The part of the page that only the owner of a document sees.

    regenerate_url: target of the form for a new version; cost_url: of the page with its price; delete_url: target of
    the form that deletes the version; writes_anew: whether new sentences can be had; most_versions: that are kept.
    """

    cost: Cost
    versions: Sequence[Choice]
    languages: Sequence[Choice]
    share: Share
    analysis_url: str
    history_url: str
    compare_url: str | None
    regenerate_url: str
    cost_url: str
    delete_url: str
    writes_anew: bool = False
    most_versions: int = MOST_VERSIONS


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A document.

    document: without its features, which the sheet has; path: of the page without a query; counts: of the whole
    document; owner: None for other readers; whose: the owner's address, for an operator; subtests: behaviours that are
    parts of tests.
    """

    document: Document
    counts: Counts
    sheet: DocumentSheet
    query: SpecificationQuery
    path: str
    exports: Sequence[Choice]
    owner: OwnersView | None = None
    whose: str | None = None
    subtests: int = 0

    @property
    def words(self) -> Words:
        """The fixed words of the document."""
        return words(self.document.specification.language)

    @property
    def narrowed(self) -> dict[str, str]:
        """The active filters, as parameters of an address."""
        found = {"q": self.query.q, "status": self.query.status}
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class Side:
    """One document of a comparison.  url: of its page; whose: as in a document."""

    document: Document
    behaviours: int
    url: str
    whose: str | None = None

    @property
    def repository(self) -> tuple[str, str, str]:
        """Host, owner and name, compared without case."""
        source = self.document.source
        return source.host.lower(), source.owner.lower(), source.name.lower()


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """Two documents of one language for a comparison.  reverse_url: with the sides swapped."""

    before: Side
    after: Side
    found: SpecificationChanges
    sheet: ChangesSheet
    query: SpecificationChangesQuery
    path: str
    reverse_url: str
    history_url: str

    @property
    def is_of_two(self) -> bool:
        """Whether the documents belong to two repositories."""
        return self.before.repository != self.after.repository

    @property
    def words(self) -> Words:
        """The fixed words of both documents."""
        return words(self.after.document.specification.language)

    def narrowed(self, group: str | None = None) -> dict[str, str]:
        """The active filters, as parameters of an address.  group: instead of the current one."""
        found = {"group": group, "q": self.query.q}
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """The versions of one commit in one language, newest first.

    behaviours: of the newest version; changes: between it and the next older commit in the same language, by group;
    None for the oldest, and if they were not counted.  compare_url: of that comparison.
    """

    source: Source
    language: str
    behaviours: int
    generated_at: datetime
    versions: Sequence[Choice]
    changes: Mapping[str, int] | None = None
    compare_url: str | None = None


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """The specifications of a repository, newest commit first.

    languages: to filter by, if there are several; whose: as in a document.
    """

    source: Source
    rows: Sequence[HistoryLine]
    languages: Sequence[Choice]
    whose: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the changes are shown of every row that has an older one."""
        return all(row.changes is not None or row.compare_url is None for row in self.rows)

"""Collect what a page of a document or of a comparison shows."""

from __future__ import annotations

from flask import url_for

from app.domain.contents import Counts
from app.domain.specification import Feature, Specification
from app.domain.specification_changes import compare
from app.errors import Conflict, Message
from app.services.specifications import documents
from app.services.specifications.documents import Head
from app.store.accounts.users import Account
from app.web.core.context import wired
from app.web.core.schemas import SpecificationChangesQuery, SpecificationQuery
from app.web.limits.read_costs import behaviours, reads
from app.web.specifications.changes import changes_sheet
from app.web.specifications.document import Document
from app.web.specifications.document_heads import document_of
from app.web.specifications.exports import EXPORTS
from app.web.specifications.owner_view import page_of
from app.web.specifications.sheets import DocumentSheet, leaf, sheet
from app.web.specifications.view import Choice, ComparisonPage, DocumentPage, OwnersView, Side


def document_page(
    head: Head,
    query: SpecificationQuery,
    path: str,
    files: str,
    *,
    owner: OwnersView | None = None,
    whose: str | None = None,
) -> DocumentPage:
    """A sheet of a document.  path: of the page; files: of its exports, without the suffix.  Raises: as `large`."""
    counts = Counts(*(head.summary[name] for name in ("behaviours", "by_status", "fell_back")))
    shown = _searched(head, query) if query.q or query.status else _leaf(head, query.page)
    exports = [Choice(export.label, f"{files}{export.suffix}") for export in EXPORTS.values()]
    bare = document_of(head, Specification(head.language, head.summary["text"], []))
    subtests = head.summary.get("subtests", 0)  # older documents do not say
    return DocumentPage(bare, counts, shown, query, path, exports, owner, whose, subtests)


def _searched(head: Head, query: SpecificationQuery) -> DocumentSheet:
    """The sheet of a search, for which the whole document has to be read."""
    with behaviours(head.summary["behaviours"]):
        return sheet(documents.specification(wired().uow, head), query)


def _leaf(head: Head, number: int) -> DocumentSheet:
    """A sheet from the outline and its own features: as fast for a large document as for a small one."""
    uow = wired().uow

    def read(first: int, last: int) -> list[Feature]:
        found = documents.features(uow, head.id, after=first - 1, most=last - first + 1)
        return [feature for _, feature in found]

    return leaf(documents.outline(uow, head.id), number, head.summary["by_status"], read)


def comparison_page(before: Head, after: Head, query: SpecificationChangesQuery, viewer: Account) -> ComparisonPage:
    """The changes from one document to the other.  Raises: Conflict for two languages; as `large`."""
    if before.language != after.language:
        raise Conflict(
            Message(
                "One document is in %(before)s, the other in %(after)s: every sentence differs",
                before=before.language,
                after=after.language,
            )
        )
    heads = (before, after)
    with behaviours(sum(head.summary["behaviours"] for head in heads)):
        both = [document_of(head, documents.specification(wired().uow, head)) for head in heads]
        found = compare(*(document.specification for document in both))
    reads().changes.keep((before.id, after.id), found.totals)  # the history shows them then
    sides = [_side(*one, viewer) for one in zip(heads, both, strict=True)]
    return ComparisonPage(
        before=sides[0],
        after=sides[1],
        found=found,
        sheet=changes_sheet(found, query),
        query=query,
        path=url_for("pages.compare_specifications", job_id=before.id, other_id=after.id),
        reverse_url=url_for("pages.compare_specifications", job_id=after.id, other_id=before.id),
        history_url=url_for("pages.specification_history", job_id=after.id),
    )


def _side(head: Head, document: Document, viewer: Account) -> Side:
    whose = documents.whose(wired().uow, head.id, viewer)
    return Side(document, head.summary["behaviours"], page_of(head), whose)

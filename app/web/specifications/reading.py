"""Bring together what a page of a document or of a comparison shows."""

from __future__ import annotations

from flask import url_for

from app.domain.contents import contents
from app.domain.specification_changes import compare
from app.errors import Conflict
from app.services import specifications
from app.services.specifications import Head
from app.store.users import Account
from app.web.context import wired
from app.web.reads import behaviours, reads
from app.web.schemas import SpecificationChangesQuery, SpecificationQuery
from app.web.specifications.changes import changes_sheet
from app.web.specifications.document import Document
from app.web.specifications.exports import EXPORTS
from app.web.specifications.heads import document_of
from app.web.specifications.owners import page_of
from app.web.specifications.sheets import sheet
from app.web.specifications.view import Choice, ComparisonPage, DocumentPage, OwnersView, Side


def document_page(
    head: Head,
    asked: SpecificationQuery,
    path: str,
    files: str,
    *,
    owner: OwnersView | None = None,
    whose: str | None = None,
) -> DocumentPage:
    """A sheet of a document.  path: of the page; files: of its exports, but for the suffix.  Raises: as `large`."""
    with behaviours(head.summary["behaviours"]):
        whole = specifications.specification(wired().uow, head)
        counts, shown = contents(whole).counts, sheet(whole, asked)
    exports = [Choice(export.label, f"{files}{export.suffix}") for export in EXPORTS.values()]
    return DocumentPage(document_of(head, whole), counts, shown, asked, path, exports, owner, whose)


def comparison_page(before: Head, after: Head, asked: SpecificationChangesQuery, viewer: Account) -> ComparisonPage:
    """What changed from one document to the other.  Raises: Conflict for two languages; as `large`."""
    if before.language != after.language:
        raise Conflict(f"One is written in {before.language}, the other in {after.language}: every sentence differs")
    heads = (before, after)
    with behaviours(sum(head.summary["behaviours"] for head in heads)):
        documents = [document_of(head, specifications.specification(wired().uow, head)) for head in heads]
        found = compare(*(document.specification for document in documents))
    reads().remember_changes(before.id, after.id, found.totals)  # the history tells it then
    sides = [_side(*one, viewer) for one in zip(heads, documents, strict=True)]
    return ComparisonPage(
        before=sides[0],
        after=sides[1],
        found=found,
        sheet=changes_sheet(found, asked),
        asked=asked,
        path=url_for("pages.compare_specifications", job_id=before.id, other_id=after.id),
        reverse_url=url_for("pages.compare_specifications", job_id=after.id, other_id=before.id),
        history_url=url_for("pages.specification_history", job_id=after.id),
    )


def _side(head: Head, document: Document, viewer: Account) -> Side:
    whose = specifications.whose(wired().uow, head.id, viewer)
    return Side(document, head.summary["behaviours"], page_of(head), whose)

"""The documents of a repository by commit, and the changes from one to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flask import url_for

from app.domain.specification_changes import compare
from app.services.specifications import documents
from app.services.specifications.documents import Head
from app.store.accounts.users import Account
from app.web.core.context import wired
from app.web.core.languages import gettext, language_name
from app.web.limits.read_costs import LIGHT, reads
from app.web.specifications.document_heads import source_of
from app.web.specifications.owner_view import compare_url, page_of
from app.web.specifications.view import Choice, HistoryLine, HistoryPage


def history_page(of: Head, language: str | None, languages: Mapping[str, str], viewer: Account) -> HistoryPage:
    """The page of a repository.  language: filter, None: all; languages: names by code."""
    found = documents.history(wired().uow, of)
    address = url_for("pages.specification_history", job_id=of.id)
    choices = [Choice(gettext("All"), address, language is None)] + [
        Choice(language_name(code, languages.get(code, code)), f"{address}?language={code}", code == language)
        for code in sorted({one.language for one in found})
    ]
    rows = _rows([one for one in found if language in (None, one.language)])
    whose = documents.whose(wired().uow, of.id, viewer)
    return HistoryPage(source_of(of), rows, choices if len(choices) > 2 else [], whose)


def _rows(newest_first: Sequence[Head]) -> list[HistoryLine]:
    """One row for each commit and language.

    Known changes are shown, and others counted while little has to be read for it; the comparison counts any.
    """
    groups: dict[tuple[str, str], list[Head]] = {}
    for one in newest_first:
        groups.setdefault((one.commit, one.language), []).append(one)
    commits = list(groups.values())
    rows, left = [], LIGHT
    for place, versions in enumerate(commits):
        newest = versions[0]
        older = next((group[0] for group in commits[place + 1 :] if group[0].language == newest.language), None)
        changes = reads().changes.get((older.id, newest.id)) if older else None
        if older and changes is None and (size := _size(newest) + _size(older)) <= left:
            left -= size
            changes = _changes(older, newest)
        rows.append(_row(versions, older, changes))
    return rows


def _row(versions: Sequence[Head], older: Head | None, changes: Mapping[str, int] | None) -> HistoryLine:
    newest = versions[0]
    return HistoryLine(
        source_of(newest),
        newest.language,
        _size(newest),
        newest.completed_at,
        [Choice(str(one.version), page_of(one)) for one in versions],
        changes,
        compare_url(older, newest) if older else None,
    )


def _changes(before: Head, after: Head) -> Mapping[str, int]:
    uow = wired().uow
    totals = compare(*(documents.specification(uow, one) for one in (before, after))).totals
    reads().changes.keep((before.id, after.id), totals)
    return totals


def _size(head: Head) -> int:
    return int(head.summary["behaviours"])

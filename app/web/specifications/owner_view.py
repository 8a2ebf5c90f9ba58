"""The part of a document's page that only its owner sees: its cost, its other versions and languages, and its link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import url_for

from app.services.specifications.documents import Head
from app.web.core.languages import gettext, language_name
from app.web.specifications.view import Choice, Cost, OwnersView, Share


@dataclass(frozen=True, slots=True)
class OwnDocuments:
    """A document among the owner's documents.

    versions: of the same analysis, in all languages; history: of the same repository; both newest first.  languages:
    names by code; link: of a share that was just created; writes_anew: whether the generator would write new sentences.
    """

    versions: Sequence[Head]
    history: Sequence[Head]
    languages: Mapping[str, str]
    shared_at: datetime | None
    link: str | None = None
    writes_anew: bool = False


def owners_view(head: Head, beside: OwnDocuments) -> OwnersView:
    """The tools of a document."""
    older = previous(head, beside.history)
    return OwnersView(
        cost=_cost(head),
        versions=[
            Choice(str(one.version), page_of(one), one.id == head.id)
            for one in beside.versions
            if one.language == head.language
        ],
        languages=_languages(head, beside),
        share=Share(
            url_for("pages.share_specification", job_id=head.id, _anchor="share"),
            url_for("pages.withdraw_specification", job_id=head.id),
            beside.link,
            beside.shared_at,
            head.is_private,
        ),
        analysis_url=url_for("pages.show_job", job_id=head.analysis_id),
        history_url=url_for("pages.specification_history", job_id=head.id),
        compare_url=compare_url(older, head) if older else None,
        regenerate_url=url_for("pages.specify_form", job_id=head.analysis_id),
        cost_url=url_for("pages.choose_specification", job_id=head.analysis_id, language=head.language),
        delete_url=url_for("pages.delete_specification", job_id=head.id),
        writes_anew=beside.writes_anew,
    )


def page_of(head: Head) -> str:
    """The address of a document for its owner."""
    return url_for("pages.show_specification", job_id=head.id)


def compare_url(before: Head, after: Head) -> str:
    """The address at which two documents are compared."""
    return url_for("pages.compare_specifications", job_id=before.id, other_id=after.id)


def previous(head: Head, newest_first: Sequence[Head]) -> Head | None:
    """The next older document in the same language."""
    same = [one for one in newest_first if one.language == head.language]
    place = next((place for place, one in enumerate(same) if one.id == head.id), len(same))
    return same[place + 1] if place + 1 < len(same) else None


def _cost(head: Head) -> Cost:
    fell_back = head.summary["fell_back"]
    return Cost(head.units, max(0, head.summary["behaviours"] - head.units - fell_back), fell_back)


def _languages(head: Head, beside: OwnDocuments) -> list[Choice]:
    """The languages that have a document, by the newest of each, and where another one can be requested."""
    newest: dict[str, Head] = {}
    for one in beside.versions:
        newest.setdefault(one.language, one)
    newest[head.language] = head
    found = [
        Choice(language_name(code, beside.languages.get(code, code)), page_of(one), code == head.language)
        for code, one in sorted(newest.items())
    ]
    if missing := [code for code in beside.languages if code not in newest]:
        other = url_for("pages.choose_specification", job_id=head.analysis_id, language=missing[0])
        found.append(Choice(gettext("another"), other))
    return found

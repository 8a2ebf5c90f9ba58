"""Every page of a specification in every state, from made-up values: no database has to hold a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from apiflask import APIFlask
from flask import render_template
from playwright.sync_api import Page
from service_harness.application import Web

from app.domain.contents import contents
from app.domain.jobs import Job, Progress, Writing
from app.domain.lifecycle import Failure, Status
from app.domain.plans import Tier
from app.domain.queues import Service
from app.domain.repositories import Repository
from app.domain.specification import Behaviour, Domain, Feature, Mode, Specification
from app.domain.specification_changes import compare
from app.store.core.unit_of_work import UnitOfWork
from app.web.core.languages import lazy_gettext
from app.web.core.schemas import SpecificationChangesQuery, SpecificationQuery
from app.web.jobs.job_json import job_json
from app.web.specifications.changes import changes_sheet
from app.web.specifications.document import Source
from app.web.specifications.exports import EXPORTS
from app.web.specifications.sheets import sheet
from app.web.specifications.view import (
    Choice,
    ComparisonPage,
    Cost,
    DocumentPage,
    HistoryLine,
    HistoryPage,
    OwnersView,
    Share,
    Side,
)
from tests.web.apps import Apps
from tests.web.conftest import lending
from tests.web.made_up import (
    AT,
    COMMIT,
    SOURCE,
    STATUSES,
    behaviour,
    document,
    hostile,
    large,
    shop,
    specification,
    subject,
)
from tests.web.scenes import LONG, OWNER, Scene, open_all

PATH = "/look"
#: The template and values that an application shows there.
SHOWN = "made-up page"
LONG_SOURCE = Source("github.com", OWNER, LONG, f"https://github.com/{OWNER}/{LONG}", COMMIT, f"feature/{LONG}")
UNSHARED = Share("/share", "/withdraw")
SHARED = Share("/share", "/withdraw", "https://fairlane.example/specifications/shared/" + "x" * 43, AT)
SHOWN_ONCE = Share("/share", "/withdraw", None, AT)
JOB = Job(
    id=UUID("0f0e0d0c-0000-4000-8000-000000000000"), service=Service.SPECVIEW, status=Status.RUNNING,
    repository=Repository("github.com", "acme", "shop"), is_private=False, commit=COMMIT, ref=None, trigger="user",
    tier=Tier.PRO_PLUS, queue="specview_priority", attempt=1, snoozes=0, submitted_at=AT,
    started_at=AT + timedelta(seconds=2), progress=Progress("phrasing", 12_345, 28_000),
    writing=Writing(UUID(int=1), "en", Mode.INITIAL, None, None),
)  # fmt: skip
FAILED = replace(
    JOB,
    status=Status.FAILED,
    progress=None,
    error=Failure("model_unavailable", "The model did not answer within 30 s, 5 times.", retryable=True),
    finished_at=AT + timedelta(minutes=1),
)
CANCELLED = replace(JOB, status=Status.CANCELLED, progress=None)


def owners(share: Share = UNSHARED, cost: Cost | None = None) -> OwnersView:
    """What the owner sees of version 12 in English."""
    return OwnersView(
        cost=cost or Cost(7, 1, 1),
        versions=[Choice(str(number), f"{PATH}?v={number}", number == 12) for number in range(12, 0, -1)],
        languages=[
            Choice("English", PATH, is_current=True, lang="en"),
            Choice("한국어", PATH, lang="ko"),
            Choice(lazy_gettext("another"), "/new"),
        ],
        share=share,
        analysis_url="/analyses/1",
        history_url="/history",
        compare_url="/compare",
        regenerate_url="/regenerate",
        cost_url="/cost",
        delete_url="/delete",
        writes_anew=True,
    )


def document_page(
    of: Specification, owner: OwnersView | None = None, *, source: Source = SOURCE, **asked: Any
) -> DocumentPage:
    """The page of a document under a query."""
    wanted = SpecificationQuery(**asked)
    return DocumentPage(
        document(of, source=source, version=12, generator="built-in 1"),
        contents(of).counts,
        sheet(of, wanted),
        wanted,
        PATH,
        [Choice(export.label, f"{PATH}.{export.suffix}") for export in EXPORTS.values()],
        owner,
    )


def wordy() -> Specification:
    """As long as names get, without a place to break them."""
    file = (
        "packages/a-package-with-a-long-name/src/test/resources/"
        + "deep/" * 6
        + "test_"
        + "very_long_name_" * 8
        + ".py"
    )
    told = [
        Behaviour(subject("test_" + "name_" * 30, file=file, line=123_456, status=status), "Word" * 60, fell_back=True)
        for status in STATUSES
    ]
    features = [Feature("FeatureWithoutASpace" * 6, told), Feature("A feature of many words " * 8, told)]
    domains = [Domain("DomainWithoutASpace" * 5, features), Domain("A domain of many words " * 6, features)]
    return specification(*domains, summary="Summarised" * 30)


def changed() -> tuple[Specification, Specification]:
    """One behaviour in each group of changes."""
    old = Feature("Cart", [
        behaviour("Adds an item", "test_adds"), behaviour("Removes an item", "test_removes"),
        behaviour("Counts items", "test_counts"), behaviour("Empties the cart", "test_empties"), behaviour("Stays", "test_stays"),
    ])  # fmt: skip
    new = Feature("Cart", [
        behaviour("Adds an item to the cart", "test_adds"), behaviour("Removes an item", "test_removes", status="skipped"),
        behaviour("Stays", "test_stays"), behaviour("Merges two carts", "test_merges", status="todo"),
    ])  # fmt: skip
    totals = Feature("Totals", [behaviour("Counts items", "test_counts")])
    return specification(Domain("Orders", [old])), specification(Domain("Orders", [new]), Domain("Prices", [totals]))


def comparison_page(before: Specification, after: Specification, **asked: Any) -> ComparisonPage:
    """The page of a comparison under a query."""
    found, wanted = compare(before, after), SpecificationChangesQuery(**asked)
    sides = [
        Side(
            document(of, version=version, generator=f"built-in {version}"),
            contents(of).counts.behaviours,
            f"/{version}",
        )
        for version, of in enumerate((before, after), start=1)
    ]
    return ComparisonPage(*sides, found, changes_sheet(found, wanted), wanted, PATH, "/reverse", "/history")


def history_page(*rows: HistoryLine) -> HistoryPage:
    return HistoryPage(
        SOURCE,
        rows,
        [
            Choice(lazy_gettext("All"), PATH, is_current=True),
            Choice("English", PATH, lang="en"),
            Choice("한국어", PATH, lang="ko"),
        ],
    )


def history() -> HistoryPage:
    """Commits with many versions, with changes and without."""
    versions = [Choice(str(number), f"/{number}") for number in range(12, 0, -1)]
    changes = dict.fromkeys(("added", "removed", "reworded", "moved", "status_changed"), 1_234)
    older = Source("github.com", "acme", "shop", SOURCE.url, "fedcba" + COMMIT[6:], None)
    named = Source("github.com", "acme", "shop", SOURCE.url, COMMIT, f"feature/{LONG}")
    return history_page(
        HistoryLine(named, "en", 28_000, AT, versions, changes, "/compare"),
        HistoryLine(SOURCE, "ko", 28_000, AT, versions[:1], dict.fromkeys(changes, 0), "/compare"),
        HistoryLine(older, "en", 27_000, AT, versions[:1]),
    )


def not_counted() -> HistoryPage:
    """Two large documents that nobody has compared."""
    versions = [Choice("1", "/1")]
    return history_page(
        HistoryLine(SOURCE, "en", 28_000, AT, versions, None, "/compare"),
        HistoryLine(SOURCE, "en", 27_000, AT, versions),
    )


def job_page(job: Job = JOB) -> dict[str, Any]:
    """The page of a job under way, or of one that failed."""
    return {
        "job": job, "links": {"self": PATH + "/job", "events": PATH + "/events"}, "writing": job.writing, "source": SOURCE,
        "final": job.is_final, "may_cancel": not job.is_final, "cancel_url": "/cancel", "retry_url": "/retry",
        "analysis_url": "/analyses/1", "language": "English",
    }  # fmt: skip


def shown(template: str, make: Callable[[], Any]) -> Callable[[Web], str]:
    """Let an application show a page of made-up values at PATH."""

    def build(web: Web) -> str:
        made = make()
        web.app.extensions[SHOWN] = (template, made if isinstance(made, dict) else {"page": made})
        return PATH

    return build


def add_made_up_page(app: APIFlask) -> None:
    """Give an application the addresses at which `shown` shows a page."""
    app.add_url_rule(PATH, "look", lambda: render_template(app.extensions[SHOWN][0], **app.extensions[SHOWN][1]))
    app.add_url_rule(f"{PATH}/job", "look_job", lambda: job_json(app.extensions[SHOWN][1]["job"]))


SCENE_APPS = Apps(add_made_up_page)


@pytest.fixture(name="make_web")
def make_web_of_scenes(uow: UnitOfWork) -> Iterator[Callable[..., Web]]:
    """In a module that imports it: applications that have the pages of scenes."""
    with lending(SCENE_APPS, uow) as make:
        yield make


def a_document(make: Callable[[], DocumentPage], act: Callable[[Page], object] | None = None) -> Scene:
    return Scene("", shown("specifications/specification.html", make), act)


def type_a_search(page: Page) -> None:
    page.fill("[data-filter]", "rule 3")


SPECIFICATION_SCENES = {
    "specification": a_document(lambda: document_page(shop(), owners())),
    "specification in Korean, shared": a_document(lambda: document_page(shop("ko"), owners(SHARED))),
    "specification, its link shown once": a_document(lambda: document_page(shop(), owners(SHOWN_ONCE)), open_all),
    "specification of somebody else": a_document(lambda: document_page(shop())),
    "specification with long names": a_document(lambda: document_page(wordy(), owners(), source=LONG_SOURCE), open_all),
    "specification of 28,000": a_document(lambda: document_page(large(), owners(cost=Cost(1_234, 26_766, 0)), page=3)),
    "specification of 28,000, filtered": a_document(lambda: document_page(large(), owners()), type_a_search),
    "specification, narrowed": a_document(
        lambda: document_page(large(), owners(), q="rule 9 of feature 7", status="skipped")
    ),
    "specification, nothing matches": a_document(lambda: document_page(shop(), owners(), q="nothing " * 9)),
    "specification of hostile names": a_document(lambda: document_page(hostile(status="skipped"), owners()), open_all),
    "specification of nothing": a_document(
        lambda: document_page(specification(), owners(cost=Cost(0, 0, 0))), open_all
    ),
    "specification under way": Scene("", shown("specifications/job.html", job_page)),
    "specification failed": Scene(
        "",
        shown(
            "specifications/job.html",
            lambda: job_page(FAILED),
        ),
        open_all,
    ),
    "specification cancelled": Scene("", shown("specifications/job.html", lambda: job_page(CANCELLED))),
    "specifications compared": Scene("", shown("specifications/comparison.html", lambda: comparison_page(*changed()))),
    "specifications compared, many changes": Scene(
        "",
        shown("specifications/comparison.html", lambda: comparison_page(shop(), large(9, 9, 9), page=2)),
    ),
    "specifications compared, long names": Scene(
        "", shown("specifications/comparison.html", lambda: comparison_page(specification(), wordy()))
    ),
    "specifications compared, nothing changed": Scene(
        "", shown("specifications/comparison.html", lambda: comparison_page(shop(), shop()))
    ),
    "specifications of a repository": Scene("", shown("specifications/history.html", history)),
    "specifications of a repository, not counted": Scene("", shown("specifications/history.html", not_counted)),
    "no specifications of a repository": Scene("", shown("specifications/history.html", history_page)),
}

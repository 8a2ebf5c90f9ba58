"""The pages of specifications at their real addresses, with the longest of what people may meet there."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page
from service_harness.application import Web

from app.domain.plans import Tier
from app.domain.queues import Service
from app.store.jobs import heartbeats
from tests.web.scenes import Scene, completed, long_job, open_all, rich_files, run, signed_in

#: Tests of one file; made-up documents and the pages of a job show more than a page holds.
MANY = 40


def analysed(web: Web, **members: str) -> tuple[str, dict[str, str]]:
    """A person who has signed in, with an analysis of long names; and their token."""
    account = signed_in(web, Tier.PRO)
    headers = web.token(account.user_id)
    job_id = long_job(web, headers, commit="f" * 40, **members)
    web.completed(job_id, rich_files(MANY))
    return job_id, headers


def ask(web: Web, analysis: str, headers: dict[str, str], **members: str) -> str:
    asked = {"analysis_id": analysis, "language": "en", **members}
    job_id: str = web.client.post("/api/v1/specs", json=asked, headers=headers).json["id"]
    return job_id


def written(web: Web, **members: str) -> str:
    analysis, headers = analysed(web)
    job_id = ask(web, analysis, headers, **members)
    web.written(job_id)
    return f"/specs/{job_id}"


def box(web: Web) -> str:
    return f"/analyses/{analysed(web)[0]}"


def box_of_a_visitor(web: Web) -> str:
    return completed(web, MANY)


def box_with_a_document(web: Web) -> str:
    analysis, headers = analysed(web)
    web.written(ask(web, analysis, headers))
    return f"/analyses/{analysis}/specify"


def under_way(web: Web) -> str:
    analysis, headers = analysed(web)
    job_id = ask(web, analysis, headers)
    delivery = web.started(job_id, Service.SPECVIEW)
    with web.uow.begin() as tx:
        heartbeats.beat(tx, Service.SPECVIEW, delivery, ("phrasing", 12_345, 28_000), lease_seconds=15)
    return f"/specs/{job_id}"


def spent(web: Web) -> str:
    analysis, _ = analysed(web)
    run(web, "UPDATE subscription_plans SET spec_units_per_period = 7 WHERE tier = 'pro'")
    return f"/analyses/{analysis}/specify"


def ask_in_vain(page: Page) -> None:
    page.click("text=Make a specification")
    page.wait_for_selector("[role=alert]")


def share(page: Page) -> None:
    open_all(page)
    page.click("text=Create a link")
    page.wait_for_selector("#link")


def second_commit(web: Web) -> tuple[str, str]:
    """Ids of documents of two commits."""
    analysis, headers = analysed(web)
    first = ask(web, analysis, headers)
    web.written(first)
    newer = long_job(web, headers, commit="e" * 40)
    web.completed(newer, rich_files()[:1])
    second = ask(web, newer, headers)
    web.written(second)
    return first, second


def compared(web: Web) -> str:
    return "/specs/{}/compare/{}".format(*second_commit(web))


def history(web: Web) -> str:
    return f"/specs/{second_commit(web)[1]}/history"


def history_of_others(web: Web) -> str:
    path = history(web)
    web.sign_in(web.user(is_operator=True))
    return path


def two_repositories(web: Web) -> str:
    analysis, headers = analysed(web)
    first = ask(web, analysis, headers)
    web.written(first)
    fork = web.submit("fork", headers=headers).json["id"]
    web.completed(fork, rich_files(MANY))
    second = ask(web, fork, headers)
    web.written(second)
    return f"/specs/{first}/compare/{second}"


def private(web: Web) -> str:
    path = written(web)
    run(web, "UPDATE codebases SET is_private = true")
    return path


def shared(web: Web) -> str:
    page = written(web)
    link = web.post(f"{page}/share", page).text.partition('<input id="link" value="')[2].partition('"')[0]
    web.client.delete_cookie("fairlane")
    return link.removeprefix("http://localhost")


def of_page(path: str, build: Callable[[Web], str]) -> Callable[[Web], str]:
    return lambda web: (build(web), path)[1]


SPECIFICATION_VISITS = {
    "specification offered": Scene("pages.show_job", box),
    "specification offered to a visitor": Scene("pages.show_job", box_of_a_visitor),
    "specification offered beside a document": Scene("pages.choose_specification", box_with_a_document),
    "specification beyond the quota": Scene("pages.specify_form", spent, ask_in_vain),
    "specification, live": Scene("pages.show_specification", under_way),
    "specification, written": Scene("pages.show_specification", written, open_all),
    "specification, shared": Scene("pages.share_specification", written, share),
    "specification by a link": Scene("pages.show_shared", shared),
    "specification, what changed": Scene("pages.compare_specifications", compared),
    "specifications by commit": Scene("pages.specification_history", history),
    "specifications by commit, of somebody else": Scene("pages.specification_history", history_of_others),
    "specification, of two repositories": Scene("pages.compare_specifications", two_repositories),
    "specification, private": Scene("pages.show_specification", private, open_all),
    "history with specifications": Scene("pages.show_history", of_page("/history", under_way)),
    "usage with a specification": Scene("pages.show_usage", of_page("/usage", under_way)),
}

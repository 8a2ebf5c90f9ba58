"""Links that share a specification: read by anybody, kept secret, and ended (docs/adr/0047)."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

from service_harness.application import Web
from sqlalchemy import text

from app.domain.plans import Tier
from app.services.accounts.accounts import Account
from app.web.limits.read_costs import READS
from tests.web.test_specification_reading import analysed, ann, written

__all__ = ["ann"]


def share(web: Web, page: str) -> str:
    """The path of a new link."""
    shared = web.post(f"{page}/share", page)
    assert shared.status_code == 200
    link = shared.text.partition('<input id="link" value="')[2].partition('"')[0]
    assert link.startswith("http://localhost/shared/fs_")
    return link.removeprefix("http://localhost")


def test_a_link_is_shown_once_and_read_by_anybody(web: Web, ann: Account) -> None:
    page = written(web, analysed(web, ann), language="en")
    link = share(web, page)
    assert "The link was shown only once, when it was created." in web.client.get(page).text
    assert (ann.email or "") not in web.client.get(link).text
    web.client.delete_cookie("fairlane")
    seen = web.client.get(link)
    assert seen.headers["Referrer-Policy"] == "no-referrer"
    assert seen.headers["X-Robots-Tag"] == "noindex"
    assert seen.headers["Cache-Control"] == "no-store"
    assert '<meta name="robots" content="noindex">' in seen.text
    assert "Says test_adds." in seen.text
    for told in (ann.email or "", "billed", page, "/analyses/"):
        assert told not in seen.text.partition("<main")[2], told
    assert (
        "csrf_token" not in seen.text.partition("<main")[2].partition("</main>")[0]
    )  # the footer's form chooses the language
    assert web.client.get(f"{link}?q=rounds").text.count("<li data-status") == 1
    assert web.client.get(page).status_code == 401


def test_a_link_gives_the_files_too(web: Web, ann: Account) -> None:
    link = share(web, written(web, analysed(web, ann), language="en"))
    web.client.delete_cookie("fairlane")
    seen = web.client.get(link).text
    for suffix in ("md", "html", "json", "zip"):
        assert f'href="{link}/{suffix}"' in seen
        answer = web.client.get(f"{link}/{suffix}", buffered=True)
        assert (answer.status_code, answer.headers["Referrer-Policy"]) == (200, "no-referrer")
    assert len(zipfile.ZipFile(io.BytesIO(answer.data)).namelist()) == 2
    assert web.client.get(f"{link}/exe").status_code == 404


def test_a_link_leads_nowhere_once_withdrawn_or_replaced(web: Web, ann: Account) -> None:
    page = written(web, analysed(web, ann), language="en")
    first, second = share(web, page), share(web, page)
    assert [web.client.get(link).status_code for link in (first, second)] == [404, 200]
    assert web.post(f"{page}/withdraw", page).status_code == 303
    for path in (second, f"{second}/md", "/shared/fs_none", "/shared/%00"):
        assert web.client.get(path).status_code == 404, path
    assert "Create a link" in web.client.get(page).text


def test_no_answer_below_a_link_is_listed_stored_or_told_to_others(make_web: Callable[..., Web]) -> None:
    web = make_web(read_limit_per_minute=20)
    web.app.extensions[READS].buckets.clock = lambda: 0.0
    account = web.user(Tier.PRO)
    web.sign_in(account)
    link = share(web, written(web, analysed(web, account), language="en"))
    web.client.delete_cookie("fairlane")
    paths = [link, f"{link}/md", f"{link}/zip", f"{link}/exe", f"{link}?page=x", "/shared/fs_none", "/shared/%00/md"]
    answers = [web.client.get(path, buffered=True) for path in [*paths, *([link] * 20)]] + [web.client.post(link)]
    assert {answer.status_code for answer in answers} == {200, 404, 405, 422, 429}
    for answer in answers:
        assert answer.headers["X-Robots-Tag"] == "noindex", answer.status
        assert answer.headers["Cache-Control"] == "no-store", answer.status
        assert answer.headers["Referrer-Policy"] == "no-referrer", answer.status


def test_of_a_repository_that_turned_private_the_owner_keeps_the_document_and_links_end(web: Web, ann: Account) -> None:
    analysis = analysed(web, ann)
    page = written(web, analysis, language="en")
    link = share(web, page)
    turn(web, private=True)
    for path in (page, f"/api/v1{page}.md", f"{page}/history"):
        assert web.client.get(path).status_code == 200, path
    for path in (link, f"{link}/md", f"{link}/json"):
        assert web.client.get(path).status_code == 404, path
    seen = web.client.get(page).text
    assert "The repository is private, so this specification has no working link." in seen
    assert "Create a link" not in seen
    refused = web.client.post(f"/api/v1{page}/share", headers=web.token(ann.user_id))
    assert (refused.status_code, "is private" in refused.json["detail"]) == (403, True)
    # what was paid by all is not the user's own: a new version of it would be
    dry = {"analysis_id": analysis, "mode": "regenerate_cached", "dry_run": True}
    assert web.client.post("/api/v1/specs", json=dry, headers=web.token(ann.user_id)).json["units"] == 3
    assert web.client.post("/api/v1/specs", json=dry, headers=web.token()).status_code == 404
    web.sign_in(web.user())
    assert web.client.get(page).status_code == 404
    turn(web, private=False)
    assert web.client.get(link).status_code == 200


def turn(web: Web, *, private: bool) -> None:
    with web.uow.begin() as tx:
        tx.run(text("UPDATE codebases SET is_private = :private"), private=private)

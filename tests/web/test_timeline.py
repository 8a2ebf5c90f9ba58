"""What happened to a job, and how its tab says where it stands."""

from __future__ import annotations

import html
import re
from pathlib import Path

from service_harness.application import Web
from sqlalchemy import text

from app.web.core.page_words import EVENTS

DOCS = Path(__file__).parents[2] / "docs/api.md"


def told(page: str) -> list[str]:
    """The events of the timeline."""
    items = page.partition('<ol class="timeline">')[2].partition("</ol>")[0]
    return [html.unescape(event) for event in re.findall(r"<strong>([^<]+)</strong>", items)]


def icon(page: str) -> str:
    found = re.search(r'<link rel="icon" href="/static/([\w.-]+)\?', page)
    assert found
    return found[1]


def test_every_event_of_the_api_has_words() -> None:
    listed = DOCS.read_text().partition("The timeline lists every event with its time:")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == set(EVENTS)


def test_the_page_of_a_job_has_its_timeline_folded_below(web: Web) -> None:
    header = web.token()
    first = web.submit("one", header).json["id"]
    page = web.client.get(f"/analyses/{first}").text
    assert told(page) == ["Accepted"]
    assert '<details class="card"><summary>Timeline</summary>' in page
    web.started(first)
    second = web.submit("two", header).json["id"]
    web.started(second)
    assert told(web.client.get(f"/analyses/{second}").text) == [
        "Accepted", "Put back, because all slots of its user were taken",
    ]  # fmt: skip


def test_a_result_leads_to_its_timeline(web: Web) -> None:
    job_id = web.submit("shop", web.token()).json["id"]
    web.completed(job_id)
    path = f"/analyses/{job_id}/timeline"
    assert f'href="{path}"' in web.client.get(f"/analyses/{job_id}").text
    assert told(web.client.get(path).text) == ["Accepted", "Started", "Completed"]
    assert "billed" not in web.client.get(path).text  # a visitor is not the payer


def test_the_timeline_of_a_private_repository_is_for_those_who_asked(web: Web) -> None:
    person = web.user()
    job_id = web.submit("shop", web.token(person.user_id)).json["id"]
    web.completed(job_id)
    with web.uow.begin() as tx:
        tx.run(text("UPDATE codebases SET is_private = true"))
    assert web.client.get(f"/analyses/{job_id}/timeline").status_code == 404
    web.sign_in(person)
    page = web.client.get(f"/analyses/{job_id}/timeline")
    assert page.status_code == 200
    assert "billed 1" in page.text


def test_the_tab_says_how_the_job_stands(web: Web) -> None:
    job_id = web.submit("shop", web.token()).json["id"]
    assert icon(web.client.get(f"/analyses/{job_id}").text) == "favicon-waiting.svg"
    web.started(job_id)
    page = web.client.get(f"/analyses/{job_id}").text
    assert icon(page) == "favicon-running.svg"
    assert "favicon-waiting.svg" in html.unescape(page.partition("data-icons='")[2].partition("'")[0])
    done = web.submit("done", web.token()).json["id"]
    web.completed(done)
    assert icon(web.client.get(f"/analyses/{done}").text) == "favicon-completed.svg"
    failed = web.submit("failed", web.token()).json["id"]
    web.failed(failed)
    assert icon(web.client.get(f"/analyses/{failed}").text) == "favicon-failed.svg"
    assert icon(web.client.get("/").text) == "favicon.svg"

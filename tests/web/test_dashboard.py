"""The first page of somebody who is signed in: what is under way, what ended, and what is left."""

from __future__ import annotations

import html
import re

from service_harness.application import Web
from sqlalchemy import text

from app.domain.plans import Tier
from app.domain.queues import Service
from app.services.jobs import read_dashboard
from app.store.jobs import heartbeats


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_running_and_waiting_jobs_are_told_as_on_their_own_pages(web: Web) -> None:
    person = web.user(Tier.FREE)
    header = web.token(person.user_id)
    running = web.started(web.submit("running", header).json["id"])
    with web.uow.begin() as tx:
        heartbeats.beat(tx, Service.ANALYSIS, running, ("parsing", 120, 480), lease_seconds=15)
    waiting = web.submit("waiting", header).json["id"]
    web.started(waiting)
    web.sign_in(person)
    page = web.client.get("/").text
    told = text_of(page)
    assert "1 running, 1 waiting" in told
    assert "acme/running" in told
    assert "Reading test files" in told
    assert "120 of 480 files" in told
    assert '<progress value="120" max="480"' in page
    job = web.client.get(f"/analyses/{waiting}").text
    reason = re.search(r"<span data-wait>([^<]+)</span>", job)
    assert reason
    assert "Your jobs use 1 of 1 slots of tier free." in reason[1]
    assert html.unescape(reason[1]) in told


def test_the_part_that_is_read_again_is_what_the_page_shows(web: Web) -> None:
    person = web.user()
    web.sign_in(person)
    assert "Nothing is under way" in web.client.get("/now").text
    web.submit("shop", web.token(person.user_id))
    part = web.client.get("/now")
    assert "0 running, 1 waiting" in part.text
    assert "<html" not in part.text
    assert part.headers["Cache-Control"] == web.client.get("/").headers["Cache-Control"]
    page = web.client.get("/").text
    assert 'data-now="/now"' in page
    assert re.search(r'<script src="/static/refresh\.js\?v=', page)


def test_used_and_reserved_units_stand_apart_with_the_day_of_the_reset(web: Web) -> None:
    person = web.user(Tier.FREE)
    header = web.token(person.user_id)
    web.completed(web.submit("done", header).json["id"])
    web.submit("shop", header)
    web.sign_in(person)
    told = text_of(web.client.get("/").text)
    assert "1 used, 1 reserved of 50" in told
    assert re.search(r"Plan free, resets \d{4}-\d\d-\d\d", told)


def test_ended_jobs_are_listed_newest_first_and_apart(web: Web) -> None:
    person = web.user(Tier.PRO)
    header = web.token(person.user_id)
    for name in ("one", "two", "three", "four", "five", "six"):
        web.completed(web.submit(name, header).json["id"])
    web.submit("seven", header)
    web.sign_in(person)
    under_way, _, ended = web.client.get("/now").text.partition("Recent</h2>")
    assert re.findall(r"acme/(\w+)<", under_way) == ["seven"]
    assert re.findall(r"acme/(\w+)<", ended) == ["six", "five", "four", "three", "two"]


def test_a_long_queue_of_ones_own_is_bounded(web: Web) -> None:
    person = web.user(Tier.ENTERPRISE)
    header = web.token(person.user_id)
    for number in range(read_dashboard.MOST + 3):
        web.submit(f"shop{number}", header)
    web.sign_in(person)
    part = web.client.get("/now").text
    assert len(re.findall(r"acme/shop\d+<", part)) == read_dashboard.MOST
    assert "3 more are waiting." in part
    assert f"0 running, {read_dashboard.MOST + 3} waiting" in part


def test_what_somebody_left_or_another_one_asked_for_is_not_theirs(web: Web) -> None:
    person, other = web.user(), web.user()
    job_id = web.submit("shop", web.token(other.user_id)).json["id"]
    web.submit("shop", web.token(person.user_id))  # joins
    web.submit("elsewhere", web.token(other.user_id))
    web.sign_in(person)
    assert re.findall(r"acme/(\w+)<", web.client.get("/now").text) == ["shop"]
    web.client.delete(f"/api/v1/analyses/{job_id}", headers=web.token(person.user_id))
    assert "Nothing is under way" in web.client.get("/now").text


def test_a_visitor_has_no_dashboard(web: Web) -> None:
    page = web.client.get("/").text
    assert "data-now" not in page
    assert "refresh.js" not in page
    assert web.client.get("/now").status_code == 401


def test_somebody_without_a_unit_left_is_told_when_and_that_results_are_free(web: Web) -> None:
    with web.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET analyses_per_period = 1 WHERE tier = 'free'"))
    person = web.user(Tier.FREE)
    done = web.submit("done", web.token(person.user_id)).json["id"]
    web.completed(done)
    web.sign_in(person)
    told = text_of(web.post("/analyses", repository="acme/next").text)
    assert re.search(
        r"used 1 of 1 units this period, with 0 more reserved by unfinished jobs\. The next period begins \d{4}-\d\d-\d\d \d\d:\d\d UTC",
        told,
    )
    assert "press Check" not in told
    known = web.post("/analyses", repository="acme/done")
    assert (known.status_code, known.headers["Location"]) == (303, f"/analyses/{done}")


def test_many_unfinished_jobs_hide_neither_a_running_one_nor_what_ended(web: Web) -> None:
    person = web.user(Tier.ENTERPRISE)
    header = web.token(person.user_id)
    web.completed(web.submit("done", header).json["id"])
    jobs = [web.submit(f"shop{number}", header).json["id"] for number in range(read_dashboard.MOST + 10)]
    web.started(jobs[-1])
    web.sign_in(person)
    under_way, _, ended = web.client.get("/now").text.partition("Recent</h2>")
    assert f"1 running, {read_dashboard.MOST + 9} waiting" in under_way
    assert re.findall(r"acme/(\w+)<", under_way)[0] == f"shop{read_dashboard.MOST + 9}"
    assert re.findall(r"acme/(\w+)<", ended) == ["done"]

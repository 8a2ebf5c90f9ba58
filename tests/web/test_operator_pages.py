"""The operator's pages, as a person without JavaScript uses them."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from datetime import timedelta
from uuid import uuid4

import pytest
from service_harness.application import Web, now

from app.domain.plans import Tier
from app.domain.queues import ALL_QUEUES
from app.services.accounts import accounts
from app.services.operations import nodes, queues
from app.web.site.template_filters import seconds
from tests.web.conftest import rows
from tests.web.operations import NODE, gone_node, node

LIMITS = "SELECT actor, action, subject, facts FROM audit_log WHERE action LIKE '%.limit' ORDER BY id"


def test_an_operator_sees_who_waits_and_changes_limits_on_their_pages(web: Web) -> None:
    web.sign_in(web.user(is_operator=True))
    user = web.user()
    header = web.token(user.user_id)
    web.started(web.submit("one", header).json["id"])
    for number in range(4):
        web.submit(f"more{number}", header)
    page = web.client.get("/operator").text
    assert user.email in page
    assert "1 of 1" in page
    own = f"/operator/users/{user.user_id}"
    assert web.post(f"{own}/limit", limit="2", sure="true").status_code == 303
    assert "2 at once, a limit of their own" in web.client.get(own).text
    assert web.post(f"{own}/limit", limit="", sure="true").status_code == 303
    assert web.post(f"{own}/tier", tier="pro").status_code == 303
    shown = web.client.get(own).text
    assert "tier pro" in shown
    assert "3 at once" in shown
    assert web.post("/operator/tiers/pro/limit", limit="0", sure="true").status_code == 422


def test_a_limit_is_changed_after_a_confirmation_and_the_page_says_who_has_their_own(web: Web) -> None:
    boss, pro, free = web.user(is_operator=True), web.user(Tier.PRO), web.user()
    web.sign_in(boss)
    assert "No user has a limit of their own." in limits(web)
    own, tier = f"/operator/users/{pro.user_id}/limit", "/operator/tiers/pro/limit"
    for path in (own, tier):
        assert web.post(path, limit="7").status_code == 422
    assert rows(web, LIMITS) == []
    web.post(tier, limit="4", sure="true")
    web.post(own, limit="7", sure="true")
    web.post(f"/operator/users/{free.user_id}/limit", limit="9", sure="true")
    told = re.findall(r">([^<]+@[^<]+)<.*?no\">(\w+)</td>.*?>(\d+)</td>.*?>(\d+)</td>", limits(web))
    assert told == [(free.email, "free", "9", "1"), (pro.email, "pro", "7", "4")]
    assert rows(web, LIMITS) == [
        (str(boss.user_id), "plan.limit", "pro", {"before": 3, "after": 4}),
        (str(boss.user_id), "user.limit", str(pro.user_id), {"before": None, "after": 7}),
        (str(boss.user_id), "user.limit", str(free.user_id), {"before": None, "after": 9}),
    ]
    read = accounts.add_user(
        web.uow, "reader@example.org", tier=Tier.FREE, is_read_only_operator=True, actor="test", now=now()
    )
    web.sign_in(read)
    assert pro.email in limits(web)
    assert "<form" not in limits(web)
    assert "You may read this, and may change nothing." in limits(web)


def limits(web: Web) -> str:
    """The section of the limits."""
    return web.client.get("/operator").text.split('<section id="limits">')[1].split("<footer")[0]


def test_the_operators_pages_are_for_operators(web: Web) -> None:
    assert web.client.get("/operator").status_code == 401
    web.sign_in(web.user())
    other = web.user()
    paths = ("/operator", f"/operator/users/{other.user_id}", "/operator/queues/analysis_default")
    assert [web.client.get(path).status_code for path in paths] == [403, 403, 403]
    assert "/operator" not in web.client.get("/").text
    assert web.post(f"/operator/users/{other.user_id}/tier", tier="pro").status_code == 403


def test_a_user_that_is_not_there_has_no_page(web: Web) -> None:
    web.sign_in(web.user(is_operator=True))
    assert web.client.get(f"/operator/users/{uuid4()}").status_code == 404


def test_the_first_line_says_that_no_worker_is_alive(web: Web) -> None:
    web.sign_in(web.user(is_operator=True))
    assert first_line(web) == "Behind No worker is alive, so nothing starts."


def test_the_first_line_says_ok_or_names_what_is_late_or_paused(web: Web, database_url: str) -> None:
    boss = web.user(is_operator=True)
    web.sign_in(boss)
    with ExitStack() as alive:
        alive.enter_context(node(web, database_url, *ALL_QUEUES[1:]))
        assert first_line(web) == "Behind No living worker takes messages of analysis_priority ."
        alive.enter_context(node(web, database_url, ALL_QUEUES[0], lock=NODE + 1))
        assert first_line(web).startswith("OK Workers take messages of every queue")
        web.submit("one", web.token())
        assert first_line(web).startswith("OK")
        rows(web, "UPDATE kombu_message SET visible_at = visible_at - interval '5 min' RETURNING 1")
        assert first_line(web) == (
            "Behind The oldest ready message of analysis_default has waited 5 min; more than 60 s is too long."
        )
        queues.pause(web.uow, "analysis_default", actor=str(boss.user_id), reason="<b>disk</b> full")
        assert re.fullmatch(
            rf"Paused analysis_default was paused [-\d]+ [:\d]+ UTC by {boss.email}: &lt;b&gt;disk&lt;/b&gt; full\.",
            first_line(web),
        )
        queues.pause(web.uow, "specview_default", actor="cli")
        assert "UTC by the command line: without a reason." in first_line(web)


def test_the_first_line_says_which_queue_only_idle_workers_of_another_serve(web: Web, database_url: str) -> None:
    web.sign_in(web.user(is_operator=True))
    lends, free = {"analysis_default": 2}, [queue for queue in ALL_QUEUES if queue != "analysis_default"]
    with ExitStack() as alive:
        alive.enter_context(node(web, database_url, *free, "analysis_default", spare=lends))
        line = "workers take messages of analysis_default ( QUEUE_LENDING ). While those are busy, its jobs wait."
        assert first_line(web).startswith("OK Workers take messages of every queue")
        assert line in first_line(web)
        assert "analysis_default</span> <small>while idle</small>" in web.client.get("/operator").text
        queues.pause(web.uow, "analysis_default", actor="cli")
        assert line not in first_line(web)  # nothing is expected of a paused queue
        queues.resume(web.uow, "analysis_default", actor="cli")
        alive.enter_context(node(web, database_url, "analysis_default", spare=lends, lock=NODE + 1))
        assert line not in first_line(web)  # this one reads nothing else, so it keeps nothing free
        living = web.client.get("/operator").text
        assert living.count("while idle") == 1


def test_a_queue_that_a_node_keeps_all_its_processes_free_of_is_not_served(web: Web, database_url: str) -> None:
    web.sign_in(web.user(is_operator=True))
    with node(web, database_url, *ALL_QUEUES, spare={"analysis_default": 3}):  # and it has three
        assert first_line(web) == "Behind No living worker takes messages of analysis_default ."
        [shown] = nodes.states(web.uow)
    assert "analysis_default" not in shown.queues


def test_a_second_pause_does_not_change_who_paused_a_queue(web: Web) -> None:
    for actor, reason in (("cli", "the first"), ("somebody", "the second")):
        queues.pause(web.uow, "analysis_default", actor=actor, reason=reason)
    [pause] = queues.pauses(web.uow)
    assert (pause.by, pause.reason) == ("cli", "the first")
    queues.resume(web.uow, "analysis_default", actor="cli")
    assert queues.pauses(web.uow) == []
    queues.pause(web.uow, "analysis_default", actor="cli", reason="the third")
    assert [pause.reason for pause in queues.pauses(web.uow)] == ["the third"]


@pytest.mark.parametrize("ahead", [timedelta(hours=-1), timedelta(hours=1)])
def test_who_paused_a_queue_is_known_whatever_the_clocks_say(web: Web, ahead: timedelta) -> None:
    for reason in ("the first", "the second"):
        queues.resume(web.uow, "analysis_default", actor="cli")
        queues.pause(web.uow, "analysis_default", actor="cli", reason=reason)
        # the clock of the process that paused it differed, or the database's own has been set since
        rows(web, "UPDATE kombu_queue SET paused_at = paused_at + :ahead RETURNING 1", ahead=ahead)
        [pause] = queues.pauses(web.uow)
        assert (pause.by, pause.reason) == ("cli", reason)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(-1, "0 s"), (119.9, "119 s"), (120, "2 min"), (7_199, "119 min"), (7_200, "2 h"), (172_800, "2 days")],
)
def test_ages_have_one_unit(value: float, shown: str) -> None:
    assert seconds(value) == shown


def test_a_queue_is_paused_on_a_page_of_its_own_with_a_reason_and_resumed(web: Web) -> None:
    boss = web.user(is_operator=True)
    web.sign_in(boss)
    own, pause = "/operator/queues/analysis_default", "/operator/queues/analysis_default/pause"
    assert f'href="{own}" aria-label="Pause analysis_default"' in web.client.get("/operator").text
    assert "Pause analysis_default</button>" in web.client.get(own).text
    for reason in ({}, {"reason": ""}, {"reason": "  "}):
        assert web.post(pause, paused="true", **reason).status_code == 422
    assert queues.pauses(web.uow) == []
    assert web.post(pause, paused="true", reason=" the disk is full ").status_code == 303
    [found] = queues.pauses(web.uow)
    assert (found.by, found.reason) == (boss.email, "the disk is full")
    assert f'href="{own}" aria-label="Resume analysis_default"' in web.client.get("/operator").text
    page = web.client.get(own).text
    assert f'by {boss.email}: <span translate="no">the disk is full.</span>' in page
    assert "Resume analysis_default</button>" in page
    assert web.post(pause, paused="false").status_code == 303
    assert queues.pauses(web.uow) == []
    assert web.client.get("/operator/queues/nowhere").status_code == 404


def test_a_queues_page_splits_what_waits(web: Web) -> None:
    web.sign_in(web.user(is_operator=True))
    header = web.token()
    began = time.monotonic()
    for number in range(4):
        web.submit(f"shop{number}", header)
    page = web.client.get("/operator/queues/analysis_default").text
    longest = time.monotonic() - began
    told = dict(re.findall(r"<dt>([^<]*)</dt><dd>(?:<a [^>]*>)?([\d,]+)", page))
    states = {row.queue: row for row in queues.states(web.uow)}["analysis_default"]
    assert all(0 <= int(told.pop(age)) <= longest + 1 for age in ("Oldest", "Oldest waiting"))  # rounded
    assert told == {
        "Ready": str(states.ready), "At work": "0", "Waiting, parked": str(states.parked),
        "Waiting, snoozed": "0", "Waiting, due later": "0", "Dead": "0",
    }  # fmt: skip
    assert states.ready + states.parked == 4
    assert states.parked > 0


def test_a_read_only_operator_gets_no_form(web: Web) -> None:
    email = "reader@example.org"
    add = {"tier": Tier.FREE, "is_read_only_operator": True, "actor": "test", "now": now()}
    reader = accounts.add_user(web.uow, email, **add)
    web.sign_in(reader)
    for path in ("/operator", f"/operator/users/{reader.user_id}", "/operator/queues/analysis_default"):
        page = web.client.get(path)
        assert page.status_code == 200
        assert re.findall(r'action="(/operator[^"]*)"', page.text) == []
        assert "<button>Change" not in page.text
    assert "Pause" not in web.client.get("/operator").text.split("</details>")[0].split("<main")[1]


def test_every_number_is_explained_in_its_section(web: Web, database_url: str) -> None:
    web.sign_in(web.user(is_operator=True))
    header = web.token()
    web.completed(web.submit("one", header).json["id"])
    web.submit("two", header)
    with node(web, database_url):
        sections = web.client.get("/operator").text.split("<section ")[1:]
    unexplained = {
        (section.split('"')[1], heading)
        for section in sections
        for heading in re.findall(r'<th scope="col" class="count"[^>]*>([^<]*)</th>', section)
        if not re.search(rf"<dt>{heading}</dt><dd>[A-Z][^<]+\.</dd>", section)
    }
    assert unexplained == set()
    assert sum(section.count('class="count"') for section in sections) > 20


def first_line(web: Web) -> str:
    """The words of the section that begins the page."""
    page = web.client.get("/operator").text
    section = page.split('<section class="verdict', 1)[1].split("</section>", 1)[0].partition(">")[2]
    return " ".join(re.sub(r"<[^>]*>", " ", section).split())


def test_workers_are_shown_with_their_jobs_and_those_that_are_gone_apart(web: Web, database_url: str) -> None:
    web.sign_in(web.user(is_operator=True))
    job = web.submit("shop", web.token()).json["id"]
    web.started(job)
    with node(web, database_url, "analysis_default", name="alive:7"):
        rows(web, "UPDATE kombu_message SET lease_owner = :lock RETURNING 1", lock=NODE)
        gone_node(web, "specview_default", name="gone:8", lock=NODE + 1)
        section = web.client.get("/operator").text.split('<section id="workers">')[1].split("</section>")[0]
    living, gone = section.split("<h3>Gone</h3>")
    assert "alive:7" in living
    assert "gone:8" not in living
    assert "1 of 3" in living
    assert f'<a href="/analyses/{job}"' in living
    assert re.search(r"analysis_default, \d+ s<", living)
    assert "gone:8" in gone
    assert "specview_default" in gone


def test_a_worker_with_many_jobs_names_ten(web: Web, database_url: str) -> None:
    web.sign_in(web.user(is_operator=True))
    for number in range(12):
        web.started(web.submit(f"shop{number}", web.token()).json["id"])
    with node(web, database_url):
        rows(web, "UPDATE kombu_message SET lease_owner = :lock RETURNING 1", lock=NODE)
        page = web.client.get("/operator").text
    assert page.count('<a href="/analyses/') == 10
    assert "and 2 more" in page

"""The schedule: who leads, what is late, other intervals, and an entry run at once, on its page and in the API."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from service_harness.application import Web, now

from app.services.operations import schedule
from app.services.operations.schedule import AskedRun
from app.services.operations.send_schedule import send_newest_slot
from app.store.operations import schedule as store
from tests.conftest import raw_connection
from tests.web.conftest import rows
from tests.web.operations import ENTRIES

API, PAGE = "/api/v1/operator/schedule", "/operator/schedule"
MESSAGES = "SELECT q.name, m.payload FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id"
LOG = "SELECT actor, action, subject, facts FROM audit_log WHERE action LIKE 'schedule.%' ORDER BY id"


@pytest.fixture
def operator(web: Web, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setattr(schedule, "SAME_REQUEST", timedelta(minutes=30))  # the machine may be slow
    schedule.register(web.uow, ENTRIES, leader="host:7", now=now())
    return web.token(web.user(is_operator=True).user_id, "operator")


def test_the_leader_is_alive_as_long_as_its_lock_is_held(web: Web, operator: dict[str, str], database_url: str) -> None:
    with raw_connection(database_url) as connection:
        assert store.lead(connection)
        leader = web.client.get(API, headers=operator).json["leader"]
        assert (leader["name"], leader["is_alive"]) == ("host:7", True)
        connection.invalidate()
    schedule.register(web.uow, ENTRIES[:1], leader="other:8", now=now())
    found = web.client.get(API, headers=operator).json
    assert found["leader"]["name"] == "other:8"
    assert [entry["name"] for entry in found["items"]] == ["prune"]


def test_without_a_beat_there_is_nothing_to_show(web: Web) -> None:
    operator = web.token(web.user(is_operator=True).user_id, "operator")
    assert web.client.get(API, headers=operator).json == {"leader": None, "items": []}


def test_an_entry_tells_when_it_was_sent_and_is_due_and_whether_it_is_late(web: Web) -> None:
    noon = now().replace(hour=12, minute=7, second=0, microsecond=0)
    schedule.register(web.uow, ENTRIES, leader="host:7", now=noon)
    for entry in ENTRIES:
        send_newest_slot(web.uow, entry, now=noon)
    for later, late in ((2, False), (3, False), (5, True)):  # its slot begins after 3 minutes, and is late after 4
        _, (prune, sweep) = schedule.shown(web.uow, now=noon + timedelta(minutes=later))
        assert sweep.next_at == noon + timedelta(minutes=3)
        assert (sweep.is_late, prune.is_late) == (late, False)
        assert prune.next_at == noon.replace(hour=3, minute=0) + timedelta(days=1)
        assert sweep.last_at is not None
    schedule.change(web.uow, "sweep", None, is_enabled=False, actor="x", now=noon, reason="y")
    _, (_, sweep) = schedule.shown(web.uow, now=noon + timedelta(days=1))
    assert (sweep.is_enabled, sweep.next_at, sweep.is_late) == (False, None, False)


def test_beat_obeys_an_interval_and_a_disabled_entry(web: Web, operator: dict[str, str]) -> None:
    changed = web.client.put(f"{API}/prune", headers=operator, json={"every_seconds": 6 * 3600})
    assert {item["name"]: item["every_seconds"] for item in changed.json["items"]} == {"prune": 21_600, "sweep": 300}
    web.client.put(f"{API}/sweep", headers=operator, json={"enabled": False, "reason": "the disk is full"})
    [prune] = schedule.obeyed(web.uow, ENTRIES)
    assert (prune.name, prune.every, prune.offset) == ("prune", timedelta(hours=6), timedelta(hours=3))
    schedule.register(web.uow, ENTRIES, leader="next:9", now=now())  # another leader keeps what operators changed
    assert schedule.obeyed(web.uow, ENTRIES) == [prune]
    web.client.put(f"{API}/prune", headers=operator, json={"every_seconds": None})
    web.client.put(f"{API}/sweep", headers=operator, json={"enabled": True})
    assert schedule.obeyed(web.uow, ENTRIES) == list(ENTRIES)
    facts = [(subject, facts["after"], facts.get("reason")) for _, _, subject, facts in rows(web, LOG)]
    assert facts == [
        ("prune", {"every_seconds": 21_600, "enabled": True}, None),
        ("sweep", {"every_seconds": 300, "enabled": False}, "the disk is full"),
        ("prune", {"every_seconds": 86_400, "enabled": True}, None),
        ("sweep", {"every_seconds": 300, "enabled": True}, None),
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"every_seconds": 59}, {"every_seconds": 600}, {"every_seconds": 70}, {"every_seconds": "60"},
        {"enabled": False}, {"every": 60},
    ],
)  # fmt: skip
def test_another_interval_divides_that_of_the_code(web: Web, operator: dict[str, str], body: dict[str, object]) -> None:
    refused = web.client.put(f"{API}/sweep", headers=operator, json=body)
    assert refused.status_code == 422
    assert schedule.obeyed(web.uow, ENTRIES) == list(ENTRIES)
    assert rows(web, LOG) == []


def test_an_entry_that_the_code_sends_at_another_interval_is_sent_at_that_one(web: Web) -> None:
    schedule.register(web.uow, ENTRIES, leader="host:7", now=now())
    schedule.change(web.uow, "sweep", timedelta(seconds=60), is_enabled=True, actor="x", now=now())
    rows(web, "UPDATE schedule_entries SET every = interval '7 min' WHERE name = 'sweep' RETURNING 1")
    schedule.register(web.uow, ENTRIES, leader="host:7", now=now())
    assert schedule.obeyed(web.uow, ENTRIES) == list(ENTRIES)


def test_an_entry_runs_once_on_its_queue_however_many_ask(web: Web, operator: dict[str, str]) -> None:
    with ThreadPoolExecutor(4) as threads:
        asked = threads.map(lambda _: schedule.run_now(web.uow, "sweep", actor="x", now=now()), range(4))
        assert sorted(asked) == [AskedRun.JUST_SENT, AskedRun.JUST_SENT, AskedRun.JUST_SENT, AskedRun.SENT]
    [(queue, payload)] = rows(web, MESSAGES)
    assert queue == "analysis_scheduled"
    assert "tasks.maintenance.sweep" in payload
    rows(web, "DELETE FROM kombu_message RETURNING 1")  # a worker was quick; the second click is still the same one
    again = web.client.post(f"{API}/sweep/run", headers=operator)
    assert (again.status_code, again.json) == (202, {"name": "sweep", "sent": False})
    rows(web, "UPDATE schedule_entries SET asked_at = asked_at - interval '1 h' RETURNING 1")
    answers = [web.client.post(f"{API}/sweep/run", headers=operator).json["sent"] for _ in range(2)]
    assert answers == [True, False]
    rows(web, "UPDATE schedule_entries SET asked_at = asked_at - interval '1 h' RETURNING 1")
    assert not web.client.post(f"{API}/sweep/run", headers=operator).json["sent"]  # it is on its queue still
    assert len(rows(web, MESSAGES)) == 1
    assert [action for _, action, *_ in rows(web, LOG)] == ["schedule.run"] * 2


def test_an_unknown_entry_is_404(web: Web, operator: dict[str, str]) -> None:
    assert web.client.put(f"{API}/nothing", headers=operator, json={}).status_code == 404
    assert web.client.post(f"{API}/nothing/run", headers=operator).status_code == 404


@pytest.mark.usefixtures("operator")
def test_the_page_changes_and_runs_an_entry_without_a_script(web: Web) -> None:
    boss = web.user(is_operator=True)
    web.sign_in(boss)
    assert f'href="{PAGE}"' in web.client.get("/operator").text
    assert "No beat leads" in web.client.get(PAGE).text
    assert web.post(f"{PAGE}/sweep", minutes="1", enabled="true").status_code == 303
    assert web.post(f"{PAGE}/sweep", minutes="1").status_code == 422  # no reason
    assert web.post(f"{PAGE}/prune", minutes="", reason="<i>disk</i>").status_code == 303
    done = web.post(f"{PAGE}/sweep/run")
    assert done.status_code == 303
    page = web.client.get(done.headers["Location"]).text
    assert "sweep was sent, and runs once on analysis_scheduled." in page
    assert 'value="1"' in page
    assert "disabled" in page
    assert {actor for actor, *_ in rows(web, LOG)} == {str(boss.user_id)}
    assert "Changed the schedule" in web.client.get("/operator/audit").text


@pytest.mark.usefixtures("operator")
def test_the_page_says_why_nothing_was_sent_and_when_something_last_was(web: Web) -> None:
    web.sign_in(web.user(is_operator=True))

    def run() -> str:
        return web.client.get(web.post(f"{PAGE}/sweep/run").location).text

    assert "sweep was sent, and runs once on analysis_scheduled." in run()
    assert "sweep was not sent, because an operator sent it less than 10 s ago." in run()
    rows(web, "UPDATE schedule_entries SET asked_at = asked_at - interval '1 h' RETURNING 1")
    page = run()
    assert "sweep was not started: its previous run is still queued on analysis_scheduled or in progress." in page
    assert "sweep was sent" not in page
    assert "60 min ago" in page
    assert len(rows(web, LOG)) == 1
    assert "was sent" not in web.client.get(f"{PAGE}?entry=sweep&outcome=none").text


@pytest.mark.usefixtures("operator")
def test_the_page_is_for_operators(web: Web) -> None:
    assert web.client.get(PAGE).status_code == 401
    web.sign_in(web.user())
    assert web.client.get(PAGE).status_code == 403
    assert web.post(f"{PAGE}/sweep/run").status_code == 403

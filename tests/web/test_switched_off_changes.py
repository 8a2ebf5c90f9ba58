"""While an operator has switched changes off, or the database takes none, results are read and nothing is accepted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from click.testing import CliRunner
from service_harness.application import POLICY, SETTINGS, Web, resolve
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from app.cli import main
from app.services.operations import read_only, readiness
from app.store.core.unit_of_work import UnitOfWork
from app.web import create_app
from app.web.core import auth
from app.web.core.wiring import WebWiring
from tests.tiers import few
from tests.web.conftest import rows
from tests.web.test_readiness import Refuse, refuse  # noqa: F401 - a fixture

REASON = "We move to another server."
#: Whatever stands in an address.
ANYTHING = {"uuid": "6f0bb0a0-7b0e-4d8e-9b7e-3f0d6f6f2d11", "int": "1"}
GIVEN = re.compile(r"<(?:(\w+)(?:\([^)]*\))?:)?\w+>")
READS = ("/", "/explore", "/analyses/{job}", "/api/v1/analyses/{job}", "/api/v1/analyses/{job}/tests", "/api/v1/usage")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process reads the switch each time."""
    monkeypatch.setattr(read_only, "SECONDS", 0.0)
    monkeypatch.setattr(readiness, "WRITES_SECONDS", 0.0)


def switch(web: Web, *, on: bool) -> None:
    read_only.switch(web.uow, on=on, actor="cli:ann@here", reason=REASON if on else None)


def assert_refused(answer: TestResponse) -> None:
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30"), answer.text[:500]


def test_a_submission_is_refused_with_the_reason_and_accepted_afterwards(web: Web) -> None:
    headers = web.token()
    switch(web, on=True)
    refused = web.submit("shop", headers)
    assert_refused(refused)
    assert (refused.content_type, refused.json["type"]) == ("application/problem+json", "/problems/read-only")
    assert refused.json["detail"] == f"An operator has switched changes off ({REASON.rstrip('.')}). Try again later."
    assert rows(web, "SELECT 1 FROM kombu_message UNION ALL SELECT 1 FROM quota_reservations") == []
    switch(web, on=False)
    assert web.submit("shop", headers).status_code == 202
    logged = "SELECT actor, action, subject, facts FROM audit_log WHERE action LIKE 'service.%' ORDER BY id"
    assert rows(web, logged) == [
        ("cli:ann@here", "service.read_only", "web", {"reason": REASON}),
        ("cli:ann@here", "service.writable", "web", {}),
    ]


@pytest.mark.parametrize("path", ["/api/v1/analyses", "/api/v1/analyses/batch"])
def test_a_submission_whose_commit_was_looked_up_meanwhile_is_refused(uow: UnitOfWork, path: str) -> None:
    def resolve_late(*asked: Any) -> tuple[str, str | None]:
        switch(web, on=True)
        return resolve(*asked)

    web = Web(create_app(WebWiring(SETTINGS, uow, POLICY, resolve_late, "a secret of this test")), uow)
    one = {"repository": "acme/shop"}
    assert_refused(web.client.post(path, json={"items": [one]} if path.endswith("batch") else one, headers=web.token()))
    assert rows(web, "SELECT 1 FROM kombu_message UNION ALL SELECT 1 FROM quota_reservations") == []


def test_reads_are_answered_and_ready_and_writes_are_not(web: Web) -> None:
    headers = web.token()
    job = web.submit("shop", headers).json["id"]
    web.completed(job)
    switch(web, on=True)
    for path in READS:
        assert web.client.get(path.format(job=job), headers=headers).status_code == 200, path
    ready = web.client.get("/readyz")
    assert (ready.status_code, ready.json["writes"], ready.json["checks"]["writes"]) == (200, False, "switched off")
    assert web.client.get("/readyz?writes=1").status_code == 503


def test_pages_say_so_in_the_language_of_the_reader(web: Web) -> None:
    assert "switched off" not in web.client.get("/").text
    switch(web, on=True)
    page = web.client.get("/").text
    assert "Changes are switched off at present: results can be read, and nothing can be submitted." in page
    assert REASON in page
    korean = web.client.get("/", headers={"Accept-Language": "ko"}).text
    assert REASON in korean
    assert "switched off" not in korean
    refused = web.post("/analyses", repository="acme/shop")
    assert_refused(refused)
    assert "The service takes no changes at present; results can be read" in refused.text


def test_who_is_signed_in_stays_so_on_the_page_that_refuses(web: Web) -> None:
    ann = web.user()
    web.sign_in(ann)
    switch(web, on=True)
    refused = web.post("/analyses", repository="acme/shop")
    assert_refused(refused)
    assert str(ann.email) in refused.text


def test_a_visitor_who_only_reads_leaves_nothing(web: Web) -> None:
    before = rows(web, "SELECT count(*) FROM users")
    for switched in (True, False):
        switch(web, on=switched)
        assert "2,500" in web.client.get("/usage").text
        assert web.client.get("/api/v1/usage").json["tier"] == "free"
        asked = web.client.post("/api/v1/quota/check", json={})
        assert asked.status_code == 200, asked.text
    assert rows(web, "SELECT count(*) FROM users") == before


def test_a_person_hears_why_although_the_database_is_away_too(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    web.sign_in(web.user())
    switch(web, on=True)
    why = read_only.state(web.uow)
    monkeypatch.setattr(read_only, "known", lambda _: why)

    def away() -> None:
        raise OperationalError("SELECT", {}, Exception("away"))

    monkeypatch.setattr(auth, "identify_person", away)
    refused = web.post("/analyses", repository="acme/shop")
    assert_refused(refused)
    assert REASON.rstrip(".") in refused.text


def changes(web: Web) -> list[tuple[str, str]]:
    """Every call that is no read: (method, path)."""
    return sorted(
        (method, GIVEN.sub(lambda part: ANYTHING.get(part[1] or "", "anything"), rule.rule))
        for rule in web.app.url_map.iter_rules()
        for method in (rule.methods or set()) - auth.SAFE_METHODS
    )


@pytest.mark.parametrize("has_token", [True, False], ids=["with the form's token", "without it"])
def test_every_change_is_refused_whoever_asks(web: Web, has_token: bool) -> None:
    token = web.client.get("/").text.split('name="csrf_token" value="')[1].split('"')[0] if has_token else ""
    switch(web, on=True)
    answers = {}
    for method, path in changes(web):
        if path.startswith("/api/"):
            answer = web.client.open(path, method=method, json={})
        else:
            answer = web.client.open(path, method=method, data={"csrf_token": token})
        answers[method, path] = answer.status_code
    assert len(answers) > 60
    assert {call for call, status in answers.items() if status != 503} == {
        ("POST", "/api/v1/quota/check"),
        ("POST", "/language"),
    }
    assert_refused(web.client.get("/sign-in/github/callback"))


@pytest.mark.parametrize("path", few(1, ["/api/v1/analyses", "/api/v1/quota/check", "/api/v1/me/tokens"]))
def test_a_database_that_takes_no_writes_is_named(web: Web, refuse: Refuse, path: str) -> None:  # noqa: F811
    headers = web.token()
    refuse("SET default_transaction_read_only = on")
    refused = web.client.post(path, json={}, headers=headers)
    assert_refused(refused)
    assert (refused.json["type"], refused.json["detail"]) == (
        "/problems/read-only", "The database takes no changes at present. Try again later.",
    )  # fmt: skip
    assert "The database takes no changes at present" in web.client.get("/").text


def test_a_process_reads_the_switch_once_in_a_while_only(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_only, "SECONDS", 600.0)
    headers = web.token()
    assert web.submit("shop", headers).status_code == 202
    switch(web, on=True)
    assert web.submit("cart", headers).status_code == 202


def test_the_command_switches_and_shows_the_state(web: Web, database_url: str) -> None:
    def ran(*arguments: str) -> Any:
        done = CliRunner().invoke(main, ["read-only", *arguments], env={"DATABASE_URL": database_url})
        return done.exit_code, done.output

    assert ran() == (0, "read_only: False\nis_databases: None\nsince: None\nactor: None\nreason: None\n")
    code, said = ran("on", "--reason", REASON)
    assert (code, f"reason: {REASON}" in said) == (0, True)
    assert_refused(web.submit("shop", web.token()))
    assert '"read_only": true' in ran("--json")[1]
    assert ran("off", "--reason", REASON)[0] == 2
    assert ran("off")[1].startswith("read_only: False")

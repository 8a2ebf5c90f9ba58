"""The operator's pages of dead letters, as a person without JavaScript uses them."""

from __future__ import annotations

import pytest
from service_harness.application import Web, now

from app.domain.plans import Tier
from app.services.accounts import accounts
from tests.web.conftest import rows
from tests.web.operations import bury_all, letter

DEAD = "/operator/dead"
ACTS = "SELECT actor, action, facts -> 'ids' FROM audit_log WHERE action LIKE 'dead.%' ORDER BY id"


@pytest.mark.usefixtures("boss")
def test_the_console_leads_to_the_dead_letters_with_their_number(web: Web) -> None:
    for _ in range(3):
        letter(web)
    assert f'<a href="{DEAD}">Dead letters: 3</a>' in web.client.get("/operator").text


@pytest.mark.usefixtures("boss")
def test_letters_are_listed_by_queue_and_reason_in_pages(web: Web) -> None:
    ids = [letter(web), letter(web, "lost"), letter(web, "lost", "specview_default")]
    first = web.client.get(f"{DEAD}?limit=2").text
    assert [number for number in ids if f">Letter {number}<" in first] == ids[1:]
    assert "3 in all, newest first" in first
    older = f"{DEAD}?cursor={ids[1]}"
    assert f'rel="next" href="{older}"' in first
    assert f">Letter {ids[0]}<" in web.client.get(older).text
    some = web.client.get(f"{DEAD}?queue=analysis_default&reason=lost").text
    assert [number for number in ids if f">Letter {number}<" in some] == ids[1:2]
    assert "1 in all with this filter" in some
    assert "There is no dead letter with this filter" in web.client.get(f"{DEAD}?queue=specview_priority").text


@pytest.mark.usefixtures("boss")
def test_a_payload_is_escaped_and_folded_and_cut_with_a_word_about_it(web: Web) -> None:
    number = letter(web, payload="<script>alert(1)</script>" + "x" * 30_000)
    for path in (DEAD, f"{DEAD}/{number}"):
        page = web.client.get(path).text
        assert "<script>alert" not in page
        folded = page.split("<details", 1)[1].split("</details>")[0]
        assert "<code>&lt;script&gt;alert(1)&lt;/script&gt;xxx" in folded
        assert "30,025 bytes" in folded
    assert page.count("x") < 21_000
    assert "These are the first 20,000 characters." in page


def test_a_letter_is_redriven_once_and_only_with_the_box_ticked(web: Web, boss: accounts.Account) -> None:
    job = web.submit("shop", web.token()).json["id"]
    [number] = bury_all(web)
    assert web.post(f"{DEAD}/{number}/redrive").status_code == 422
    assert rows(web, "SELECT task_id FROM kombu_message") == []
    answers = [web.post(f"{DEAD}/{number}/redrive", sure="true") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [303, 404]
    assert answers[0].location == DEAD
    assert rows(web, "SELECT task_id FROM kombu_message") == [(job,)]
    assert rows(web, ACTS) == [(str(boss.user_id), "dead.redrive", [number])]


def test_a_letter_is_dropped_unless_its_job_has_not_ended(web: Web, boss: accounts.Account) -> None:
    web.submit("shop", web.token())
    [unfinished] = bury_all(web)
    number = letter(web)
    assert web.post(f"{DEAD}/{number}/drop").status_code == 422
    assert web.post(f"{DEAD}/{number}/drop", sure="true").status_code == 303
    refused = web.post(f"{DEAD}/{unfinished}/drop", sure="true")
    assert refused.status_code == 409
    assert "its job has not ended" in refused.text
    assert rows(web, "SELECT id FROM kombu_dead_letter") == [(unfinished,)]
    assert rows(web, ACTS) == [(str(boss.user_id), "dead.drop", [number])]


@pytest.mark.usefixtures("boss")
def test_a_letter_that_is_not_there_has_no_page(web: Web) -> None:
    for number in (7, 99_999_999_999_999_999_999_999):
        assert web.client.get(f"{DEAD}/{number}").status_code == 404
        assert web.post(f"{DEAD}/{number}/drop", sure="true").status_code == 404


def test_a_read_only_operator_reads_letters_and_gets_no_form(web: Web) -> None:
    email = "reader@example.org"
    add = {"tier": Tier.FREE, "is_read_only_operator": True, "actor": "test", "now": now()}
    web.sign_in(accounts.add_user(web.uow, email, **add))
    number = letter(web)
    page = web.client.get(f"{DEAD}/{number}")
    assert page.status_code == 200
    assert "redrive" not in page.text
    assert 'name="sure"' not in page.text
    for verb in ("redrive", "drop"):
        assert web.post(f"{DEAD}/{number}/{verb}", "/", sure="true").status_code == 403
    web.sign_in(web.user())
    assert [web.client.get(path).status_code for path in (DEAD, f"{DEAD}/{number}")] == [403, 403]
    assert len(rows(web, "SELECT 1 FROM kombu_dead_letter")) == 1

"""Many dead letters handled with one confirmation, as a person without JavaScript does."""

from __future__ import annotations

import re

import pytest
from service_harness.application import Web, now

from app.domain.plans import Tier
from app.services.accounts import accounts
from tests.web.conftest import rows
from tests.web.operations import bury_all, letter

DEAD, MANY = "/operator/dead", "/operator/dead/many"
ACTS = "SELECT actor, action, subject, facts -> 'ids', facts ->> 'reason' FROM audit_log WHERE action LIKE 'dead.%'"
LEFT = "SELECT id FROM kombu_dead_letter ORDER BY id"


def fields(page: str, verb: str) -> dict[str, str]:
    """What the form that redrives or drops sends, with its box ticked."""
    form = page.split(f'action="{MANY}/{verb}"')[1].split("</form>", maxsplit=1)[0]
    sent = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    del sent["csrf_token"]
    return sent


def test_the_letters_of_a_queue_are_redriven_after_a_confirmation_with_their_number(
    web: Web, boss: accounts.Account
) -> None:
    letters = [letter(web) for _ in range(3)]
    other = letter(web, queue="specview_default")
    here = f"{MANY}?queue=analysis_default"
    assert f'href="{here}"' in web.client.get(f"{DEAD}?queue=analysis_default").text
    page = web.client.get(here).text
    assert "Put 3 dead letters back on their queues" in page
    form = fields(page, "redrive")
    assert (
        web.post(f"{MANY}/redrive", **{name: value for name, value in form.items() if name != "sure"}).status_code
        == 422
    )
    assert rows(web, "SELECT 1 FROM kombu_message") == []
    late = letter(web)
    done = web.post(f"{MANY}/redrive", **form)
    assert done.status_code == 303
    told = web.client.get(done.location).text
    assert "Back on their queues: 3 dead letters." in told
    assert "Handle the next ones" in told  # the late one
    assert [number for (number,) in rows(web, LEFT)] == [other, late]
    assert len(rows(web, "SELECT 1 FROM kombu_message")) == 3
    assert rows(web, ACTS) == [(str(boss.user_id), "dead.redrive", "analysis_default", letters, None)]
    assert "Redrove dead letters" in web.client.get("/operator/audit").text


@pytest.mark.usefixtures("boss")
def test_the_page_says_what_stays_and_what_others_handled(web: Web) -> None:
    web.submit("shop", web.token())
    [unfinished] = bury_all(web)
    first, second = letter(web, "lost"), letter(web, "lost")
    form = fields(web.client.get(f"{MANY}?reason=lost").text, "drop")
    web.post(f"{DEAD}/{first}/redrive", sure="true")
    told = web.client.get(web.post(f"{MANY}/drop", **form).location).text
    assert "Deleted: 1 dead letter." in told
    assert "Left as they were: 1 dead letter. Their jobs have not ended." in told
    assert "Not found: 1 dead letter." in told
    assert "Handle the next ones" not in told
    assert [number for (number,) in rows(web, LEFT)] == [unfinished]
    assert [ids for _, action, _, ids, _ in rows(web, ACTS) if action == "dead.drop"] == [[second]]


@pytest.mark.usefixtures("boss")
def test_a_thousand_are_handled_at_once_and_the_others_follow(web: Web) -> None:
    rows(web, """
        WITH made AS (INSERT INTO kombu_dead_letter (queue, payload, reason)
                      SELECT 'analysis_default', '{}', 'lost' FROM generate_series(1, 1003) RETURNING 1)
        SELECT count(*) FROM made""")  # fmt: skip
    page = web.client.get(MANY).text
    assert "Delete 1,000 dead letters for good" in page
    assert "so this leaves 3 dead letters for the next time" in page
    told = web.client.get(web.post(f"{MANY}/drop", **fields(page, "drop")).location).text
    [following] = re.findall(rf'href="({MANY}\?[^"]*after=[^"]*)"', told)
    page = web.client.get(following).text
    web.post(f"{MANY}/drop", **fields(page, "drop"))
    assert rows(web, LEFT) == []
    assert web.client.get(MANY).status_code == 404


def test_only_operators_who_may_act_reach_it(web: Web) -> None:
    add = {"tier": Tier.FREE, "is_read_only_operator": True, "actor": "test", "now": now()}
    number = letter(web)
    form = {"last": str(number), "letters": "1", "sure": "true"}
    for account in (accounts.add_user(web.uow, "reader@example.org", **add), web.user()):
        web.sign_in(account)
        assert web.client.get(MANY).status_code == 403
        assert [web.post(f"{MANY}/{verb}", "/", **form).status_code for verb in ("redrive", "drop")] == [403, 403]
    web.sign_in(accounts.find_person(web.uow, "reader@example.org"))
    assert MANY not in web.client.get(DEAD).text
    assert [left for (left,) in rows(web, LEFT)] == [number]

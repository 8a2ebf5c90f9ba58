"""The page of the audit log: who did what, and when."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from service_harness.application import Web, now

from app.domain.plans import Tier
from app.services.accounts import accounts
from app.services.operations import dead_letters, queues
from app.services.operations.dead_letters import Chosen
from app.web.operations.console_words import ACTIONS
from tests.web.conftest import rows
from tests.web.operations import letter

LOG = "/operator/audit"
ROOT = Path(__file__).parents[2]


def lines(page: str) -> list[list[str]]:
    """The cells of each row, without their markup."""
    body = page.split("<tbody>")[1].split("</tbody>", maxsplit=1)[0]
    cells = [re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL) for row in body.split("</tr>")[:-1]]
    return [[" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in row] for row in cells]


def test_each_action_is_told_with_who_what_and_when(web: Web, boss: accounts.Account) -> None:
    user = web.user()
    assert web.post(f"/operator/users/{user.user_id}/tier", tier="pro").status_code == 303
    queues.pause(web.uow, "analysis_default", actor="cli", reason="<i>disk</i>")
    ids = [letter(web) for _ in range(12)]
    dead_letters.drop(web.uow, Chosen(), actor="somebody who left")
    page = web.client.get(LOG).text
    dropped, paused, changed, *_ = lines(page)
    ten = ", ".join(map(str, ids[:10]))
    assert dropped[:4] == ["Dropped dead letters", "all", f"ids: {ten} and 2 more; reason: none", "somebody who left"]
    assert paused[:4] == [
        "Paused a queue", "analysis_default", "reason: &lt;i&gt;disk&lt;/i&gt;", "the command line",
    ]  # fmt: skip
    assert changed[:4] == ["Changed the tier of a user", user.email, "before: free; after: pro", boss.email]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", changed[4])
    assert f'href="{LOG}"' in web.client.get("/operator").text


@pytest.mark.usefixtures("boss")
def test_the_log_comes_in_pages(web: Web) -> None:
    for queue in ("analysis_default", "analysis_priority", "specview_default"):
        queues.pause(web.uow, queue, actor="cli")
    first = web.client.get(f"{LOG}?limit=2").text
    assert [line[1] for line in lines(first)] == ["specview_default", "analysis_priority"]
    [(last,)] = rows(web, "SELECT id FROM audit_log WHERE subject = 'analysis_priority'")
    assert f'rel="next" href="{LOG}?cursor={last}"' in first
    older = web.client.get(f"{LOG}?cursor={last}").text
    assert lines(older)[0][1] == "analysis_default"
    assert 'rel="next"' not in older
    assert f'<a href="{LOG}">Newest</a>' in older


def test_every_action_that_the_code_writes_has_words() -> None:
    written = {
        found
        for path in (ROOT / "app" / "services").rglob("*.py")
        for found in re.findall(
            r'"((?:dead|github|job|keys|node|passkey|plan|queue|schedule|service|sweep|token|user)\.[a-z_]+)"',
            path.read_text(encoding="utf-8"),
        )
    }
    assert written == set(ACTIONS)


def test_the_log_is_for_operators_also_for_those_who_only_read(web: Web) -> None:
    email = "reader@example.org"
    add = {"tier": Tier.FREE, "is_read_only_operator": True, "actor": "test", "now": now()}
    assert web.client.get(LOG).status_code == 401
    web.sign_in(web.user())
    assert web.client.get(LOG).status_code == 403
    web.sign_in(accounts.add_user(web.uow, email, **add))
    assert web.client.get(LOG).status_code == 200

"""The operator's page of health: orphans and the database."""

from __future__ import annotations

import re

from service_harness.application import Web
from sqlalchemy import text

ORPHAN = text("""
    INSERT INTO quota_reservations (user_id, event_type, reserved_amount, job_id, accepted_at, expires_at)
    SELECT id, 'analysis', 1, gen_random_uuid(), now() - interval '3 h', now() - interval '2 h' FROM users LIMIT 1""")


def number(page: str, kind: str) -> str:
    """Of a kind of what is left behind."""
    found = re.search(rf">{kind}[^<]*</th>\s*<td[^>]*>([\d,]+)<", page)
    assert found, page
    return found[1]


def orphans(web: Web) -> int:
    with web.uow.begin() as tx:
        count: int = tx.run(text("SELECT count(*) FROM quota_reservations")).scalar_one()
    return count


def test_what_is_left_behind_is_shown_and_stays_until_the_sweep_runs(web: Web) -> None:
    web.sign_in(web.user(is_operator=True))
    assert number(web.client.get("/operator/health").text, "Reservations without a job") == "0"
    with web.uow.begin() as tx:
        tx.run(ORPHAN)
    for _ in range(2):  # to look changes nothing
        page = web.client.get("/operator/health").text
        assert number(page, "Reservations without a job") == "1"
        assert "reserved_amount 1" in page
    assert orphans(web) == 1
    assert web.post("/operator/sweep", "/operator/health").status_code == 303
    assert orphans(web) == 0
    assert number(web.client.get("/operator/health").text, "Reservations without a job") == "0"
    log = web.client.get("/operator/audit").text
    assert "Ran the sweep at once" in log
    assert "orphans: 1" in log


def test_the_database_tells_its_size_its_connections_and_its_schema(web: Web) -> None:
    web.sign_in(web.user(is_operator=True))
    page = web.client.get("/operator/health").text
    assert re.search(r"<dd translate=\"no\">[\d.]+ MiB</dd>", page)
    assert re.search(r"Connections of the server</dt><dd>\d+ of \d+</dd>", page)
    assert re.search(r"<dd translate=\"no\">\d{4}, ok</dd>", page)
    assert len(re.findall(r'data-label="Dead rows">[\d,]+<', page)) >= 5


def test_nobody_but_operators_sees_it_and_readers_change_nothing(web: Web) -> None:
    web.sign_in(web.user())
    assert web.client.get("/operator/health").status_code == 403
    assert web.post("/operator/sweep").status_code == 403

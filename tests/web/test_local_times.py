"""Instants are in the reader's own time, and in UTC for a pointer and without JavaScript."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page
from service_harness.application import Web
from sqlalchemy import text

from tests.web.browser import chromium, served
from tests.web.scenes import cancelled

pytestmark = pytest.mark.proof

EVERY = "[...document.querySelectorAll('.facts time')].map(one => [one.dateTime, one.textContent, one.title])"
ASKED = "2026-07-01T20:31:59+00:00"


def times(web: Web, **reader: Any) -> list[list[str]]:
    """What a page of a cancelled job shows: of each instant its value, text and title."""
    path = cancelled(web)
    with web.uow.begin() as tx:
        tx.run(text("UPDATE analysis_requests SET requested_at = CAST(:at AS timestamptz)"), at=ASKED)
    with chromium() as browser, served(web.app) as address:
        page: Page = browser.new_page(**reader)
        page.set_default_timeout(100_000)  # ms
        refused: list[str] = []
        page.on("console", lambda said: refused.append(said.text))
        page.goto(address + path)
        found: list[list[str]] = page.evaluate(EVERY)
    # a connection that a loaded machine resets is no refusal of the policy
    assert [told for told in refused if "ERR_CONNECTION_RESET" not in told] == []
    return found


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("Asia/Seoul", "2026-07-02 05:31"),
        ("Asia/Kathmandu", "2026-07-02 02:16"),
    ],
)
def test_an_instant_is_shown_in_the_readers_own_time_with_utc_for_a_pointer(web: Web, zone: str, shown: str) -> None:
    assert times(web, timezone_id=zone) == [[ASKED, shown, "2026-07-01 20:31 UTC"]]


def test_without_javascript_instants_are_in_utc(web: Web) -> None:
    assert times(web, timezone_id="Asia/Seoul", java_script_enabled=False) == [[ASKED, "2026-07-01 20:31 UTC", ""]]


def test_the_script_is_loaded_by_every_page_that_has_instants(web: Web) -> None:
    for path in ("/", "/sign-in", cancelled(web)):
        assert re.search(r'<script src="/static/times\.js\?v=[0-9a-f]{12}" defer></script>', web.client.get(path).text)

"""The operator's page reads itself again, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect
from service_harness.application import Web

from app.services.operations import queues
from tests.web.browser import chromium
from tests.web.test_browser import opened

pytestmark = pytest.mark.proof

TEN_SECONDS = 10_000  # ms
SHOW_OR_HIDE = """state => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture
def timed() -> Iterator[Page]:
    """A tab whose clock the test moves."""
    with chromium() as browser:
        page = browser.new_page()
        page.clock.install(time=datetime(2026, 3, 1, 12, tzinfo=UTC))
        page.clock.pause_at(datetime(2026, 3, 1, 12, 0, 1, tzinfo=UTC))
        yield page


def pause(web: Web, queue: str) -> None:
    queues.pause(web.uow, queue, actor="cli", reason="a test")


def test_the_console_is_read_again_every_ten_seconds_and_not_while_it_is_hidden(timed: Page, web: Web) -> None:
    web.sign_in(web.user(is_operator=True))
    read: list[str] = []
    timed.on("request", lambda request: read.append(request.url) if request.url.endswith("/operator/now") else None)
    with opened(timed, web, "/operator") as page:
        expect(page.locator("#verdict")).to_have_text("Behind")
        expect(page.locator("[data-told]")).to_contain_text("and again every 10 s")
        page.locator("#queues summary").click()
        page.locator("#queues summary").focus()
        pause(web, "analysis_default")
        page.clock.run_for(TEN_SECONDS - 1)
        assert read == []
        page.clock.run_for(TEN_SECONDS)
        expect(page.locator(".verdict")).to_contain_text("analysis_default was paused")
        assert len(read) == 1
        expect(page.locator(".verdict time")).to_have_attribute("title", re.compile(" UTC$"))
        assert page.locator("#queues details").get_attribute("open") is not None
        expect(page.locator("#queues summary")).to_be_focused()

        page.evaluate(SHOW_OR_HIDE, "hidden")
        pause(web, "specview_default")
        page.clock.run_for(5 * TEN_SECONDS)
        assert len(read) == 1
        page.evaluate(SHOW_OR_HIDE, "visible")
        page.clock.run_for(1)
        expect(page.locator(".verdict")).to_contain_text("specview_default was paused")
        assert len(read) == 2


def test_a_changed_word_is_spoken_and_a_failed_read_is_told(timed: Page, web: Web) -> None:
    web.sign_in(web.user(is_operator=True))
    with opened(timed, web, "/operator") as page:
        expect(page.locator("[data-change]")).to_be_empty()
        for row in queues.states(web.uow):
            pause(web, row.queue)
        page.clock.run_for(TEN_SECONDS)
        expect(page.locator("[data-change]")).to_have_text("Paused")
        expect(page).to_have_title("Paused: Operator – Fairlane")  # noqa: RUF001 - the title's dash
        page.context.clear_cookies()
        page.clock.run_for(TEN_SECONDS)
        expect(page.locator("[data-told]")).to_contain_text("Not read since")
        expect(page.locator("[data-told]")).to_contain_text("the server answered 401")
        expect(page.locator("#verdict")).to_have_text("Paused")


def test_without_the_script_a_link_reads_again(web: Web) -> None:
    web.sign_in(web.user(is_operator=True))
    page = web.client.get("/operator").text
    assert '<a href="/operator">Read again</a>' in page
    part = web.client.get("/operator/now").text
    assert part.strip().startswith('<section class="verdict')
    assert "<html" not in part
    web.sign_in(web.user())
    assert web.client.get("/operator/now").status_code == 403

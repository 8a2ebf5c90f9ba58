"""Every page in a real browser: read aloud, on a phone, in the dark."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page
from service_harness.application import Web

from app.web.jobs.api import LIVE
from tests.tiers import proofs
from tests.web.account_scenes import ACCOUNT_SCENES
from tests.web.browser import chromium, layout, served, violations
from tests.web.operator_scenes import OPERATOR_SCENES
from tests.web.scenes import SCENES, running
from tests.web.specification_scenes import (
    SPECIFICATION_SCENES,
    make_web_of_scenes,  # noqa: F401  a fixture
)
from tests.web.specification_visits import SPECIFICATION_VISITS

HEIGHT = 900
DESKTOP = 1280
#: The narrowest of each layout: the style sheet has other ones from 56rem and from 40rem down.
WIDTHS = (897, 641, 320)
#: A folder for pictures of every page, for somebody to look at, who also sees a usual phone.
PICTURES = os.environ.get("PICTURES")
SHOWN = (DESKTOP, *WIDTHS[:2], 390, 320)
#: Looked at before each commit; the second tier looks at all.
FEW = ("home",)
ALL_SCENES = SCENES | ACCOUNT_SCENES | OPERATOR_SCENES | SPECIFICATION_SCENES | SPECIFICATION_VISITS
#: Addresses of the pages that only lead on, or give a file, or a part of another page.
LEADING_ON = {
    "pages.show_problem", "pages.download_shared", "pages.compare_commits", "pages.export_account", "pages.show_now",
    "pages.come_back", "pages.show_dashboard",
}  # fmt: skip


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    """One for all tests: a new one costs a process, which takes longer than most pages."""
    with chromium() as browser:
        tab = browser.new_page()
        tab.set_default_timeout(100_000)  # ms; how fast the machine is does not matter here
        yield tab


@contextmanager
def opened(tab: Page, web: Web, path: str) -> Iterator[Page]:
    """A page as the person sees it whom the test has signed in."""
    web.app.extensions[LIVE].stream_seconds = 0.0  # no stream outlives its page
    with served(web.app) as address:
        tab.context.clear_cookies()
        if cookie := web.client.get_cookie("fairlane"):
            tab.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": address}])
        tab.emulate_media(color_scheme="light")
        tab.set_viewport_size({"width": DESKTOP, "height": HEIGHT})
        tab.goto(address + path)
        yield tab
        tab.goto("about:blank")


@pytest.mark.parametrize("name", proofs(ALL_SCENES, but=FEW))
def test_a_page_has_no_violation_and_fits_every_screen(name: str, tab: Page, make_web: Callable[..., Web]) -> None:
    scene = ALL_SCENES[name]
    web = make_web(**scene.settings)
    with opened(tab, web, scene.build(web)) as page:
        if scene.act:
            scene.act(page)
        found = [f"light: {one}" for one in violations(page)]
        for width in SHOWN if PICTURES else WIDTHS:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            found += [f"{width} px: {one}" for one in layout(page)]
            take_picture(page, f"{name} {width}")
        page.emulate_media(color_scheme="dark")
        found += [f"dark phone: {one}" for one in violations(page)]
        take_picture(page, f"{name} dark")
    assert not found, "\n".join(dict.fromkeys(found))


def test_every_page_has_a_scene(web: Web) -> None:
    rules = web.app.url_map.iter_rules()
    pages = {rule.endpoint for rule in rules if rule.endpoint.startswith("pages.") and "GET" in rule.methods}
    assert pages - LEADING_ON - {scene.endpoint for scene in ALL_SCENES.values()} == set()


def test_what_is_wrong_with_a_page_is_seen(tab: Page) -> None:
    tab.set_viewport_size({"width": 320, "height": HEIGHT})
    tab.set_content("""<main><h1>Words</h1><h3>Levels</h3><p style="color: #999">Faint</p>
        <div style="width: 400px">Wide</div><div style="width: 50px; overflow: hidden"><b>Unbreakable</b></div>
        <table class="rows"><tr><td style="width: 1em; overflow-wrap: anywhere">1,234,567</td></tr></table></main>""")
    rules = {one.partition(":")[0] for one in violations(tab)}
    assert {"color-contrast", "heading-order", "html-has-lang"} <= rules
    kinds = {one.partition(' "')[0] for one in layout(tab)}
    assert {"the page is 408 px wide", "outside: div", "cut: div", "broken: 1,234,567 in td"} <= kinds


@pytest.mark.proof
def test_a_faint_text_is_seen_wherever_it_stands_among_many_that_are_painted_alike(tab: Page) -> None:
    row = '<tr><td>Text</td><td class="{}"><b>Text</b></td></tr>'
    styles = ("", "td.faint { color: #999 }", "td.faint { background: #333 }", "td.faint b { opacity: 0.4 }")
    for style in styles:
        rows = "".join(row.format("faint" if number == 77 else "plain") for number in range(200))
        tab.set_content(
            f'<html lang="en"><title>Rows</title><style>{style}</style><main><table>{rows}</table></main></html>'
        )
        found = [one for one in violations(tab) if one.startswith("color-contrast")]
        assert len(found) == bool(style), (style, found)


@pytest.mark.proof
def test_the_bar_of_a_job_never_goes_back_within_an_attempt(tab: Page, web: Web) -> None:
    with opened(tab, web, running(web)) as page:
        job = page.evaluate("fetch(card.dataset.job).then(answer => answer.json())")

        def shown(phase: str, done: int, total: int, attempt: int = 1) -> tuple[float, str]:
            seen = job | {"attempt": attempt, "progress": {"phase": phase, "done": done, "total": total}}
            page.evaluate("job => show(job)", seen)
            return page.evaluate("[find('progress').position, find('count').textContent]")

        assert page.evaluate("find('progress').position") == pytest.approx(12_345 / 98_765)
        assert shown("parsing", 1, 2) == [0.5, "1 of 2 files"]
        assert shown("fetching", 0, 10_000) == [0.5, "1 of 2 files"]
        assert shown("fetching", 0, 0) == [0.5, "1 of 2 files"]
        assert shown("parsing", 7_501, 10_000) == [0.7501, "7,501 of 10,000 files"]
        assert shown("parsing", 3, 4) == [0.7501, "7,501 of 10,000 files"]
        assert shown("saving", 0, 0) == [1, ""]
        assert shown("fetching", 0, 0, attempt=2) == [-1, ""]
        assert shown("parsing", 1, 4, attempt=2) == [0.25, "1 of 4 files"]


def take_picture(page: Page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name.replace(' ', '-')}.png", full_page=True)

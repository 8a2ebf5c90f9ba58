"""No page says anything that a translator cannot translate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from apiflask import APIFlask
from flask_babel import Domain
from playwright.sync_api import Page
from service_harness.application import Web

from app.store.core.unit_of_work import UnitOfWork
from app.web.jobs.api import LIVE
from tests.tiers import proofs
from tests.web.apps import Apps
from tests.web.browser import chromium, layout, served, violations
from tests.web.conftest import lending
from tests.web.scenes import open_all
from tests.web.specification_scenes import (
    add_made_up_page,
    make_web_of_scenes,  # noqa: F401  a fixture
)
from tests.web.test_browser import ALL_SCENES
from tests.web.untranslated import made_up, untranslated

#: The made-up language takes the place of Korean, which nothing but its catalogue knows.
TAG = "ko"
#: States that somebody has to reach in a browser.
REACHED = {name: scene for name, scene in ALL_SCENES.items() if scene.act not in (None, open_all)}
#: Of each room of the web a page or two, looked at before each commit; the second tier looks at all.
FEW = ("home", "job waiting", "job completed", "repository", "usage", "account", "history", "specification", "operator")
#: Pages whose Korean has to fit and be accessible.
KOREAN = ("home", "job waiting", "job completed", "repository", "usage", "account", "specification", "operator")


@pytest.fixture(scope="module")
def marked_apps(tmp_path_factory: pytest.TempPathFactory) -> Apps:
    """Applications whose Korean is the made-up language."""
    catalogues = str(made_up(tmp_path_factory.mktemp("translations"), TAG))

    def prepare(app: APIFlask) -> None:
        add_made_up_page(app)
        app.extensions["babel"].instance.domain_instance = Domain(catalogues)

    return Apps(prepare)


@pytest.fixture
def make_marked(marked_apps: Apps, uow: UnitOfWork) -> Iterator[Callable[..., Web]]:
    with lending(marked_apps, uow) as make:
        yield make


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with chromium() as browser:
        context = browser.new_context(locale=TAG, extra_http_headers={"Accept-Language": TAG})
        tab = context.new_page()
        tab.set_default_timeout(100_000)
        yield tab


@contextmanager
def opened(tab: Page, web: Web, path: str) -> Iterator[Page]:
    """A page as the person sees it whom the test has signed in."""
    web.app.extensions[LIVE].stream_seconds = 0.0  # no stream outlives its page
    with served(web.app) as address:
        tab.context.clear_cookies()
        if cookie := web.client.get_cookie("fairlane"):
            tab.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": address}])
        tab.set_viewport_size({"width": 1280, "height": 900})
        tab.goto(address + path)
        yield tab
        tab.goto("about:blank")


@pytest.mark.parametrize("name", proofs(ALL_SCENES, but=FEW))
def test_a_page_says_nothing_that_has_no_message(name: str, make_marked: Callable[..., Web]) -> None:
    scene = ALL_SCENES[name]
    web = make_marked(**scene.settings)
    path = scene.build(web).partition("#")[0]
    page = web.client.get(path, headers={"Accept-Language": TAG})
    assert page.mimetype == "text/html"
    assert untranslated(page.text) == []


@pytest.mark.parametrize("name", proofs(REACHED, but=()))
def test_a_state_that_somebody_reaches_says_nothing_either(
    name: str, tab: Page, make_marked: Callable[..., Web]
) -> None:
    scene = REACHED[name]
    web = make_marked(**scene.settings)
    with opened(tab, web, scene.build(web)) as page:
        assert scene.act
        scene.act(page)
        assert untranslated(page.content()) == []


@pytest.mark.parametrize("name", proofs(KOREAN, but=()))
def test_korean_fits_a_phone_and_is_accessible(name: str, tab: Page, make_web: Callable[..., Web]) -> None:
    scene = ALL_SCENES[name]
    web = make_web(**scene.settings)
    with opened(tab, web, scene.build(web)) as page:
        assert page.locator("html").get_attribute("lang") == TAG
        found = violations(page)
        for width in (375, 320):
            page.set_viewport_size({"width": width, "height": 900})
            found += [f"{width} px: {one}" for one in layout(page)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "planted",
    [
        "<p>Forgotten</p>",
        "<p>⟦Known⟧ and forgotten</p>",
        "<p>⟦Known <a>link</a>⟧ <b>forgotten</b></p>",
        '<button aria-label="Forgotten">⟦Known⟧</button>',
        '<td data-label="Forgotten">1</td>',
        "<select><option>forgotten (3)</option></select>",
        '<input placeholder="forgotten">',
        "<svg><title>Forgotten</title></svg>",
    ],
)
def test_a_planted_text_is_found(planted: str) -> None:
    assert len(untranslated(planted)) == 1


@pytest.mark.parametrize(
    "fine",
    [
        '<p>⟦All <a href="/x">of it</a> is known⟧ 3.</p>',
        '<p>⟦Known⟧ <span translate="no">acme/<b>shop</b></span> <code>abc</code> <time>2026-11-20 UTC</time></p>',
        '<p title="⟦of ⟦3 tests⟧⟧">±0</p>',
    ],
)
def test_a_translated_text_is_fine(fine: str) -> None:
    assert untranslated(fine) == []

"""People at the served pages: a browser each, a web process, and real workers behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from playwright.sync_api import Browser, Page, expect

from app.domain.plans import Tier
from app.services.accounts import accounts, sessions, tokens
from tests.e2e.conftest import System
from tests.e2e.webs import Web
from tests.web.browser import PATIENCE

DESKTOP = {"width": 1280, "height": 900}
JOB_PAGE = re.compile(r"/analyses/[0-9a-f-]{36}$")
#: Chromium reports each answer of 400 and above as an error of the page; a refusal is what some journeys are about.
REFUSED = "Failed to load resource: the server responded with a status of 4"


@dataclass(frozen=True)
class Visitor:
    """Somebody at a page.  errors: what the browser complained about, which includes the content security policy."""

    page: Page
    url: str
    errors: list[str]

    def go(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page

    def submit(self, repository: str) -> Page:
        """Type an address into the first page's field and send it."""
        self.go("/")
        self.page.get_by_label("Repository").fill(repository)
        self.page.get_by_role("button", name="Analyse").click()
        return self.page

    def job_id(self) -> UUID:
        """Of the job whose page is shown."""
        expect(self.page).to_have_url(JOB_PAGE)
        return UUID(self.page.url.rsplit("/", 1)[1])


@dataclass(frozen=True)
class Site:
    """The service as people meet it."""

    system: System
    web: Web
    browser: Browser

    @classmethod
    def serve(cls, system: System, browser: Browser) -> Site:
        owner = system.user()
        token = tokens.add_token(system.world.uow, owner, scopes=("read",), now=datetime.now(UTC))
        return cls(system, Web(system.nodes, system.nodes.folder, token.secret), browser)

    @contextmanager
    def visitor(self, user_id: UUID | None = None, **options: Any) -> Iterator[Visitor]:
        """A browser profile of its own.  user_id: who is signed in; options: of Playwright's context."""
        context = self.browser.new_context(**{"viewport": DESKTOP, "locale": "en-GB", **options})
        context.set_default_timeout(PATIENCE)
        try:
            page = context.new_page()
            someone = Visitor(page, self.web.url, [])
            page.on("console", lambda said: _note(someone.errors, said.type, said.text))
            page.on("pageerror", lambda error: someone.errors.append(str(error)))
            if user_id is not None:
                self._sign_in(page, user_id)
            yield someone
            assert someone.errors == []
        finally:
            context.close()

    def _sign_in(self, page: Page, user_id: UUID) -> None:
        """By a link, as `fairlane user link` prints one."""
        secret = sessions.sign_in_link(self.system.world.uow, user_id, actor="cli:test", now=datetime.now(UTC))
        page.goto(f"{self.web.url}/sign-in?token={secret}")
        page.locator("main").get_by_role("button").click()
        expect(page.locator("form.who")).to_be_visible()


def new_operator(system: System) -> UUID:
    """A new account that may do everything."""
    uow, now = system.world.uow, datetime.now(UTC)
    made = accounts.add_user(uow, "operator@example.org", tier=Tier.FREE, is_operator=True, actor="test", now=now)
    return made.user_id


def _note(errors: list[str], kind: str, said: str) -> None:
    if kind == "error" and not said.startswith(REFUSED):
        errors.append(said)

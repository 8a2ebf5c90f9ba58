"""A real browser: what a page is to people who look at it, hear it read, and touch it."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from flask import Flask
from playwright.sync_api import Browser, Page, expect, sync_playwright
from werkzeug.serving import make_server

#: The shell renders as the browser does, and takes a fifth less of the processor: it has no windows.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
LAYOUT = Path(__file__).with_name("layout.js").read_text(encoding="utf-8")
AXE = Path(__file__).with_name("axe.js").read_text(encoding="utf-8")
#: Rules of axe that are off by default, in addition to all that are on.
ALSO = (
    "target-size", "label-content-name-mismatch", "identical-links-same-purpose", "focus-order-semantics",
    "table-fake-caption", "td-has-header", "p-as-heading", "css-orientation-lock",
)  # fmt: skip
#: Of texts that are painted alike, so many are shown to the rule about contrast; a page with fewer texts is shown whole.
MOST, FEW = 6, 150
#: Milliseconds that a page has for what is expected of it: a busy machine is no failure.
PATIENCE = 100_000
expect.set_options(timeout=PATIENCE)
OPTIONS = {"resultTypes": ["violations"], "rules": {rule: {"enabled": True} for rule in ALSO}}


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """The browser of this machine; without one the test is left out."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def served(app: Flask) -> Iterator[str]:
    """The address of an application that listens on a port of its own."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="served")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def violations(page: Page) -> list[str]:
    """What axe finds, a line for each element."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE_SCRIPT)
    found: list[dict[str, Any]] = page.evaluate(AXE, {"options": OPTIONS, "most": MOST, "few": FEW})
    return [f"{rule['id']}: {node['html'][:160]} {_why(node)}" for rule in found for node in rule["nodes"]]


def layout(page: Page) -> list[str]:
    """What does not fit or is cut or broken at this width."""
    found: list[str] = page.evaluate(LAYOUT)
    return found


def _why(node: dict[str, Any]) -> str:
    return " ".join(check["message"] for check in [*node["any"], *node["all"], *node["none"]])[:200]

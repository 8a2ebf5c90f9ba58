"""The guide: complete, in each language, and with examples that run."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from service_harness.application import Web

from app.domain.lifecycle import Status
from app.web.site.guide_pages import STATUSES, TITLES
from tests.web.browser import served

CURL = shutil.which("curl")


def test_every_status_is_explained_and_every_section_is_there(web: Web) -> None:
    page = web.client.get("/docs").text
    assert set(STATUSES) == {status.value for status in Status}
    assert re.findall(r'<section class="card" id="(\w+)"', page) == list(TITLES)
    assert all(f'href="#{section}"' in page for section in TITLES)
    assert "A first result" in page
    assert "첫 결과" in web.client.get("/docs", headers={"Accept-Language": "ko"}).text


def test_the_guide_names_only_pages_and_calls_that_are_there(web: Web) -> None:
    page = web.client.get("/docs").text
    linked = {path for path in re.findall(r'<a href="(/[^"#]*)"', page) if not path.startswith("/static")}
    assert linked >= {"/", "/docs", "/docs/api", "/plans", "/usage", "/tokens"}
    for path in linked:
        assert web.client.get(path).status_code in {200, 401}, path
    badge = web.client.get("/api/v1/repositories/github.com/owner/name/badge.svg")
    assert badge.status_code != 405


def test_the_examples_of_the_guide_run(web: Web, tmp_path: Path) -> None:
    if CURL is None:
        pytest.skip("no curl on this machine: apt-get install curl")
    token = web.token()["Authorization"].removeprefix("Bearer ")
    with served(web.app) as address:
        page = web.client.get("/docs", base_url=address).text
        blocks = [html.unescape(block) for block in re.findall(r"<pre data-run><code>(.*?)</code>", page, re.DOTALL)]
        answers = []
        for block in blocks:
            assert address in block
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block],
                env={"PATH": os.environ["PATH"], "TOKEN": token},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.returncode == 0, (block, done.stderr)
            answers.append(json.loads(done.stdout))
    assert [answers[0]["status"], answers[1]["id"]] == ["queued", answers[0]["id"]]
    assert "analysis" in str(answers[2])

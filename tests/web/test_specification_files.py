"""Specifications as files and as streams over REST: complete, escaped, and the owner's alone."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from service_harness.application import Web
from service_harness.inventories import a_test, file

from app.domain.plans import Tier
from app.web.jobs.api import LIVE
from app.web.limits.read_costs import reads
from tests.web.made_up import HOSTILE

SPECS = "/api/v1/specs"
SUFFIXES = {"md": "text/markdown", "html": "text/html", "json": "application/json", "zip": "application/zip"}


@pytest.fixture
def ann(web: Web) -> dict[str, str]:
    return web.token(web.user(Tier.PRO).user_id)


def written(web: Web, headers: dict[str, str], files: Any = None, name: str = "shop") -> str:
    analysis = web.submit(name, headers=headers).json["id"]
    web.completed(analysis, files)
    asked = web.client.post(SPECS, json={"analysis_id": analysis, "language": "en"}, headers=headers)
    job_id: str = asked.json["id"]
    web.written(job_id)
    return job_id


def get(web: Web, path: str, headers: dict[str, str], **more: str) -> Any:
    return web.client.get(f"{SPECS}/{path}", headers={**headers, **more}, buffered=True)


def test_every_file_has_every_behaviour_and_a_name(web: Web, ann: dict[str, str]) -> None:
    job_id = written(web, ann)
    for suffix, media_type in SUFFIXES.items():
        answer = get(web, f"{job_id}.{suffix}", ann)
        assert (answer.status_code, answer.mimetype) == (200, media_type)
        assert answer.headers["Content-Disposition"].startswith('attachment; filename="specification-shop-')
        assert answer.headers["Content-Disposition"].endswith(f'-en-1.{suffix}"')
        told = answer.data
        if suffix == "zip":
            archive = zipfile.ZipFile(io.BytesIO(told))
            told = b"".join(map(archive.read, archive.namelist()))
        for sentence in (b"Says test", b"rounds", b"tests/unit/test"):
            assert sentence in told.replace(b"\\_", b"_"), (suffix, told)


def test_json_names_its_source(web: Web, ann: dict[str, str]) -> None:
    found = get(web, f"{written(web, ann)}.json", ann).json
    assert (found["repository"]["name"], found["version"], found["count"], found["language"]) == ("shop", 1, 3, "en")
    assert found["domains"][0]["features"][0]["behaviours"][0]["line"] == 3


def test_accept_chooses_a_file_too(web: Web, ann: dict[str, str]) -> None:
    job_id = written(web, ann)
    assert get(web, job_id, ann, Accept="text/markdown").text == get(web, f"{job_id}.md", ann).text
    assert get(web, job_id, ann, Accept="application/zip").data == get(web, f"{job_id}.zip", ann).data
    for accepted in ("application/json", "*/*", "text/plain, */*;q=0.1"):
        assert "document" in get(web, job_id, ann, Accept=accepted).json
    refused = get(web, job_id, ann, Accept="image/png")
    assert (refused.status_code, refused.mimetype) == (406, "application/problem+json")


def test_hostile_names_stay_text_in_every_file(web: Web, ann: dict[str, str]) -> None:
    names = [name.replace("\0", "") for name in HOSTILE if name.strip()]
    job_id = written(web, ann, [file("tests/test_x.py", *(a_test(n, line=i) for i, n in enumerate(names, 1)))])
    page = get(web, f"{job_id}.html", ann).text
    assert "<script" not in page
    assert "<img" not in page
    assert page.count("<li><bdi>") == len(names)
    lines = get(web, f"{job_id}.md", ann).text.splitlines()
    assert sum(line.startswith("- ") for line in lines) == len(names)
    assert sum(line.startswith("#") for line in lines) == 3
    assert len(json.loads(get(web, f"{job_id}.json", ann).text)["domains"][0]["features"][0]["behaviours"]) == len(
        names
    )
    archive = zipfile.ZipFile(io.BytesIO(get(web, f"{job_id}.zip", ann).data))
    (entry,) = archive.namelist()
    assert ".." not in entry
    scenarios = [line for line in archive.read(entry).decode().split("\n") if line.strip().startswith("Scenario:")]
    assert len(scenarios) == len(names)


def test_a_file_is_its_owners_and_there_once_the_job_has_completed(web: Web, ann: dict[str, str]) -> None:
    job_id = written(web, ann)
    waiting = web.client.post(
        SPECS, json={"analysis_id": get(web, job_id, ann).json["analysis_id"], "language": "ko"}, headers=ann
    ).json["id"]
    for suffix in SUFFIXES:
        assert get(web, f"{job_id}.{suffix}", web.token()).status_code == 404
        assert get(web, f"{job_id}.{suffix}", {}).status_code == 401
        assert get(web, f"{waiting}.{suffix}", ann).status_code == 409
    assert get(web, f"{job_id}.exe", ann).status_code == 404


def test_a_file_holds_its_place_until_it_is_sent(web: Web, ann: dict[str, str]) -> None:
    job_id = written(web, ann)
    with web.app.app_context():
        lane = reads().exports
    first, second = (web.client.get(f"{SPECS}/{job_id}.md", headers=ann) for _ in range(2))
    assert lane._taken["all", ""] == 2
    third = get(web, f"{job_id}.md", ann)
    assert (third.status_code, third.headers["Retry-After"]) == (429, "2")
    first.close()
    assert second.text.startswith("# Specification of acme/shop")
    second.close()
    assert lane._taken["all", ""] == 0
    assert get(web, f"{job_id}.md", web.token()).status_code == 404
    assert lane._taken["all", ""] == 0


def test_a_specification_is_followed_by_its_owner_alone(web: Web, ann: dict[str, str]) -> None:
    web.app.extensions[LIVE].stream_seconds = 0.0
    job_id = written(web, ann)
    answer = get(web, f"{job_id}/events", ann)
    assert answer.mimetype == "text/event-stream"
    assert "event: final\n" in answer.text
    told = json.loads(answer.text.partition("data: ")[2].partition("\n")[0])
    assert (told["id"], told["status"], told["units"], told["billed"]) == (job_id, "completed", 3, True)
    assert get(web, f"{job_id}/events", web.token()).status_code == 404
    assert get(web, f"{job_id}/events", {}).status_code == 401
    assert web.app.extensions[LIVE].places._taken.total() == 0

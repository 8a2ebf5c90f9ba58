"""Every framework against a corpus of small projects, each with the rows it must give beside it."""

import json
from pathlib import Path

import pytest

from tasks.inventory.frameworks import FRAMEWORKS
from tests.inventory.conftest import MakeRepository, TakeInventory

CORPUS = Path(__file__).parent / "corpus"
#: what expected.jsonl says of a row; places within a line are not part of it
KEYS = ("file", "framework", "suites", "name", "line", "status", "kind", "dynamic", "cases")
#: said of few rows, and only of these in expected.jsonl
SELDOM = {"conditional": False}


def projects() -> list[Path]:
    return sorted(path.parent for path in CORPUS.glob("*/*/expected.jsonl"))


def files_of(project: Path) -> dict[str, bytes]:
    """Sources are stored under another suffix, so that no runner takes them for tests of ours."""
    samples = project.rglob("*.sample")
    return {path.relative_to(project).as_posix().removesuffix(".sample"): path.read_bytes() for path in samples}


def label(project: Path) -> str:
    return project.relative_to(CORPUS).as_posix()


@pytest.mark.parametrize("project", projects(), ids=label)
def test_a_project_of_the_corpus_gives_exactly_its_expected_rows(
    project: Path, make_repository: MakeRepository, take: TakeInventory
) -> None:
    found = take(make_repository(files_of(project)))
    rows = [{key: test.row()[key] for key in (*KEYS, *SELDOM)} for test in found.tests]
    lines = (project / "expected.jsonl").read_text(encoding="utf-8").splitlines()
    expected = [SELDOM | json.loads(line) for line in lines]
    assert rows == expected


def test_every_framework_has_a_project_in_the_corpus() -> None:
    texts = [(project / "expected.jsonl").read_text(encoding="utf-8") for project in projects()]
    covered = {json.loads(line)["framework"] for text in texts for line in text.splitlines()}
    assert {framework.name for framework in FRAMEWORKS} <= covered

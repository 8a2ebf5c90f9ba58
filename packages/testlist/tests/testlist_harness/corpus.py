"""The corpus: small projects of every framework, each with the rows it must give beside it."""

import json
from pathlib import Path

from testlist.model import Inventory

CORPUS = Path(__file__).parents[1] / "corpus"
#: what expected.jsonl says of a row; places within a line are not part of it
KEYS = ("file", "framework", "suites", "name", "line", "status", "kind", "dynamic", "cases")
#: said of few rows, and only of these in expected.jsonl
SELDOM = {"conditional": False}


def projects() -> list[Path]:
    return sorted(path.parent for path in CORPUS.glob("*/*/expected.jsonl"))


def one_of_each_framework() -> list[Path]:
    first: dict[str, Path] = {}
    for project in projects():
        first.setdefault(project.parent.name, project)
    return list(first.values())


def files_of(project: Path) -> dict[str, bytes]:
    """Sources are stored under another suffix, so that no runner takes them for tests of ours."""
    samples = project.rglob("*.sample")
    return {path.relative_to(project).as_posix().removesuffix(".sample"): path.read_bytes() for path in samples}


def label(project: Path) -> str:
    return project.relative_to(CORPUS).as_posix()


def rows(found: Inventory) -> list[dict[str, object]]:
    return [{key: test.row()[key] for key in (*KEYS, *SELDOM)} for test in found.tests]


def expected(project: Path) -> list[dict[str, object]]:
    lines = (project / "expected.jsonl").read_text(encoding="utf-8").splitlines()
    return [SELDOM | json.loads(line) for line in lines]

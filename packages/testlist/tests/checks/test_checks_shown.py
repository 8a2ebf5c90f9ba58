"""What tests check, as the command shows it."""

import json
from pathlib import Path

import jsonschema
import pytest
from testlist import Source, fetched, inventory
from testlist.about import schema
from testlist.checks import read_checks
from testlist.cli import main
from testlist.loader import Loader
from testlist.model import Test
from testlist.sandbox.parsers import Parsers
from testlist_harness.repositories import MakeRepository, git

TESTS = "def test_one():\n    assert f() == 1\ndef test_two(): pass\ndef test_three(): f()\n"


@pytest.fixture
def repository(make_repository: MakeRepository) -> Path:
    return make_repository(
        {"test_a.py": TESTS, "src/lib.rs": "#[test]\nfn test_a() { f() }\n", "Cargo.toml": "[package]\nname = 'a'\n"}
    )


def test_checks_are_listed_if_they_are_asked_for(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(repository), "--checks"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("  [")[2] for line in lines[:4]] == [
        "no check]",
        "1 check]",
        "cannot fail: empty]",
        "no check]",
    ]
    assert main([str(repository), "--checks", "--format", "json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    jsonschema.validate(whole, json.loads(schema()))
    rust, one, two, _ = whole["tests"]
    assert (rust["checks"], rust["cannot_fail"]) == ([], None)
    assert one["checks"] == [{"line": 2, "relation": "equal", "subject": "f()", "expected": "1", "value": 1}]
    assert two["cannot_fail"] == "empty"
    assert main([str(repository), "--format", "json"]) == 0
    assert "checks" not in json.loads(capsys.readouterr().out)["tests"][0]


def test_bodies_of_more_tests_than_the_caller_wants_are_not_read(repository: Path, tmp_path: Path) -> None:
    with fetched(Source.local(repository), git(repository, "rev-parse", "HEAD"), workdir=tmp_path) as commit:
        assert {file.checks for file in inventory(commit, checks=True, most_checked=3).files} == {()}
        assert all(file.checks for file in inventory(commit, checks=True, most_checked=4).files)


def test_one_child_reads_files_and_bodies(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started, start = [], Parsers._start
    monkeypatch.setattr(Parsers, "_start", lambda parsers: started.append(parsers.needs) or start(parsers))
    with fetched(Source.local(repository), git(repository, "rev-parse", "HEAD"), workdir=tmp_path) as commit:
        inventory(commit, checks=True)
        assert len(started) == 1
        inventory(commit)
    assert {"python", "python-bodies"} <= started[0]
    assert "python-bodies" not in started[1]


def test_other_programs_are_told_which_cannot_fail(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(repository), "--checks", "--format", "sarif"]) == 0
    [finding] = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert (finding["ruleId"], finding["message"]["text"]) == (
        "cannot-fail-test", "test_two: This test passes whatever the code does. (empty)",
    )  # fmt: skip
    assert main([str(repository), "--checks", "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition(",")[2] for line in lines] == ["cannot_fail", "", "", "empty", ""]


def test_tests_that_cannot_fail_can_be_asked_for(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):  # the second time from the cache
        assert main([str(repository), "--only", "cannot_fail=true", "--exit-code", "--format", "jsonl"]) == 1
        assert [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()] == ["test_two"]
    assert main([str(repository), "--only", "cannot_fail=true", "--exit-code", "--", "src"]) == 0


@pytest.mark.parametrize(
    "facts",
    [{"functions": 3}, {"functions": [3]}, {"functions": [{"line": 1}]}, {"skipped": "binary"}, {},
     {"functions": [{"line": 1, "name": "test_a", "end": 2, "checks": [[]], "calls": [{}]}]},
     {"functions": [{"line": 1, "name": "test_a", "end": 2, "checks": [{}], "calls": ["a"]}], "imports": {"a": 3}}],
)  # fmt: skip
def test_facts_of_a_hostile_file_cost_its_checks_alone(
    facts: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    test = Test("test_a.py", "pytest", (), "test_a", 1)
    monkeypatch.setattr(Loader, "read", lambda self, blobs, wanted: dict.fromkeys(wanted, facts))
    loader = Loader(None, None, None, None)  # type: ignore[arg-type]  # nothing is read
    found, _ = read_checks({"test_a.py": (test,)}, {}, {"test_a.py": "1" * 40}, loader)
    assert len(found["test_a.py"]) == 1

"""What `testlist` keeps on disk: the second run is told the same, and nothing that goes wrong with it stops a run."""

import json
import os
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from testlist import PARSER_VERSION, Facts, FactsKey, FileInventory, Inventory, Test
from testlist.cli import main
from testlist.disk_cache import DiskCache, user_folder
from testlist_harness.repositories import MakeRepository, commit, git

FILES = {"test_a.py": "import pytest\n@pytest.mark.skip\nclass TestA:\n    def test_é(self): pass\n", "b_test.exs": ""}
TESTS = (Test("a.py", "pytest", ("TestA",), "test_a", 3, dynamic=True, cases=2), Test("a.py", "pytest", (), "b", 9))
FOUND = Inventory("c" * 40, (FileInventory("a.py", "1", "pytest", TESTS, hints=("os",)),), PARSER_VERSION, {"R": 2})


def listed(directory: Path, cache: Path, capsys: pytest.CaptureFixture[str], form: str = "json") -> str:
    assert main([str(directory), "--cache", str(cache), "--format", form]) == 0
    return capsys.readouterr().out


def database(cache: Path) -> sqlite3.Connection:
    return sqlite3.connect(cache / f"testlist-{PARSER_VERSION}.sqlite3")


def test_a_second_run_prints_the_same_bytes_without_reading_a_file(
    make_repository: MakeRepository, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, cache = make_repository(FILES), tmp_path / "cache"
    first = listed(directory, cache, capsys)
    assert (cache.stat().st_mode & 0o777, json.loads(first)["summary"]["tests"]) == (0o700, 1)
    monkeypatch.setattr("testlist.command.inventory", None)
    assert listed(directory, cache, capsys) == first


def test_a_commit_later_only_new_files_are_parsed(
    make_repository: MakeRepository, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, cache = make_repository(FILES), tmp_path / "cache"
    listed(directory, cache, capsys)
    (directory / "test_b.py").write_text("def test_b(): pass\n")
    commit(directory)
    stored: list[FactsKey] = []

    class Watched(DiskCache):
        def store(self, facts: Mapping[FactsKey, Facts]) -> None:
            stored.extend(facts)

    monkeypatch.setattr("testlist.command.DiskCache", Watched)
    names = [json.loads(line)["name"] for line in listed(directory, cache, capsys, "jsonl").splitlines()]
    assert (names, len(stored)) == (["test_é", "test_b"], 1)


def test_a_result_comes_back_as_it_was_under_the_commit_that_is_asked_for(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache")
    cache.keep("t" * 40, FOUND, "r")
    assert cache.result("t" * 40, "d" * 40) == FOUND._replace(commit="d" * 40)
    assert cache.result("u" * 40, "d" * 40) is None


def test_a_result_is_not_kept_if_the_next_run_may_find_more(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache")
    cache.keep("t" * 40, FOUND._replace(is_final=False), "r")
    assert cache.result("t" * 40, "c" * 40) is None


FAULTS = {
    "a blob of a test that is not here": ("check_a.py", None),
    "a configuration that is not here": ("pytest.ini", None),
    "a size that is made up": ("check_a.py", b"blob 9000000\0"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_another_repository_lacks_is_not_believed_of_this_one(
    make_repository: MakeRepository, tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    files = {"pytest.ini": "[pytest]\npython_files = check_*.py\n", "check_a.py": "def test_a(): pass\n"}
    whole, broken = make_repository(files, "whole"), make_repository(files, "broken")
    path, content = FAULTS[fault]
    blob_id = git(broken, "rev-parse", f"HEAD:{path}")
    stored = broken / ".git" / "objects" / blob_id[:2] / blob_id[2:]
    stored.unlink()
    if content is not None:
        stored.write_bytes(zlib.compress(content))
    cache = tmp_path / "cache"
    assert "test_a" not in listed(broken, cache, capsys, "jsonl")
    assert "test_a" in listed(whole, cache, capsys, "jsonl")


def test_facts_come_back_in_any_number(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache")
    facts: dict[FactsKey, Facts] = {FactsKey(f"{n:040}", "python"): {"n": n, "texts": ["é"]} for n in range(1_000)}
    cache.store(facts)
    wanted: Sequence[FactsKey] = [*facts, FactsKey("f" * 40, "python"), FactsKey(f"{1:040}", "ruby")]
    assert cache.load(wanted) == facts


@pytest.mark.parametrize("content", [b"", b"no database" * 500, b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_damaged_file_is_made_again(tmp_path: Path, content: bytes) -> None:
    cache = DiskCache(tmp_path)
    (tmp_path / f"testlist-{PARSER_VERSION}.sqlite3").write_bytes(content)
    for _ in range(2):  # the first one may only find out
        cache.keep("t" * 40, FOUND, "r")
    assert cache.result("t" * 40, FOUND.commit) == FOUND


def test_a_row_that_cannot_be_read_is_forgotten_with_its_file(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    cache.keep("t" * 40, FOUND, "r")
    with database(tmp_path) as opened:
        opened.execute("UPDATE results SET content = 'x'")
    opened.close()
    assert cache.result("t" * 40, FOUND.commit) is None
    cache.keep("t" * 40, FOUND, "r")
    assert cache.result("t" * 40, FOUND.commit) == FOUND


def test_a_folder_that_cannot_be_written_costs_the_cache_alone(
    make_repository: MakeRepository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert "test_é" in listed(make_repository(FILES), tmp_path / "file" / "cache", capsys)


def test_while_another_process_writes_a_run_goes_on_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("testlist.disk_cache.PATIENCE", 0.01)
    cache = DiskCache(tmp_path)
    cache.keep("t" * 40, FOUND, "r")
    with database(tmp_path) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert cache.result("t" * 40, FOUND.commit) is None
        cache.keep("u" * 40, FOUND, "r")
    other.close()
    assert cache.result("t" * 40, FOUND.commit) == FOUND


def test_processes_that_begin_at_once_share_it(tmp_path: Path) -> None:
    code = """if True:
        import sys
        from pathlib import Path
        from testlist import FactsKey, disk_cache
        from testlist.disk_cache import DiskCache
        disk_cache.PATIENCE = 60
        for n in range(20):
            DiskCache(Path(sys.argv[1])).store({FactsKey(f"{sys.argv[2]}{n}", "python"): {"n": n}})
    """
    argv = [sys.executable, "-c", code, str(tmp_path / "cache")]
    for one in [subprocess.Popen([*argv, str(number)]) for number in range(4)]:
        assert one.wait() == 0
    keys = [FactsKey(f"{number}{n}", "python") for number in range(4) for n in range(20)]
    assert len(DiskCache(tmp_path / "cache").load(keys)) == 80


def test_what_was_not_used_for_longest_goes_when_it_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = DiskCache(tmp_path, most_bytes=400_000)
    for day in range(40):
        monkeypatch.setattr("testlist.disk_cache._today", lambda day=day: day)
        cache.store({FactsKey(f"{day}-{n}", "python"): {"noise": os.urandom(1_000).hex()} for n in range(20)})
        cache.load([FactsKey("0-0", "python")])  # used every day
    assert (tmp_path / f"testlist-{PARSER_VERSION}.sqlite3").stat().st_size <= 400_000
    assert len(cache.load([FactsKey("0-0", "python"), FactsKey("39-0", "python"), FactsKey("1-0", "python")])) == 2


def test_files_of_other_versions_go_when_they_are_old(tmp_path: Path) -> None:
    old, new = tmp_path / "testlist-1.0.0+x.sqlite3", tmp_path / "testlist-9.0.0+x.sqlite3"
    others = tmp_path / "accounts.sqlite3"
    for file in (old, new, others):
        file.write_text("")
    os.utime(old, (0, 0))
    os.utime(others, (0, 0))
    DiskCache(tmp_path).keep("t" * 40, FOUND, "r")
    assert [file.exists() for file in (old, new, others)] == [False, True, True]


def test_the_folder_is_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    for given, folder in (
        ("/caches", "/caches/testlist"),
        ("", "/home/ann/.cache/testlist"),
        ("relative", "/home/ann/.cache/testlist"),
    ):
        monkeypatch.setenv("XDG_CACHE_HOME", given)
        assert user_folder() == Path(folder)


def test_nothing_is_kept_if_nothing_shall_be(
    make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    directory = make_repository(FILES)
    assert main([str(directory), "--no-cache"]) == 0
    assert not (tmp_path / "caches").exists()
    assert main([str(directory)]) == 0
    assert (tmp_path / "caches" / "testlist" / f"testlist-{PARSER_VERSION}.sqlite3").exists()

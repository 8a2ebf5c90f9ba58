"""A whole run: the same output every time, only new blobs parsed, totals that add up."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from testlist import (
    PARSER_VERSION,
    Facts,
    FactsKey,
    FileInventory,
    Inventory,
    ParseLimits,
    Source,
    Test,
    fetched,
    inventory,
)
from testlist.reports.formats import render
from testlist.reports.listing import jsonl, totals
from testlist_harness.githost import serving
from testlist_harness.repositories import MakeRepository, TakeInventory, commit, git


class Memory:
    """A FactsCache in a dict that remembers what it was asked."""

    def __init__(self) -> None:
        self.kept: dict[FactsKey, Facts] = {}
        self.stored: list[FactsKey] = []

    def load(self, keys: Sequence[FactsKey]) -> dict[FactsKey, Facts]:
        return {key: self.kept[key] for key in keys if key in self.kept}

    def store(self, facts: Mapping[FactsKey, Facts]) -> None:
        self.kept |= facts
        self.stored += facts


PROJECT = {
    "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\n",
    "tests/base.py": "class Contract:\n    def test_contract(self): pass\n",
    "tests/test_one.py": "from tests.base import Contract\nclass TestOne(Contract): pass\ndef test_a(): pass\n",
    "tests/test_two.py": "import pytest\n@pytest.mark.skip\ndef test_b(): pass\n",
    "web/a.test.ts": "describe('web', () => { it.only('a', () => {}); it.todo('b') })\n",
    "go/a_test.go": 'package a\nimport "testing"\nfunc TestA(t *testing.T) { t.Run("x", func(t *testing.T) {}) }\n',
}


def test_two_runs_with_any_number_of_children_print_the_same(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    many = {f"tests/test_{number}.py": f"def test_{number}(): pass\n" * 3 for number in range(90)}
    repository = make_repository({**PROJECT, **many})
    printed = {"".join(jsonl(take(repository, limits=ParseLimits(children=children)))) for children in (1, 2, 3)}
    assert len(printed) == 1


def test_a_second_run_parses_nothing_and_a_new_commit_only_what_changed(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    repository, memory = make_repository(PROJECT), Memory()
    first = take(repository, cache=memory)
    assert len(memory.stored) == len(PROJECT)
    memory.stored.clear()
    assert take(repository, cache=memory) == first
    assert memory.stored == []
    (repository / "tests/test_two.py").write_text("def test_c(): pass\n")
    commit(repository)
    second = take(repository, cache=memory)
    assert [test.name for test in second.tests if test.file == "tests/test_two.py"] == ["test_c"]
    assert memory.stored == [FactsKey(git(repository, "rev-parse", "HEAD:tests/test_two.py"), "python")]


@pytest.mark.proof
def test_a_host_is_asked_for_no_blob_whose_facts_are_known(make_repository: MakeRepository, tmp_path: Path) -> None:
    repository, memory = make_repository(PROJECT), Memory()
    head = git(repository, "rev-parse", "HEAD")
    seen: list[str] = []
    with serving(tmp_path, seen=seen) as host:
        source = Source.remote(f"{host}/repo/.git", plain_http=True)
        for _ in range(2):
            with fetched(source, head, workdir=tmp_path / "work") as repo:
                seen.clear()
                found = inventory(repo, cache=memory)
    assert seen == []
    assert found.summary()["tests"] == 6


def test_outcomes_that_may_be_the_machines_fault_are_not_kept(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    memory = Memory()
    repository = make_repository({"test_slow.py": b"[" * 1_000_000, "test_nul.py": b"\0"})
    take(repository, cache=memory, limits=ParseLimits(file_seconds=0.0005))
    assert {facts.get("skipped") for facts in memory.kept.values()} <= {"binary"}


def test_the_summary_counts_definitions_and_no_subtests(make_repository: MakeRepository, take: TakeInventory) -> None:
    assert take(make_repository(PROJECT)).summary() == {
        "files": 5,
        "suites": 2,
        "tests": 6,
        "by_status": {"active": 3, "focused": 1, "skipped": 1, "todo": 1},
        "by_framework": {"go-testing": 1, "jest": 2, "pytest": 3},
        "by_directory": {"go": 1, "tests": 3, "web": 2},
        "unread": {},
    }


@pytest.mark.parametrize("folder", ["third_party", "third-party", "thirdparty", "3rdparty", "vendor"])
def test_other_peoples_code_is_left_out_however_its_folder_is_spelled(
    make_repository: MakeRepository, take: TakeInventory, folder: str
) -> None:
    files = {f"{folder}/lib/test_lib.py": "def test_theirs(): pass\n", "tests/test_own.py": "def test_own(): pass\n"}
    assert [test.name for test in take(make_repository(files)).tests] == ["test_own"]


def test_a_module_named_like_such_a_folder_is_no_folder(make_repository: MakeRepository, take: TakeInventory) -> None:
    files = {"tests/test_thirdparty.py": "def test_a(): pass\n", "my-third-party/test_b.py": "def test_b(): pass\n"}
    assert [test.name for test in take(make_repository(files)).tests] == ["test_b", "test_a"]


def test_files_in_languages_that_no_framework_reads_are_counted(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    lua = {f"spec/shop{n}_spec.lua": "it('adds', function() end)\n" for n in range(3)}
    others = {
        "test/shop_test.zig": "x",
        "lib/shop.zig": "x",
        "src/shop.lua": "x",
        "vendor/a_spec.lua": "x",
        "test_a.py": "def test_a(): pass\n",
    }
    found = take(make_repository(lua | others))
    assert found.summary()["unread"] == {"Lua": 3, "Zig": 1}
    assert totals(found).splitlines()[1] == (
        "files that look like tests, but no framework of their language is known here: 3 Lua, 1 Zig"
    )
    assert json.loads("".join(render(found, "json")))["summary"]["unread"] == {"Lua": 3, "Zig": 1}


def test_a_repository_without_tests_gives_an_empty_inventory(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    found = take(make_repository({"README.md": "x", "main.py": "x = 1\n"}))
    assert (found.files, found.parser_version) == ((), PARSER_VERSION)
    assert found.summary()["tests"] == 0


def test_a_commit_without_any_file_gives_an_empty_inventory(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    assert take(make_repository({})).files == ()


def test_a_candidate_without_tests_is_listed_with_its_blob(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    repository = make_repository({"test_empty.py": "x = 1\n"})
    blob = git(repository, "rev-parse", "HEAD:test_empty.py")
    assert take(repository).files == (FileInventory("test_empty.py", blob, None),)


def test_progress_goes_from_fetching_to_parsing(make_repository: MakeRepository, tmp_path: Path) -> None:
    repository = make_repository(PROJECT)
    calls: list[tuple[str, int, int]] = []
    with fetched(Source.local(repository), git(repository, "rev-parse", "HEAD"), workdir=tmp_path) as repo:
        repo.progress.every = 0.0
        inventory(repo, checkpoint=lambda *call: calls.append(call))
    phases = [phase for phase, _, _ in calls]
    assert (phases[0], phases[-1]) == ("fetching", "parsing")
    assert all(done <= total or total == 0 for _, done, total in calls)


def test_progress_never_goes_back_whatever_is_read_before_and_after_the_tests(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    """Configurations come before the files of tests, and modules that these lead to after them."""
    inherited = "from tests.shared import Shared\nclass Test{}(Shared): pass\n"
    tests = {f"tests/test_{number}.py": inherited.format(number) for number in range(5)}
    shared = "from tests.deeper import Deeper\nclass Shared(Deeper):\n    def test_shared(self): pass\n"
    files = {"pyproject.toml": "[tool.pytest.ini_options]\n", "tox.ini": "[tox]\n", "tests/shared.py": shared}
    deeper = {"tests/deeper.py": "class Deeper:\n    def test_deeper(self): pass\n", "tests/__init__.py": ""}
    repository = make_repository(tests | files | deeper)
    calls: list[tuple[str, int, int]] = []
    with fetched(Source.local(repository), git(repository, "rev-parse", "HEAD"), workdir=tmp_path) as repo:
        repo.progress.every = 0.0
        found = inventory(repo, checkpoint=lambda *call: calls.append(call))
    names = {test.name for file in found.files for test in file.tests}
    assert names == {"test_shared", "test_deeper"}, "the modules were not followed"
    phases = [phase for phase, _, _ in calls]
    assert phases == sorted(phases), "fetching came back after parsing"
    shares = [done / total for _, done, total in calls if total]
    assert shares == sorted(shares)
    assert calls[-1] == ("parsing", 7, 7)


@pytest.mark.parametrize("kind", ["test", "subtest"])
def test_a_row_has_the_keys_of_the_contract_in_their_order(kind: str) -> None:
    row = Test("a.py", "pytest", ("TestA",), "test_b", 3, kind=kind).row()
    assert list(row)[:9] == ["file", "framework", "suites", "name", "line", "status", "kind", "dynamic", "cases"]
    assert Inventory("c", (), "v").summary()["tests"] == 0

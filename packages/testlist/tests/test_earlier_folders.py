"""Folders that are as they were are not read again, and the files in them are listed as a whole run lists them."""

import os
import random
import shutil
from dataclasses import replace

import pytest
from testlist import InventoryError, Source, fetched, inventory, resolve
from testlist.git.process import GitLimits
from testlist.git.trees import Trees
from testlist_harness.history import History, Memory
from testlist_harness.repositories import commit, git

TEST = "def test_{0}(): pass\n"
FILES = {
    f"{folder}test_{name}.py": TEST.format(name)
    for name, folder in (("a", ""), ("b", "one/"), ("c", "one/deep/"), ("d", "two/"), ("e", "two/deep/er/"))
}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many folders each commit had to be read of, a whole run after each partial one."""
    counts: list[int] = []
    leaves = Trees.leaves

    def watched(trees: Trees, commit: str) -> object:
        yield from leaves(trees, commit)
        counts.append(len(trees.known))

    monkeypatch.setattr(Trees, "leaves", watched)
    return counts


def test_only_folders_above_a_change_are_read(history: History, read: list[int]) -> None:
    history.then(FILES)
    history.then({"two/deep/er/test_e.py": TEST.format("f")})
    assert read[2:] == [6, 4]
    git(history.directory, "commit", "--quiet", "--allow-empty", "--message=x")
    history.then({})
    assert read[4:] == [6, 0]


@pytest.mark.parametrize(
    ("source", "target"), [("one", "two/one"), ("one/deep", "deep"), ("two/deep/er", "one/er"), ("two/deep", "one/two")]
)
def test_a_folder_in_another_place_is_read_there(history: History, source: str, target: str) -> None:
    history.then(FILES)
    shutil.move(history.directory / source, history.directory / target)
    found = history.then({})
    assert {test.name for test in found.tests} == {"test_a", "test_b", "test_c", "test_d", "test_e"}


def test_a_folder_that_is_copied_counts_twice(history: History) -> None:
    history.then(FILES)
    shutil.copytree(history.directory / "one", history.directory / "three" / "one")
    assert len(history.then({}).tests) == 7


def test_copies_of_test_libraries_are_seen_whatever_is_read_of_them(history: History) -> None:
    library = {f"lib/googletest/{path}": "" for path in ("include/gtest/gtest.h", "src/gtest.cc")}
    history.then({**FILES, **library, "lib/googletest/test/gtest_test.cc": '#include "gtest/gtest.h"\nTEST(A, B) {}\n'})
    more = '#include "gtest/gtest.h"\nTEST(A, C) {}\n'
    found = history.then({"lib/googletest/test/gtest_test.cc": more, "two/test_d.py": TEST.format("g")})
    assert "lib/googletest/test/gtest_test.cc" not in {file.path for file in found.files}


def test_folders_that_are_shown_alike_are_read_each_time(history: History) -> None:
    for name, test in ((b"x\xff", "x"), (b"x\xfe", "y"), ("x\ufffd".encode(), "z")):
        folder = history.directory / os.fsdecode(name)
        folder.mkdir()
        (folder / f"test_{test}.py").write_text(TEST.format(test))
    history.then(FILES)
    (history.directory / os.fsdecode(b"x\xff") / "test_x.py").write_text(TEST.format("w"))
    history.then({})
    shutil.rmtree(history.directory / os.fsdecode(b"x\xff"))
    assert "x\ufffd/test_x.py" not in {file.path for file in history.then({}).files}


def test_files_that_are_shown_alike_and_unread_count_once(history: History) -> None:
    for name in (b"a\xfe_test.zig", b"a\xff_test.zig"):
        (history.directory / os.fsdecode(name)).write_text("")
    history.then(FILES)
    assert history.then({"one/test_b.py": TEST.format("c")}).unread == {"Zig": 1}


def test_a_folder_with_two_entries_of_one_name_is_refused(history: History) -> None:
    history.then(FILES)
    trees = [git(history.directory, "rev-parse", f"HEAD:{folder}") for folder in ("one", "two")]
    row = b"".join(b"40000 same\0" + bytes.fromhex(tree) for tree in trees)
    root = git(history.directory, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", feed=row)
    made = git(history.directory, "commit-tree", root, "-m", "x")
    with (
        fetched(Source.local(history.directory), made, workdir=history.work) as repository,
        pytest.raises(InventoryError, match="two entries of one name"),
    ):
        inventory(repository)


def test_moved_folders_are_read_together(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    fetches: list[int] = []
    fetch = Trees._fetch
    monkeypatch.setattr(Trees, "_fetch", lambda self, level: (fetches.append(len(level)), fetch(self, level))[1])
    history.then({f"a/d{n}/test_{n}.py": TEST.format(n) for n in range(30)})
    fetches.clear()
    (history.directory / "b").mkdir()
    for folder in (history.directory / "a").iterdir():
        folder.rename(history.directory / "b" / f"e{folder.name}")
    history.then({})
    assert sum(fetches) < 80 and len(fetches) < 10  # of a whole run and of a partial one


@pytest.mark.parametrize("seed", range(3))
def test_any_moves_are_listed_as_a_whole_run_lists_them(history: History, seed: int) -> None:
    chance = random.Random(seed)
    history.then(FILES)
    for step in range(8):
        folders = sorted(path for path in history.directory.rglob("*") if path.is_dir() and ".git" not in path.parts)
        place = chance.choice([history.directory, *folders])
        match chance.randrange(4):
            case 0:
                (place / f"test_{step}.py").write_text(TEST.format(step))
            case 1:
                shutil.copytree(chance.choice(folders), place / f"copy{step}", ignore=shutil.ignore_patterns("copy*"))
            case 2 if place in folders:
                shutil.rmtree(place)
            case _:
                (place / f"test_link{step}.py").symlink_to("elsewhere")
        if not any(history.directory.rglob("*/test_*.py")):
            (history.directory / "one").mkdir(exist_ok=True)
            (history.directory / "one" / "test_b.py").write_text(TEST.format("b"))
        history.then({"README": str(step)})


@pytest.mark.parametrize("change", ["one/more.txt", None])
def test_bytes_of_folders_that_are_as_they_were_count(history: History, change: str | None) -> None:
    history.then(FILES)
    shutil.copytree(history.directory / "two", history.directory / "copy")  # whose folders count once
    first = history.then({})
    names = ["", *(f"{line}/" for line in git(history.directory, "ls-tree", "-rd", "--name-only", "HEAD").split())]
    trees = {git(history.directory, "rev-parse", f"HEAD:{name}") for name in names}
    size = sum(int(git(history.directory, "cat-file", "-s", tree)) for tree in trees)
    source, grown = Source.local(history.directory), 0
    if change is not None:
        (history.directory / change).write_text("")
        commit(history.directory)
        grown = len(f"100644 more.txt {20 * ' '}")
    ref, _ = resolve(source, None)
    for earlier, most in [(earlier, size + grown - less) for earlier in (None, first) for less in (0, 1)]:
        limits = replace(GitLimits(), trees_bytes=most)
        with fetched(source, ref, workdir=history.work, limits=limits) as repository:
            if most == size + grown:
                assert len(inventory(repository, cache=Memory(), earlier=earlier).tests) == 7
                continue
            with pytest.raises(InventoryError, match="folders that are too large"):
                inventory(repository, cache=Memory(), earlier=earlier)


@pytest.mark.parametrize("change", ["README", "one/test_b.py", None])
@pytest.mark.parametrize("lost", ["one/deep", "two/deep"])
def test_a_folder_that_is_gone_is_missed_though_it_is_as_it_was(
    history: History, change: str | None, lost: str
) -> None:
    first = history.then(FILES)
    if change is not None:
        (history.directory / change).write_text("")
        commit(history.directory)
    source = Source.local(history.directory)
    ref, _ = resolve(source, None)
    tree = git(history.directory, "rev-parse", f"HEAD:{lost}")
    (history.directory / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    for earlier in (None, first):
        with (
            fetched(source, ref, workdir=history.work) as repository,
            pytest.raises(InventoryError, match="a folder of the commit is missing"),
        ):
            inventory(repository, cache=Memory(), earlier=earlier)


def test_files_of_folders_that_are_as_they_were_count(history: History) -> None:
    first = history.then(FILES)
    limits = replace(GitLimits(), entries=6)  # five tests and README
    (history.directory / "one" / "more.txt").write_text("")
    commit(history.directory)
    source = Source.local(history.directory)
    ref, _ = resolve(source, None)
    for earlier in (None, first):
        with (
            fetched(source, ref, workdir=history.work, limits=limits) as repository,
            pytest.raises(InventoryError, match="too many files"),
        ):
            inventory(repository, cache=Memory(), earlier=earlier)

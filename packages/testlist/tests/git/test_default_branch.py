"""Which commits are on the default branch, in a repository on this machine and at a host."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from testlist import GitLimits, Source, on_default_branch
from testlist.git import default_branch
from testlist_harness.githost import serving
from testlist_harness.processes import no_children_left
from testlist_harness.repositories import MakeRepository, git

DAY = datetime(2026, 11, 1, tzinfo=UTC)


def commit(repository: Path, day: float, *parents: str) -> str:
    """A commit of that day of November, of the branch that is checked out; parents: merged into it."""
    env = {"GIT_COMMITTER_DATE": (DAY + timedelta(days=day)).isoformat()}
    if parents:
        git(repository, "merge", "--quiet", "--no-ff", "--message=x", *parents, env=env)
    else:
        git(repository, "commit", "--quiet", "--allow-empty", "--message=x", env=env)
    return git(repository, "rev-parse", "HEAD")


def when(repository: Path, *commits: str) -> dict[str, datetime | None]:
    return {
        one: datetime.fromtimestamp(int(git(repository, "show", "--quiet", "--format=%ct", one)), UTC)
        for one in commits
    }


@pytest.fixture(params=["local", "remote"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[Path], Source]]:
    """The source of a repository below the folder that is served."""
    if request.param == "local":
        yield Source.local
        return
    with serving(tmp_path) as host:
        yield lambda path: Source.remote(f"{host}/{path.name}/.git", plain_http=True)


@pytest.fixture
def repository(make_repository: MakeRepository) -> Path:
    made = make_repository({"README": "x\n"})
    git(made, "commit", "--quiet", "--amend", "--message=x", env={"GIT_COMMITTER_DATE": DAY.isoformat()})
    return made


def test_ancestors_of_head_are_on_the_default_branch_and_others_are_not(
    repository: Path, source: Callable[[Path], Source], tmp_path: Path
) -> None:
    first = commit(repository, 5)
    git(repository, "checkout", "--quiet", "-b", "feature")
    side, merged = commit(repository, 6), commit(repository, 7)
    git(repository, "checkout", "--quiet", "main")
    second = commit(repository, 8)
    head = commit(repository, 9, side)
    wanted = when(repository, first, side, merged, second, head)
    found = on_default_branch(source(repository), merged, wanted, workdir=tmp_path / "work").commits
    no_children_left()
    assert found == {first: True, side: True, merged: False, second: True, head: True}
    assert not list((tmp_path / "work").glob("fairlane-git-*"))


def test_commits_are_in_the_order_of_the_history_whatever_their_dates(
    repository: Path, source: Callable[[Path], Source], tmp_path: Path
) -> None:
    first, future, third, head = [commit(repository, day) for day in (1, 3_000, 2, 3)]
    found = on_default_branch(source(repository), third, when(repository, future, third, first, head), workdir=tmp_path)
    assert list(found.commits) == [head, third, future, first]
    assert found.name == "main"


def test_a_head_that_names_no_branch_has_no_name(repository: Path, tmp_path: Path) -> None:
    git(repository, "checkout", "--quiet", "--detach")
    head = git(repository, "rev-parse", "HEAD")
    assert on_default_branch(Source.local(repository), head, when(repository, head), workdir=tmp_path) == (
        None,
        {head: True},
    )


def test_a_commit_that_a_forced_push_took_away_is_not_on_it(
    repository: Path, source: Callable[[Path], Source], tmp_path: Path
) -> None:
    kept, gone = commit(repository, 5), commit(repository, 9)
    wanted = when(repository, kept, gone)
    git(repository, "reset", "--quiet", "--hard", kept)
    assert on_default_branch(source(repository), gone, wanted, workdir=tmp_path).commits == {kept: True, gone: False}


def test_what_lies_behind_the_commits_that_are_read_is_left_open(
    repository: Path, source: Callable[[Path], Source], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(default_branch, "DEPTHS", (2, 3))
    monkeypatch.setattr(default_branch, "MOST", 3)
    old, *_, last = [commit(repository, day) for day in (3, 5, 7, 9)]
    git(repository, "checkout", "--quiet", "-b", "feature", old)
    older, newer = commit(repository, 4), commit(repository, 20)
    git(repository, "checkout", "--quiet", "main")
    found = on_default_branch(
        source(repository), old, when(repository, old, older, newer, last), workdir=tmp_path
    ).commits
    assert found == {newer: False, last: True}


def test_more_of_a_remote_history_is_fetched_for_the_commit_itself_only(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(default_branch, "DEPTHS", (2, 100))
    first, second, third = (commit(repository, day) for day in (3, 5, 7))
    wanted = when(repository, first, second, third)
    with serving(tmp_path) as host:
        source = Source.remote(f"{host}/{repository.name}/.git", plain_http=True)
        assert on_default_branch(source, second, wanted, workdir=tmp_path).commits == {second: True, third: True}
        assert on_default_branch(source, first, wanted, workdir=tmp_path).commits == dict.fromkeys(wanted, True)


@pytest.fixture
def backdated(make_repository: MakeRepository) -> tuple[Path, str, str, str]:
    """A repository with a first commit of November below 150 of the year 2000: where it is, its first commit, one
    of November on a side branch, and HEAD.
    """
    made = make_repository({"README": "x\n"})
    git(made, "commit", "--quiet", "--amend", "--message=x", env={"GIT_COMMITTER_DATE": DAY.isoformat()})
    first = git(made, "rev-parse", "HEAD")
    git(made, "checkout", "--quiet", "-b", "feature")
    side = commit(made, 2)
    git(made, "checkout", "--quiet", "main")
    for _ in range(150):
        head = commit(made, -9_700)
    return made, first, side, head


@pytest.mark.proof
def test_a_first_commit_that_is_newer_than_all_above_it_is_on_the_default_branch(
    backdated: tuple[Path, str, str, str], source: Callable[[Path], Source], tmp_path: Path
) -> None:
    repository, first, side, head = backdated
    wanted = when(repository, first, side, head)
    assert on_default_branch(source(repository), first, wanted, workdir=tmp_path).commits[first]
    wanted = when(repository, first, side)
    found = on_default_branch(source(repository), side, wanted, workdir=tmp_path).commits
    assert found == {first: True, side: False}


def test_dates_that_go_backwards_say_nothing_of_a_history_that_is_not_read_to_its_end(
    repository: Path, source: Callable[[Path], Source], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(default_branch, "DEPTHS", (3,))
    monkeypatch.setattr(default_branch, "MOST", 3)
    first, *_, head = [commit(repository, day) for day in (20, 2, 9, 3, 4)]
    found = on_default_branch(source(repository), first, when(repository, first, head), workdir=tmp_path).commits
    assert found == {head: True}


def test_of_a_history_that_is_read_to_its_end_a_commit_without_a_date_is_judged_too(
    repository: Path, source: Callable[[Path], Source], tmp_path: Path
) -> None:
    first, head = commit(repository, 5), commit(repository, 7)
    git(repository, "checkout", "--quiet", "-b", "feature", first)
    side, future = commit(repository, 8), commit(repository, 26_000)
    git(repository, "checkout", "--quiet", "main")
    wanted = when(repository, head, future) | {first: None, side: None}
    found = on_default_branch(source(repository), side, wanted, workdir=tmp_path).commits
    assert found == {first: True, head: True, side: False, future: False}


def test_a_head_that_is_on_no_branch_has_a_history_all_the_same(repository: Path, tmp_path: Path) -> None:
    first, second = commit(repository, 5), commit(repository, 7)
    git(repository, "checkout", "--quiet", "--detach", first)
    found = on_default_branch(
        Source.local(repository), first, when(repository, first, second), workdir=tmp_path
    ).commits
    assert found == {first: True, second: False}


def test_a_clone_without_the_older_commits_knows_those_that_are_there(repository: Path, tmp_path: Path) -> None:
    old, *_, head = [commit(repository, day) for day in (3, 5, 7)]
    wanted = when(repository, old, head)
    git(tmp_path, "clone", "--quiet", "--depth=2", f"file://{repository}", "shallow")
    found = on_default_branch(Source.local(tmp_path / "shallow"), head, wanted, workdir=tmp_path).commits
    assert found == {head: True}


def test_a_host_that_does_not_answer_leaves_all_open(repository: Path, tmp_path: Path) -> None:
    head = commit(repository, 5)
    with serving(tmp_path) as host:
        gone = Source.remote(f"{host}/nowhere/.git", plain_http=True)
        assert on_default_branch(gone, head, when(repository, head), workdir=tmp_path).commits == {}


def test_a_history_that_is_larger_than_the_limit_leaves_open_what_is_not_head(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(default_branch, "FETCHED", 10)
    first, head = commit(repository, 5), commit(repository, 7)
    with serving(tmp_path) as host:
        source = Source.remote(f"{host}/{repository.name}/.git", plain_http=True)
        found = on_default_branch(
            source, first, when(repository, first, head), workdir=tmp_path, limits=GitLimits()
        ).commits
    assert found == {head: True}

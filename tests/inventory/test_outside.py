"""Local repositories whose parts lie outside of the root: refused, wherever the way out is hidden."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from testlist import GitLimits, InventoryError, fetched, inventory
from testlist_harness.processes import no_children_left
from testlist_harness.repositories import commit, git

from app.adapters.git_sources import resolve_commit, source_of
from app.domain.repositories import Repository
from app.errors import InvalidInput
from app.settings import Settings
from tests.tiers import few

Way = Callable[[Path, Path], None]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Somebody's repository beside the root."""
    return made(tmp_path / "private")


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """An honest repository below the root."""
    return made(tmp_path / "root" / "shop")


def made(path: Path) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--initial-branch=main")
    (path / "test_secret.py").write_text("def test_secret(): pass\n")
    commit(path)
    return path


def link(place: Path, target: Path) -> None:
    """Replace a part by a link."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    place.symlink_to(target)


def alternate(inside: Path, outside: Path, line: str = "{}") -> None:
    shutil.rmtree(inside / ".git" / "objects")
    (inside / ".git" / "objects" / "info").mkdir(parents=True)
    (inside / ".git" / "objects" / "info" / "alternates").write_text(line.format(outside / ".git" / "objects") + "\n")


def second_alternate(inside: Path, outside: Path) -> None:
    between = inside.parent / "between"
    (between / "info").mkdir(parents=True)
    (between / "info" / "alternates").write_text(f"{outside}/.git/objects\n")
    alternate(inside, outside, "../../../between")


def git_file(inside: Path, outside: Path) -> None:
    shutil.rmtree(inside / ".git")
    (inside / ".git").write_text(f"gitdir: {outside}/.git\n")


def relative_git_file(inside: Path, outside: Path) -> None:
    shutil.rmtree(inside / ".git")
    (inside / ".git").write_text(f"gitdir: ../../{outside.name}/.git\n")


def work_tree(inside: Path, outside: Path) -> None:
    git(outside, "worktree", "add", "--quiet", "--detach", str(inside.parent / "tree"))
    shutil.rmtree(inside)
    (inside.parent / "tree").rename(inside)


def common(inside: Path, outside: Path) -> None:
    (inside / ".git" / "commondir").write_text(f"{outside}/.git\n")


def pack(inside: Path, outside: Path) -> None:
    git(outside, "gc", "--quiet")
    link(inside / ".git" / "objects" / "pack", outside / ".git" / "objects" / "pack")


def packed_file(inside: Path, outside: Path) -> None:
    git(outside, "gc", "--quiet")
    for path in (outside / ".git" / "objects" / "pack").iterdir():
        link(inside / ".git" / "objects" / "pack" / path.name, path)


def loose_file(inside: Path, outside: Path) -> None:
    for path in (outside / ".git" / "objects").glob("??/*"):
        target = inside / ".git" / "objects" / path.parent.name
        target.mkdir(exist_ok=True)
        link(target / path.name, path)


def loose_folder(inside: Path, outside: Path) -> None:
    for path in (outside / ".git" / "objects").glob("??"):
        link(inside / ".git" / "objects" / path.name, path)


def packed_references(inside: Path, outside: Path) -> None:
    git(outside, "pack-refs", "--all")
    (inside / ".git" / "refs" / "heads" / "main").unlink()
    link(inside / ".git" / "packed-refs", outside / ".git" / "packed-refs")


#: ways out that only some part of a repository takes; each was open once, or would be to git
WAYS: dict[str, Way] = {
    "a .git file": git_file,
    "a relative .git file": relative_git_file,
    "a .git link": lambda inside, outside: link(inside / ".git", outside / ".git"),
    "a link": link,
    "a work tree of another repository": work_tree,
    "commondir": common,
    "alternates": alternate,
    "relative alternates": lambda inside, outside: alternate(inside, outside, "../../../../private/.git/objects"),
    "alternates of alternates": second_alternate,
    "objects": lambda inside, outside: link(inside / ".git" / "objects", outside / ".git" / "objects"),
    "packs": pack,
    "a packed file": packed_file,
    "loose objects": loose_file,
    "a folder of loose objects": loose_folder,
    "references": lambda inside, outside: link(inside / ".git" / "refs", outside / ".git" / "refs"),
    "a reference": lambda inside, outside: link(
        inside / ".git" / "refs" / "heads" / "main", outside / ".git" / "refs" / "heads" / "main"
    ),
    "packed references": packed_references,
    "HEAD": lambda inside, outside: link(inside / ".git" / "HEAD", outside / ".git" / "HEAD"),
    "a relative link": lambda inside, outside: link(inside / ".git" / "objects", Path("../../../private/.git/objects")),
    "links in a row": lambda inside, outside: (
        link(inside.parent / "next", outside / ".git"),
        link(inside / ".git", inside.parent / "next"),
    )[1],
}


def settings(inside: Path) -> Settings:
    return Settings(local_repos_root=inside.parent)


SHOP = Repository("local", "-", "shop")


@pytest.mark.parametrize("way", few(5, WAYS))
def test_a_repository_that_leaves_the_root_is_refused_at_submission_and_by_the_worker(
    way: str, inside: Path, outside: Path, tmp_path: Path
) -> None:
    found, _ = resolve_commit(SHOP, None, None, settings(inside))
    secret = git(outside, "rev-parse", "HEAD")
    source = source_of(SHOP, settings(inside))
    WAYS[way](inside, outside)
    for ref, wanted in ((None, None), ("main", None), (None, found), (None, secret)):
        with pytest.raises(InvalidInput) as refused:
            resolve_commit(SHOP, ref, wanted, settings(inside))
        assert (refused.value.status, refused.value.extensions["code"]) == (422, "repository_outside_root")
    with pytest.raises(InventoryError) as stopped:  # it was changed after its commit had been resolved
        fetched(source, secret, workdir=tmp_path).__enter__()
    assert stopped.value.code in ("repository_outside_root", "repository_not_found")


@pytest.mark.parametrize(
    "part", ["", ".git", ".git/HEAD", ".git/objects", ".git/objects/pack", ".git/refs", ".git/refs/heads/main"]
)
def test_a_link_to_itself_is_an_answer_and_no_failure(part: str, inside: Path) -> None:
    head = git(inside, "rev-parse", "HEAD")
    link(inside / part, inside / part)
    with pytest.raises(InvalidInput) as refused:
        resolve_commit(SHOP, None, head, settings(inside))
    assert refused.value.extensions["code"] == "repository_damaged"


@pytest.mark.parametrize("part", [".git", ".git/HEAD", ".git/packed-refs", ".git/commondir", ".git/objects/info/alternates",
                                  ".git/objects/pack/pack-1.pack", ".git/refs/heads/main"])  # fmt: skip
def test_a_pipe_in_the_place_of_a_file_is_never_waited_for(part: str, inside: Path) -> None:
    place = inside / part
    if place.is_dir():
        shutil.rmtree(place)
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    if part == ".git/packed-refs":  # it is not read before what it may hold is missed
        (inside / ".git" / "refs" / "heads" / "main").unlink()
    with pytest.raises(InvalidInput) as refused:
        resolve_commit(SHOP, None, None, settings(inside))
    assert refused.value.extensions["code"] == "repository_damaged"


def test_what_a_configuration_includes_or_points_at_is_not_read(inside: Path, outside: Path, tmp_path: Path) -> None:
    head = git(inside, "rev-parse", "HEAD")
    witness = tmp_path / "pipe"
    os.mkfifo(witness)  # whoever opens it waits for ever
    with (inside / ".git" / "config").open("a") as config:
        config.write(f"[include]\n\tpath = {witness}\n[core]\n\tworktree = {outside}\n[alias]\n\tx = !false\n")
    (inside / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (inside / ".git" / "objects" / "info" / "http-alternates").write_text("http://127.0.0.1:1/objects\n")
    assert resolve_commit(SHOP, None, None, settings(inside)) == (head, "main")
    with fetched(source_of(SHOP, settings(inside)), head, workdir=tmp_path, limits=GitLimits(wall_seconds=60)) as repo:
        assert [test.name for test in inventory(repo).tests] == ["test_secret"]
    no_children_left()


def test_links_and_pointers_that_stay_below_the_root_are_followed(inside: Path, tmp_path: Path) -> None:
    (inside / "test_more.py").write_text("def test_more(): pass\n")
    head = commit(inside)
    root = inside.parent
    git(root, "clone", "--quiet", "--shared", "shop", "borrowing")
    git(inside, "worktree", "add", "--quiet", "-b", "side", str(root / "tree"))
    (root / "alias").symlink_to("shop")
    (root / "linked").mkdir()
    (root / "linked" / ".git").symlink_to("../shop/.git")
    git(root, "clone", "--quiet", "--bare", "shop", "bare")
    git(root / "bare", "gc", "--quiet")
    for name, branch in (
        ("borrowing", "main"),
        ("tree", "side"),
        ("alias", "main"),
        ("linked", "main"),
        ("bare", "main"),
    ):
        one = Repository("local", "-", name)
        assert resolve_commit(one, None, None, settings(inside)) == (head, branch)
        with fetched(source_of(one, settings(inside)), head, workdir=tmp_path) as repo:
            assert {test.name for test in inventory(repo).tests} == {"test_secret", "test_more"}

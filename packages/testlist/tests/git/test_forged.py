"""Objects that are not what their ids say: they count as missing, and nothing of them is kept for other tenants."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from testlist import Facts, FactsKey, GitLimits, Inventory, InventoryError, Source, fetched, inventory, resolve
from testlist_harness import forge
from testlist_harness.processes import no_children_left
from testlist_harness.repositories import MakeRepository, TakeInventory, commit, git

THEIRS = b"def test_of_the_victim(): pass\n"
FORGED = b"def test_of_the_attacker(): pass\n"
MakeHashed = Callable[..., Path]


@dataclass
class Shared:
    """What all tenants share: facts by blob id."""

    facts: dict[FactsKey, Facts] = field(default_factory=dict)

    def load(self, keys: Sequence[FactsKey]) -> dict[FactsKey, Facts]:
        return {key: self.facts[key] for key in keys if key in self.facts}

    def store(self, facts: Mapping[FactsKey, Facts]) -> None:
        self.facts |= facts


@pytest.fixture(params=["sha1", "sha256"])
def make_hashed(request: pytest.FixtureRequest, tmp_path: Path) -> MakeHashed:
    """Make a repository of either object format."""

    def make(name: str, files: Mapping[str, bytes]) -> Path:
        git(tmp_path, "init", "--quiet", "--initial-branch=main", f"--object-format={request.param}", name)
        for path, content in files.items():
            (tmp_path / name / path).write_bytes(content)
        commit(tmp_path / name)
        return tmp_path / name

    return make


def objects_of(repository: Path) -> Path:
    return repository / ".git" / "objects"


def named(found: Inventory) -> list[str]:
    return [test.name for test in found.tests]


def reasons(found: Inventory) -> dict[str, str | None]:
    return {file.path: file.skipped for file in found.files if file.skipped}


def test_a_forged_object_changes_no_result_of_another_tenant(make_hashed: MakeHashed, take: TakeInventory) -> None:
    victim = make_hashed("victim", {"test_a.py": THEIRS})
    attacker = make_hashed("attacker", {"test_a.py": THEIRS, "test_b.py": b"def test_b(): pass\n"})
    blob = git(victim, "rev-parse", "HEAD:test_a.py")
    forge.loose(objects_of(attacker), "blob", FORGED, name=blob)
    shared = Shared()
    lied = take(attacker, cache=shared)
    assert (named(lied), reasons(lied)) == (["test_b"], {"test_a.py": "missing"})
    assert {key.blob_id for key in shared.facts} == {git(attacker, "rev-parse", "HEAD:test_b.py")}
    assert named(take(victim, cache=shared)) == ["test_of_the_victim"]


def test_an_index_that_names_another_object_of_its_pack_counts_as_missing(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    repository = make_repository({"test_a.py": THEIRS, "test_b.py": b"def test_b(): pass\n"})
    blob = git(repository, "rev-parse", "HEAD:test_a.py")
    (objects_of(repository) / blob[:2] / blob[2:]).unlink()
    forge.pack(objects_of(repository), [(blob, forge.entry(3, len(FORGED), FORGED))])
    shared = Shared()
    found = take(repository, cache=shared)
    assert (named(found), reasons(found)) == (["test_b"], {"test_a.py": "missing"})
    assert blob not in {key.blob_id for key in shared.facts}


@pytest.mark.parametrize("size", [0, 5, len(FORGED) - 1, len(FORGED) + 1, 900_000])
def test_a_wrong_size_harms_no_object_that_is_read_afterwards(
    size: int, make_repository: MakeRepository, take: TakeInventory
) -> None:
    files = {f"test_{n}.py": f"def test_{n}(): pass\n" for n in range(6)}
    repository = make_repository(files)
    lying = [git(repository, "rev-parse", f"HEAD:test_{n}.py") for n in (1, 4)]
    for blob in lying:
        forge.loose(objects_of(repository), "blob", FORGED, name=blob, size=size)
    shared = Shared()
    found = take(repository, cache=shared)
    assert named(found) == ["test_0", "test_2", "test_3", "test_5"]
    assert reasons(found) == {"test_1.py": "missing", "test_4.py": "missing"}
    assert not {key.blob_id for key in shared.facts} & set(lying)
    no_children_left()


def test_an_answer_within_an_object_is_not_taken_for_that_to_the_next_question(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    files = {f"test_{n}.py": f"def test_{n}(): pass\n" for n in range(2)}
    repository = make_repository(files)
    first, second = sorted(git(repository, "rev-parse", f"HEAD:test_{n}.py") for n in range(2))
    inner = f"{second} blob {len(FORGED)}\n".encode() + FORGED
    forge.loose(objects_of(repository), "blob", b"x = 1\n" + inner, name=first, size=5)
    found = take(repository)
    assert "test_of_the_attacker" not in named(found)


def test_a_size_that_nobody_checked_is_not_kept_for_other_tenants(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    repository = make_repository({"test_a.py": THEIRS})
    blob = git(repository, "rev-parse", "HEAD:test_a.py")
    forge.loose(objects_of(repository), "blob", FORGED, name=blob, size=5 << 20)
    shared = Shared()
    assert reasons(take(repository, cache=shared)) == {"test_a.py": "too_large"}
    assert shared.facts == {}


def test_a_forged_folder_ends_the_analysis(make_hashed: MakeHashed, take: TakeInventory) -> None:
    repository = make_hashed("forged", {"test_a.py": THEIRS})
    folder = git(repository, "rev-parse", "HEAD^{tree}")
    blob = git(repository, "hash-object", "-w", "--stdin", feed=FORGED)
    forge.loose(objects_of(repository), "tree", forge.tree([("100644", "test_a.py", blob)]), name=folder)
    with pytest.raises(InventoryError) as caught:
        take(repository)
    assert caught.value.code == "repository_damaged"


def test_a_forged_commit_is_no_commit(make_hashed: MakeHashed, tmp_path: Path) -> None:
    repository = make_hashed("forged", {"test_a.py": THEIRS})
    head = git(repository, "rev-parse", "HEAD")
    forge.loose(objects_of(repository), "commit", forge.commit(git(repository, "rev-parse", "HEAD^{tree}")), name=head)
    for ref in (None, "main", head):
        with pytest.raises(InventoryError) as caught:
            resolve(Source.local(repository), ref)
        assert caught.value.code == "commit_not_found"
    with pytest.raises(InventoryError) as caught, fetched(Source.local(repository), head, workdir=tmp_path):
        pass
    assert caught.value.code == "commit_not_found"


@pytest.mark.proof
def test_a_repository_that_is_forged_throughout_is_damaged_and_costs_no_process_for_each_object(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    repository = make_repository({f"test_{n}.py": f"def test_{n}(): pass\n" for n in range(200)})
    for line in git(repository, "ls-tree", "HEAD").splitlines():
        forge.loose(objects_of(repository), "blob", FORGED, name=line.split()[2], size=3)
    with pytest.raises(InventoryError) as caught:
        take(repository)
    assert caught.value.code == "repository_damaged"
    no_children_left()


def test_replacements_and_grafts_change_nothing(make_repository: MakeRepository, take: TakeInventory) -> None:
    repository = make_repository({"test_a.py": THEIRS})
    blob, head = git(repository, "rev-parse", "HEAD:test_a.py"), git(repository, "rev-parse", "HEAD")
    other = git(repository, "hash-object", "-w", "--stdin", feed=FORGED)
    git(repository, "replace", blob, other)
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "grafts").write_text(f"{head} {head}\n")
    assert named(take(repository)) == ["test_of_the_victim"]


def test_objects_of_a_host_are_hashed_too(make_repository: MakeRepository, tmp_path: Path) -> None:
    """What git has fetched it has named by itself; this one is changed on its way from there."""
    repository = make_repository({"test_a.py": THEIRS, "test_b.py": b"def test_b(): pass\n"})
    head, blob = git(repository, "rev-parse", "HEAD"), git(repository, "rev-parse", "HEAD:test_a.py")
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(repository), str(bare)], check=True)
    for file in [path for path in (bare / "objects").rglob("*") if path.is_file()]:
        if file.name == blob[2:]:
            file.unlink()
    forge.loose(bare / "objects", "blob", FORGED, name=blob)
    with fetched(Source.local(bare), head, workdir=tmp_path / "work", limits=GitLimits()) as repo:
        found = inventory(repo)
    assert (named(found), reasons(found)) == (["test_b"], {"test_a.py": "missing"})

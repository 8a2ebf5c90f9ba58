"""Rewrite real tests into such that cannot fail, and into such that may, and see what the engine says of them.

    python packages/testlist/tools/seed_passing_tests.py REPOSITORY… [--each N] [--seed S] [--out FILE]

REPOSITORY is a local one, also bare; it is not changed.  In a commit of a temporary repository, N tests of each
language for each kind of seed_tables.py get another body: tests that check something, take nothing, and in whose file
nothing is seen to run around them (seed_places.py).  Of the inventory with checks, prints by language and kind how many
of those that cannot fail are accused (recall), and how many of those that may are (wanted: none).  A test around which
something runs may fail of that: N of each language are emptied, and counted apart.  One seed S always chooses the same.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from seed_bodies import Seed, seeds, written
from seed_places import ALIASES, HELP, HELPER, File, Place
from seed_tables import LANGUAGES
from testlist import Inventory, Source, Test, fetched, inventory, resolve
from testlist.languages import language_of
from testlist.model import Facts, FactsKey
from testlist.vendored import tested

#: tests of one file that are rewritten
MOST = 6
#: runner -> kinds that may fail with it: a failed check stays one when it is caught, or its blocks know no `return`
KEPT = {"nunit": ("ignored",), "rspec": ("ignored", "returned")}
SURROUNDED = "surrounded"
#: kinds that are checks of literals, which may fail in the repository of the library that has them
LITERAL = frozenset({"constant", "unequal"})


class Change(NamedTuple):
    """One test with another body."""

    test: Test
    place: Place
    seed: Seed
    language: str


@dataclass
class Quota:
    """How many seeds of each language and kind there are, of all repositories and of this one.  each: the most."""

    counted: Counter[tuple[str, str]]
    each: int
    here: Counter[tuple[str, str]] = field(default_factory=Counter)

    def lacks(self, language: str, kind: str) -> bool:
        """Whether more are wanted; a repository gives a third of them at most, so that there are several."""
        key = language, kind
        return self.counted[key] < self.each and self.here[key] < max(1, self.each // 3)

    def add(self, language: str, kind: str) -> None:
        """Count one."""
        self.counted[language, kind] += 1
        self.here[language, kind] += 1


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=18)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    counted: Counter[tuple[str, str]] = Counter()
    found: list[dict[str, Any]] = []
    for repository in given.repositories:
        chance = random.Random(f"{given.seed}:{repository.parent.name}")
        found += of_repository(repository, Quota(counted, given.each), chance)
    if given.out:
        given.out.write_text("".join(json.dumps(one) + "\n" for one in found))
    for line in table(found):
        print(line)


def of_repository(repository: Path, quota: Quota, chance: random.Random) -> list[dict[str, Any]]:
    """The seeds of one repository, each with what the engine says."""
    memory = Memory()
    before, commit = taken(repository, memory)
    changes = list(chosen(repository, before, quota, chance))
    if not changes:
        return []
    with tempfile.TemporaryDirectory() as folder:
        after, _ = taken(committed(repository, commit, changes, Path(folder)), memory)
    answers = {key: checks for key, checks in keyed(after) if key}
    told = []
    for one in changes:
        answer = answers.get(key_of(one.test))
        told.append({
            "repository": repository.parent.name, "file": one.test.file, "name": one.test.name,
            "language": one.language, "kind": one.seed.kind, "passes": one.seed.passes, "body": one.seed.body,
            "said": answer["cannot_fail"] if answer else None, "found": answer is not None,
        })  # fmt: skip
    print(f"{repository.parent.name}: {len(told)} seeds", file=sys.stderr, flush=True)
    return told


class Memory:
    """Facts of the files of one repository, of which its second inventory reads few again."""

    def __init__(self) -> None:
        self.known: dict[FactsKey, Facts] = {}

    def load(self, keys: Sequence[FactsKey]) -> dict[FactsKey, Facts]:
        """See FactsCache."""
        return {key: self.known[key] for key in keys if key in self.known}

    def store(self, facts: Mapping[FactsKey, Facts]) -> None:
        """See FactsCache."""
        self.known.update(facts)


def taken(repository: Path, memory: Memory) -> tuple[Inventory, str]:
    """The inventory of a repository with checks, and its commit."""
    source = Source.local(repository)
    commit, _ = resolve(source, None)
    with tempfile.TemporaryDirectory() as work, fetched(source, commit, workdir=Path(work)) as opened:
        return inventory(opened, cache=memory, checks=True), commit


def key_of(test: Test) -> tuple[str, tuple[str, ...], str]:
    """What tells a test apart, wherever it stands in its file."""
    return test.file, test.suites, test.name


def keyed(found: Inventory) -> Iterator[tuple[tuple[str, tuple[str, ...], str] | None, dict[str, Any] | None]]:
    """Each test with what it checks; no key for one whose name another one has too."""
    times = Counter(map(key_of, found.tests))
    for file in found.files:
        for test, checks in zip(file.tests, file.checks, strict=False):
            key = key_of(test)
            yield key if times[key] == 1 else None, checks._asdict() if checks is not None else None


def chosen(repository: Path, found: Inventory, quota: Quota, chance: random.Random) -> Iterator[Change]:
    """Tests to change, each with a body of a kind of which its language has the fewest."""
    known = {key: checks for key, checks in keyed(found) if key and checks}
    files = [file for file in found.files if file.tests and language_of(file.path) in LANGUAGES]
    chance.shuffle(files)
    names = git(repository, "ls-tree", "-r", "--name-only", "-z", "HEAD").decode("utf-8", "replace").split("\0")
    own, is_helped = tested(names), _is_helped(repository, names)
    for file in files:
        syntax = language_of(file.path) or ""
        language = ALIASES.get(syntax, syntax)
        if not _is_wanted(language, quota):
            continue
        reader = File(git(repository, "cat-file", "blob", file.blob_id), syntax)
        reader.is_helped = is_helped and language == "ruby"
        tests = [one for one in file.tests if _is_usual(one, known.get(key_of(one)))]
        chance.shuffle(tests)
        for test in tests[:MOST]:
            place = reader.place(test)
            refused = {*KEPT.get(test.framework, ()), *(LITERAL if syntax in own else ())}
            if place is not None and (seed := _seed(reader, place, refused, quota, chance)) is not None:
                quota.add(language, seed.kind)
                yield Change(test, place, seed, language)


def _is_helped(repository: Path, names: Iterable[str]) -> bool:
    """Whether a helper of Ruby tests runs something around them, in whatever class."""
    helpers = [name for name in names if HELPER.search(name)]
    return any(HELP.search(git(repository, "show", f"HEAD:{name}").decode("utf-8", "replace")) for name in helpers)


def _is_wanted(language: str, quota: Quota) -> bool:
    kinds = {"emptied", "comments", "constant", "unequal", *LANGUAGES[language].passing, *LANGUAGES[language].failing}
    return any(quota.lacks(language, kind) for kind in kinds)


def _is_usual(test: Test, checks: dict[str, Any] | None) -> bool:
    """Whether a test runs, once, and its own body checks something."""
    is_plain = test.kind == "test" and test.status == "active" and not test.dynamic and test.cases in (None, 1)
    own = [one for one in checks["checks"] if "by" not in one] if checks else []
    return is_plain and bool(own) and checks is not None and checks["cannot_fail"] is None


def _seed(reader: File, place: Place, refused: set[str], quota: Quota, chance: random.Random) -> Seed | None:
    """A body for a test; None if there are enough of all that it may have.  refused: kinds that it may not have."""
    language = reader.language
    if reader.is_surrounded(place):
        seed = next(seeds(language, place.text, reader.text))._replace(kind=SURROUNDED)
        return seed if quota.lacks(language, SURROUNDED) else None
    able = [one for one in seeds(language, place.text, reader.text) if one.kind not in refused]
    wanted = [one for one in able if quota.lacks(language, one.kind)]
    fewest = min((quota.counted[language, one.kind] for one in wanted), default=0)
    rare = [one for one in wanted if quota.counted[language, one.kind] == fewest]
    return chance.choice(rare) if rare else None


def committed(repository: Path, commit: str, changes: Sequence[Change], folder: Path) -> Path:
    """A bare repository with one commit, which is the other with changed tests.  It borrows the objects of that."""
    made = folder / "repo"
    git(folder, "clone", "--quiet", "--bare", "--shared", str(repository), str(made))
    git(made, "read-tree", commit)
    by_file: dict[str, list[Change]] = {}
    for one in changes:
        by_file.setdefault(one.test.file, []).append(one)
    rows = []
    for path, those in by_file.items():
        source = git(made, "cat-file", "blob", f"{commit}:{path}")
        blob = git(made, "hash-object", "-w", "--stdin", given=changed(source, those)).decode().strip()
        rows.append(f"100644 {blob}\t{path}\0")
    git(made, "update-index", "-z", "--index-info", given="".join(rows).encode())
    tree = git(made, "write-tree", "--missing-ok").decode().strip()
    new = git(made, "-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", tree, "-m", "seeds").decode().strip()
    git(made, "update-ref", "--no-deref", "HEAD", new)
    return made


def changed(source: bytes, changes: Iterable[Change]) -> bytes:
    """A file with the new bodies of its tests."""
    for one in sorted(changes, key=lambda one: -one.place.begin):
        place = one.place
        body = written(one.seed.body, place.text, place.indent)
        new = place.before + body + place.after if place.before else body.removeprefix(place.indent)
        source = source[: place.begin] + new.encode() + source[place.end :]
    return source


def git(folder: Path, *arguments: str, given: bytes | None = None) -> bytes:
    """What a command of git prints."""
    return subprocess.run(["git", "-C", str(folder), *arguments], input=given, capture_output=True, check=True).stdout


def table(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Accused of all, by language and kind; then the sums."""
    for passes, title in ((True, "cannot fail: accused of all"), (False, "may fail: accused of all")):
        yield title
        of = [one for one in found if one["passes"] is passes and one["kind"] != SURROUNDED]
        for language in sorted({one["language"] for one in of}):
            those = [one for one in of if one["language"] == language]
            kinds = sorted({one["kind"] for one in those})
            parts = [f"{kind} {_share(one for one in those if one['kind'] == kind)}" for kind in kinds]
            yield f"  {language} {_share(those)}: {', '.join(parts)}"
        yield f"  all {_share(of)}"
    yield f"emptied, with something around it: {_share(one for one in found if one['kind'] == SURROUNDED)}"


def _share(found: Iterable[dict[str, Any]]) -> str:
    those = list(found)
    return f"{sum(one['said'] is not None for one in those)}/{len(those)}"


if __name__ == "__main__":
    main()

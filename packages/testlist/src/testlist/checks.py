"""What the tests of an inventory check: their own checks, those of functions that they call, and whether any can fail.

Bodies are read on demand, and kept apart from the facts that rows are made of.  What the tests of a file check depends
on that file, on those that its calls and bases lead to, and on the paths of the commit.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Final

from testlist.homes import ITSELF, STEPS, Homes, Itself, around_of
from testlist.isolation import attempt
from testlist.kit.bodies import BodyFact
from testlist.languages import OWNERS, SYNTAXES, language_of
from testlist.loader import Loader
from testlist.model import Checks, Facts, Test
from testlist.paths import Paths
from testlist.vendored import tested

#: what the log says of a failure here
CHECKS: Final = "checks"
#: calls that are followed: a test, a function of its own, and one that this one calls
LEVELS: Final = 2
#: checks of the functions that one test calls: thousands of tests may call the same
MOST: Final = 100
#: files that those of tests lead to, of all together, that are noted for the next commit
MOST_USES: Final = 300_000
#: of a function: its file, name and line; the calls that are followed, the object, and whether its file is the test's
_Key = tuple[str, str, int, int, Itself | None, bool]


def read_checks(
    tests: Mapping[str, Iterable[Test]], kept: Mapping[str, Sequence[str]], blobs: Mapping[str, str], loader: Loader
) -> tuple[dict[str, tuple[Checks | None, ...]], dict[str, Sequence[str]] | None]:
    """What tests check, where their language can say so, and the files that those of all tests lead to.

    tests: by file; kept: what the other files with tests lead to.  Files are None if they are more than it is worth to
    note.
    """
    reading = _Bodies(blobs, loader, Homes(Paths(blobs)), tested(blobs))
    reading.read_all(tests)
    checks = {path: tuple(reading.of(test) for test in own) for path, own in tests.items()}
    uses, left = dict(kept), MOST_USES - sum(map(len, kept.values()))
    for path in tests:
        found = sorted(reading.uses(path))
        left -= len(found)
        if left < 0:
            break
        uses |= {path: found} if found else {}
    return checks, uses if left >= 0 else None


@dataclass(slots=True)
class _Bodies:
    """What was read.

    tested: ids of languages whose library of checks is the repository's, so that checks of literals check it.
    by_line: path -> its functions; reached: checks of what a function calls; leads: files that a file leads to, by its
    path and whether that is by its calls, too.
    """

    blobs: Mapping[str, str]
    loader: Loader
    homes: Homes
    tested: Collection[str] = ()
    by_line: dict[str, dict[int, list[BodyFact]]] = field(default_factory=dict)
    reached: dict[_Key, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    leads: dict[tuple[str, bool], set[str]] = field(default_factory=dict)

    def read_all(self, paths: Collection[str]) -> None:
        """Read files with tests, those that their calls lead to, and those that bases lead to from there."""
        self.read(paths)
        for step in range(STEPS):
            found = set[str]().union(*(self.leads_to(path, calls=step == 0) for path in paths))
            paths = sorted(found - self.homes.facts.keys())
            self.read(paths)

    def leads_to(self, path: str, *, calls: bool) -> set[str]:
        """Files that a file leads to by its bases, and by its calls if they count."""
        if (path, calls) not in self.leads:
            lead = partial(self.homes.leads, path, calls=calls)
            self.leads[path, calls] = attempt(lead, set[str](), framework=CHECKS, path=path)
        return self.leads[path, calls]

    def uses(self, path: str) -> set[str]:
        """Files that were read for a file with tests."""
        found = level = self.leads_to(path, calls=True)
        for _ in range(1, STEPS):
            level = set[str]().union(*(self.leads_to(one, calls=False) for one in level)) - found
            found = found | level
        return found - {path}

    def read(self, paths: Collection[str]) -> None:
        """Read files whose language has bodies."""
        new = [path for path in paths if path not in self.homes.facts]
        wanted = {path: form for path in new if (form := bodies_of(path)) is not None}
        for path, facts in self.loader.read(self.blobs, wanted).items():
            attempt(partial(self._keep, path, facts), None, framework=CHECKS, path=path)

    def _keep(self, path: str, facts: Facts) -> None:
        self.homes.learn(path, facts)
        lines: dict[int, list[BodyFact]] = {}
        for body in self.homes.facts[path]["functions"]:
            lines.setdefault(body["line"], []).append(body)
        self.by_line[path] = lines

    def of(self, test: Test) -> Checks | None:
        """What one test checks; None where nobody can say."""
        return attempt(partial(self._of, test), None, framework=CHECKS, path=test.file)

    def _of(self, test: Test) -> Checks | None:
        here = self.by_line.get(test.file, {}).get(test.line, [])
        named = [body for body in here if test.name in (body["name"], body["name"].rpartition(".")[2])]
        if len(named) != 1:
            return None
        [body] = named
        own: list[Mapping[str, Any]] = [{**check} for check in body["checks"]]
        passes = body.get("passes")
        if passes == "constant" and language_of(test.file) in self.tested:
            passes = None
        if passes is not None and self.homes.surrounded(test.file, body):
            passes = None
        around = around_of(body) if binds_late(test.file) else ""
        itself = Itself(test.file, around) if around else None
        reached = self._reached(test.file, body, LEVELS, itself, is_own=True)
        return Checks((*own, *reached), self._subjects(test.file, body), passes)

    def _reached(
        self, path: str, body: BodyFact, levels: int, itself: Itself | None, *, is_own: bool
    ) -> tuple[Mapping[str, Any], ...]:
        """The checks of functions that a function calls.  Worked out once: thousands of tests may call the same.

        itself: what the function was called on, if that is the object that the test is run on.  is_own: it stands in
        the file of the test.  From any other file it goes on to a third one for methods of that object alone, as any
        other is read only if a test calls something of it: what a test checks must not depend on what others call.
        """
        key = path, body["name"], body["line"], levels, itself, is_own
        if key not in self.reached:
            self.loader.progress.beat()
            self.reached[key] = tuple(islice(self._followed(path, body, levels, itself, is_own=is_own), MOST))
        return self.reached[key]

    def _followed(
        self, path: str, body: BodyFact, levels: int, itself: Itself | None, *, is_own: bool
    ) -> Iterator[Mapping[str, Any]]:
        seen = {(path, body["name"])}
        for called in body["calls"] if levels else ():
            home, helper = self.homes.find(path, body, called, is_own=is_own, itself=itself)
            if helper is None or (home, helper["name"]) in seen:
                continue
            seen.add((home, helper["name"]))
            same = itself if called.rpartition(".")[0] in ITSELF else None
            is_near = home == path if is_own else same is not None and home == same.file
            place = {"file": home} if not is_near else {}
            yield from ({**check, "by": called, **place} for check in helper["checks"])
            yield from self._reached(home, helper, levels - 1, same, is_own=is_near)

    def _subjects(self, path: str, body: BodyFact) -> tuple[str, ...]:
        """What a test calls of the repository, as `file:name`."""
        return tuple(filter(None, dict.fromkeys(self.homes.subject(path, called) for called in body["calls"])))


def bodies_of(path: str) -> str | None:
    """The format in which the functions of a file are read; None if its language has none yet."""
    language = language_of(path)
    return SYNTAXES[language].bodies if language is not None else None


def binds_late(path: str) -> bool:
    """Whether its language looks for a method of an object in the object's own class."""
    language = language_of(path)
    return language is not None and OWNERS[language].binds_late

"""What the tests of an inventory check: their own checks, those of functions that they call, and whether any can fail.

Bodies are read on demand, and kept apart from the facts that rows are made of.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Final

from testlist.homes import STEPS, Homes
from testlist.isolation import attempt
from testlist.kit.bodies import BodyFact
from testlist.languages import SYNTAXES, language_of
from testlist.loader import Loader
from testlist.model import Checks, Facts, FileInventory, Test
from testlist.paths import Paths

#: what the log says of a failure here
CHECKS: Final = "checks"
#: calls that are followed: a test, a function of its own, and one that this one calls
LEVELS: Final = 2
#: checks of the functions that one test calls: thousands of tests may call the same
MOST: Final = 100


def with_checks(files: Sequence[FileInventory], blobs: Mapping[str, str], loader: Loader) -> list[FileInventory]:
    """The files, each with what its tests check where its language can say so."""
    reading = _Bodies(blobs, loader, Homes(Paths(blobs)))
    reading.read_all([file.path for file in files if file.tests])
    return [file._replace(checks=tuple(reading.of(test) for test in file.tests)) for file in files]


@dataclass(slots=True)
class _Bodies:
    """What was read.  by_line: path -> its functions; reached: checks of what a function calls."""

    blobs: Mapping[str, str]
    loader: Loader
    homes: Homes
    by_line: dict[str, dict[int, list[BodyFact]]] = field(default_factory=dict)
    reached: dict[tuple[str, str, int, int, bool], tuple[Mapping[str, Any], ...]] = field(default_factory=dict)

    def read_all(self, paths: Collection[str]) -> None:
        """Read files with tests, those that their calls lead to, and those that bases lead to from there."""
        self.read(paths)
        for step in range(STEPS):
            leads = (partial(self.homes.leads, path, calls=step == 0) for path in paths)
            found = (attempt(lead, set[str](), framework=CHECKS, path=lead.args[0]) for lead in leads)
            paths = sorted(set[str]().union(*found) - self.homes.facts.keys())
            self.read(paths)

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
        return Checks(
            (*own, *self._reached(test.file, body, LEVELS, is_own=True)),
            self._subjects(test.file, body),
            body.get("passes"),
        )

    def _reached(self, path: str, body: BodyFact, levels: int, *, is_own: bool) -> tuple[Mapping[str, Any], ...]:
        """The checks of functions that a function calls.  Worked out once: thousands of tests may call the same.

        is_own: it stands in the file of the test.  From any other file it does not go on to a third one, which is read
        only if a test calls something of it: what a test checks must not depend on what other tests call.
        """
        key = path, body["name"], body["line"], levels, is_own
        if key not in self.reached:
            self.loader.progress.beat()
            self.reached[key] = tuple(islice(self._followed(path, body, levels, is_own=is_own), MOST))
        return self.reached[key]

    def _followed(self, path: str, body: BodyFact, levels: int, *, is_own: bool) -> Iterator[Mapping[str, Any]]:
        seen = {(path, body["name"])}
        for called in body["calls"] if levels else ():
            home, helper = self.homes.find(path, body, called, is_own=is_own)
            if helper is None or (home, helper["name"]) in seen:
                continue
            seen.add((home, helper["name"]))
            place = {"file": home} if home != path or not is_own else {}
            yield from ({**check, "by": called, **place} for check in helper["checks"])
            yield from self._reached(home, helper, levels - 1, is_own=is_own and home == path)

    def _subjects(self, path: str, body: BodyFact) -> tuple[str, ...]:
        """What a test calls of the repository, as `file:name`."""
        return tuple(filter(None, dict.fromkeys(self.homes.subject(path, called) for called in body["calls"])))


def bodies_of(path: str) -> str | None:
    """The format in which the functions of a file are read; None if its language has none yet."""
    language = language_of(path)
    return SYNTAXES[language].bodies if language is not None else None

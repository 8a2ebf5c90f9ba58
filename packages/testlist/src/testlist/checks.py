"""What the tests of an inventory check: their own checks, those of functions that they call, and whether any can fail.

Bodies are read on demand, and kept apart from the facts that rows are made of.  What the tests of a file check depends
on that file, on those that its calls lead to, and on the paths of the commit.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from typing import Any, Final, cast

from testlist.isolation import attempt
from testlist.kit.bodies import BodiesFact, BodyFact
from testlist.language import Home
from testlist.languages import OWNERS, SYNTAXES, language_of
from testlist.loader import Loader
from testlist.model import Checks, Facts, Test

#: what the log says of a failure here
CHECKS: Final = "checks"
#: calls that are followed: a test, a function of its own, and one that this one calls
LEVELS: Final = 2
#: checks of the functions that one test calls: thousands of tests may call the same
MOST: Final = 100
#: files that those of tests lead to, of all together, that are noted for the next commit
MOST_USES: Final = 300_000


def read_checks(
    tests: Mapping[str, Iterable[Test]], blobs: Mapping[str, str], loader: Loader
) -> tuple[dict[str, tuple[Checks | None, ...]], dict[str, list[str]] | None]:
    """What tests check, where their language can say so, and the files that theirs lead to.  tests: by file.

    These files are None if they are more than it is worth to note.
    """
    reading = _Bodies(blobs, loader)
    reading.read(tests)
    uses: dict[str, list[str]] = {}
    led, count = set[str](), 0
    for path in tests:
        found = reading.leads_to(path) - {path} if path in reading.found else set[str]()
        led |= found
        count += len(found)
        if found and count <= MOST_USES:
            uses[path] = sorted(found)
    reading.read(sorted(led))
    checks = {path: tuple(reading.of(test) for test in own) for path, own in tests.items()}
    return checks, None if count > MOST_USES else uses


@dataclass(slots=True)
class _Bodies:
    """What was read.

    by_line, by_name, by_last: path -> its functions, by_last by the last part of their names; reached: checks of what
    a function calls; homes: (path, called name) -> where that is.
    """

    blobs: Mapping[str, str]
    loader: Loader
    found: dict[str, BodiesFact] = field(default_factory=dict)
    by_line: dict[str, dict[int, list[BodyFact]]] = field(default_factory=dict)
    by_name: dict[str, dict[str, BodyFact]] = field(default_factory=dict)
    by_last: dict[str, dict[str, list[BodyFact]]] = field(default_factory=dict)
    reached: dict[tuple[str, str, int, int, bool], tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    homes: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def read(self, paths: Collection[str]) -> None:
        """Read files whose language has bodies."""
        wanted = {path: form for path in paths if path not in self.found and (form := bodies_of(path)) is not None}
        for path, facts in self.loader.read(self.blobs, wanted).items():
            attempt(partial(self._keep, path, facts), None, framework=CHECKS, path=path)

    def _keep(self, path: str, facts: Facts) -> None:
        functions = cast(BodiesFact, facts)["functions"] if "functions" in facts else []
        lines: dict[int, list[BodyFact]] = {}
        for body in functions:
            lines.setdefault(body["line"], []).append(body)
        self.by_line[path] = lines
        self.by_name[path] = {body["name"]: body for body in functions}
        last: dict[str, list[BodyFact]] = {}
        for body in functions:
            last.setdefault(body["name"].rpartition(".")[2], []).append(body)
        self.by_last[path] = last
        self.found[path] = {"functions": functions, "imports": facts.get("imports", {})}

    def leads_to(self, path: str) -> set[str]:
        """Files of the repository from which a file imports functions that it calls."""
        return attempt(partial(self._homes, path), set[str](), framework=CHECKS, path=path)

    def _homes(self, path: str) -> set[str]:
        called = {call for body in self.found[path]["functions"] for call in body["calls"]}
        return {home for one in called if (home := self._home(path, one)[0])}

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
        seen = {body["name"]}
        for called in body["calls"] if levels else ():
            home, helper = self._helper(path, body, called)
            if helper is None or helper["name"] in seen or not (is_own or home == path):
                continue
            seen.add(helper["name"])
            place = {"file": home} if home != path else {}
            yield from ({**check, "by": called, **place} for check in helper["checks"])
            yield from self._reached(home, helper, levels - 1, is_own=is_own and home == path)

    def _helper(self, path: str, body: BodyFact, called: str) -> tuple[str, BodyFact | None]:
        """The function of the repository that a call means, and its file."""
        own = self.by_name.get(path, {})
        owner, _, last = called.rpartition(".")
        if owner in ("self", "cls"):
            around = body["name"].rpartition(".")[0]
            same = self.by_last.get(path, {}).get(last, [])
            return path, own.get(f"{around}.{last}") or (same[0] if len(same) == 1 else None)
        if called in own:
            return path, own[called]
        home, name = self._home(path, called)
        return home, self.by_name.get(home, {}).get(name)

    def _subjects(self, path: str, body: BodyFact) -> tuple[str, ...]:
        """What a test calls of the repository, as `file:name`."""
        homes = (self._home(path, called) for called in body["calls"])
        return tuple(dict.fromkeys(f"{home}:{name}" for home, name in homes if home))

    def _home(self, path: str, called: str) -> tuple[str, str]:
        """The file of the repository that a called name comes from, and its name there."""
        if (path, called) not in self.homes:
            imports = self.found[path].get("imports", {}) if path in self.found else {}
            home = home_of(language_of(path))
            self.homes[path, called] = ("", "") if home is None else home(path, called, imports, self.blobs)
        return self.homes[path, called]


@cache
def home_of(language: str | None) -> Home | None:
    """How names of a language are followed; None if nobody knows."""
    return None if language is None else OWNERS[language].home()


def bodies_of(path: str) -> str | None:
    """The format in which the functions of a file are read; None if its language has none yet."""
    language = language_of(path)
    return SYNTAXES[language].bodies if language is not None else None

"""Pest: calls of it, test, todo and arch, in describes or at the top of a file; files by phpunit.xml."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from testlist.interface import Claim, Signal
from testlist.kit.rows import Placed, row
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.php.language import PHP
from testlist.languages.php.resolve import Resolver, config_language
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project, folder_of

SET_UP: Final = "Pest.php"
HOOK: Final = "beforeEach"
PACKAGE: Final = "pestphp/pest"
#: modifiers that decide the status, strongest first
STATUSES: Final = (("todo", "todo"), ("skip", "skipped"), ("only", "focused"))


@dataclass(slots=True)
class PestScope(DefaultScope):
    """Pest in one repository.  folders: those whose project speaks of it."""

    resolver: Resolver
    folders: frozenset[str]

    def wants(self, path: str) -> bool:
        """Files of PHPUnit's test suites, which Pest loads."""
        return self.resolver.wants(path) and self.is_spoken_of(path)

    def is_spoken_of(self, path: str) -> bool:
        """Whether a folder around a file speaks of Pest."""
        parts = folder_of(path).split("/")
        return any("/".join(parts[:length]) in self.folders for length in range(len(parts) + 1))

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """Files with calls."""
        return Claim(Signal.CONFIG) if facts.get("calls") else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Calls that register tests."""
        for path in owned:
            yield from rows(path, facts[path]["calls"], Around())


@dataclass(frozen=True, slots=True)
class Around:
    """What surrounds a call.  depends: whether a condition decides if tests run."""

    suites: tuple[str, ...] = ()
    status: str | None = None
    loop: bool = False
    depends: bool = False


def rows(path: str, calls: list[dict[str, Any]], around: Around) -> Iterator[Test]:
    """Tests of a file or a describe."""
    hooks = [call for call in calls if call["root"] == HOOK]
    given = next(filter(None, map(status_of, hooks)), around.status)
    hooked = around.depends or any("when" in call["mods"] for call in hooks)
    for call in calls:
        if call["root"] == HOOK:
            continue
        own = status_of(call) or given
        dynamic = around.loop or "loop" in call or "with" in call["mods"]
        depends = hooked or "when" in call["mods"]
        if call["root"] == "describe":
            inner = Around((*around.suites, call["title"]), own, dynamic, depends)
            yield from rows(path, call.get("calls", []), inner)
            continue
        yield row(
            "pest",
            path,
            around.suites,
            call["title"],
            cast(Placed, call),
            status=own or "active",
            dynamic=dynamic,
            cases=call.get("cases"),
            depends=depends,
        )


def status_of(call: dict[str, Any]) -> str | None:
    """A call's own status; None if it has none to say.  A test without a body or a step is still to be written."""
    found = next((status for modifier, status in STATUSES if modifier in call["mods"]), None)
    unwritten = call["root"] not in ("describe", HOOK) and "body" not in call and "chain" not in call
    return found or ("todo" if unwritten or call["root"] == "todo" else None)


def scope(project: Project) -> PestScope:
    """Find the folders that speak of it: in composer.json, or by a set-up file of its own among tests."""
    packages = (path for path in project.named("composer.json") if speaks(project.data(path)))
    set_ups = (folder_of(path) for path in project.blobs if path.rpartition("/")[2] == SET_UP)
    return PestScope(project.once(Resolver.of), frozenset([*map(folder_of, packages), *set_ups]))


def speaks(data: Any) -> bool:
    """Whether a composer.json asks for Pest, or is its own."""
    whole = data if isinstance(data, dict) else {}
    tables = (whole.get(key) for key in ("require", "require-dev"))
    return whole.get("name") == PACKAGE or any(isinstance(table, dict) and PACKAGE in table for table in tables)


#: phpunit.xml and composer.json configure it
PEST: Final = DeclaredFramework("pest", PHP.ids, scope, shared=True, configures=config_language)

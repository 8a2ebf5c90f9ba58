"""From calls to rows, by the rules that jest, vitest, mocha and their kin share."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tasks.inventory.model import Facts, Test

#: modifiers that decide the status, strongest first
STATUSES: Final = (
    ("todo", "todo"),
    ("skip", "skipped"),
    ("fixme", "skipped"),
    ("fails", "xfail"),
    ("failing", "xfail"),
    ("fail", "xfail"),
    ("only", "focused"),
)
TABLES: Final = frozenset({"each", "for"})
#: modifiers that leave a call a test
HARMLESS: Final = frozenset(
    {
        "concurrent",
        "sequential",
        "serial",
        "parallel",
        "shuffle",
        "skipIf",
        "runIf",
        "if",
        "extend",
        "describe",
        "default",
    }
)
ALLOWED: Final = HARMLESS | TABLES | {modifier for modifier, _ in STATUSES}
PREFIXES: Final = {"x": "skipped", "f": "focused"}
PREFIXED: Final = frozenset({"it", "test", "specify", "describe", "context", "suite"})


@dataclass(frozen=True, slots=True)
class Around:
    """What the suites around a call pass on."""

    suites: tuple[str, ...] = ()
    status: str = "active"
    dynamic: bool = False


def rows(path: str, facts: Facts, framework: str) -> Iterator[Test]:
    """Tests of one file."""
    yield from _rows(path, facts["calls"], framework, Around())


def _rows(path: str, calls: list[dict[str, Any]], framework: str, around: Around) -> Iterator[Test]:
    for call in calls:
        modifiers = set(call["mods"])
        if not modifiers <= ALLOWED:
            continue
        dynamic = around.dynamic or bool(modifiers & TABLES) or "loop" in call
        status = status_of(call) or around.status
        if "calls" in call:
            inner = Around((*around.suites, call["title"]), status, dynamic)
            yield from _rows(path, call["calls"], framework, inner)
        else:
            yield Test(
                file=path,
                framework=framework,
                suites=around.suites,
                name=call["title"],
                line=call["line"],
                status=status,
                kind="benchmark" if call["root"] == "bench" else "test",
                dynamic=dynamic,
                column=call["column"],
                end_line=call["end"],
            )


def status_of(call: dict[str, Any]) -> str | None:
    """A call's own status; None if it has none to say."""
    said = {*call["mods"], *call.get("options", [])}
    found = next((status for modifier, status in STATUSES if modifier in said), None)
    if found is None and call["root"][1:] in PREFIXED:
        found = PREFIXES.get(call["root"][0])
    return found or (None if "body" in call else "todo")

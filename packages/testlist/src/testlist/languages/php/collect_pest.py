"""Rows of Pest: calls that register tests, with what the describes around them say."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from testlist.kit.rows import row
from testlist.languages.php.shape import CallFact
from testlist.model import Test

HOOK: Final = "beforeEach"
#: modifiers that decide the status, strongest first
STATUSES: Final = (("todo", "todo"), ("skip", "skipped"), ("only", "focused"))


@dataclass(frozen=True, slots=True)
class Around:
    """What surrounds a call.  depends: whether a condition decides if tests run."""

    suites: tuple[str, ...] = ()
    status: str | None = None
    loop: bool = False
    depends: bool = False


OUTERMOST: Final = Around()


def collect(path: str, calls: list[CallFact], around: Around = OUTERMOST) -> Iterator[Test]:
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
            yield from collect(path, call.get("calls", []), inner)
            continue
        yield row(
            "pest",
            path,
            around.suites,
            call["title"],
            call,
            status=own or "active",
            dynamic=dynamic,
            cases=call.get("cases"),
            depends=depends,
        )


def status_of(call: CallFact) -> str | None:
    """A call's own status; None if it has none to say.  A test without a body or a step is still to be written."""
    found = next((status for modifier, status in STATUSES if modifier in call["mods"]), None)
    unwritten = call["root"] not in ("describe", HOOK) and "body" not in call and "chain" not in call
    return found or ("todo" if unwritten or call["root"] == "todo" else None)

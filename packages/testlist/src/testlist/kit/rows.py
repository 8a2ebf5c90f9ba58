"""The one way in which rows are made: of what collection decided and where the definition stands."""

from collections.abc import Sequence
from typing import TypedDict

from testlist.model import IDLE, Test


class Placed(TypedDict):
    """What the facts of every definition have: 1-based, in the file that declares it.  end: its last line."""

    line: int
    column: int
    end: int


def row(
    framework: str,
    path: str,
    suites: Sequence[str],
    name: str,
    place: Placed,
    *,
    status: str = "active",
    kind: str = "test",
    dynamic: bool = False,
    cases: int | None = None,
    depends: bool = False,
    never: bool | None = None,
) -> Test:
    """One definition.  depends: a condition decides whether it runs; this has no effect on a test that never runs.

    never: for when the status is not enough, as a test may be listed as skipped for its condition alone.
    """
    return Test(
        file=path,
        framework=framework,
        suites=tuple(suites),
        name=name,
        line=place["line"],
        status=status,
        kind=kind,
        dynamic=bool(dynamic),  # facts may hold anything, and rows are packed by their values
        cases=cases,
        column=place["column"],
        end_line=place["end"],
        conditional=bool(depends) and not (status in IDLE if never is None else never),
    )

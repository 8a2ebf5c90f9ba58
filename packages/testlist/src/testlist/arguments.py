"""What a command line asks of the engine, and why that cannot be answered, if so."""

from dataclasses import dataclass
from pathlib import Path

from testlist.git.revisions import range_of
from testlist.reports.formats import COMPARABLE
from testlist.reports.selection import CANNOT_FAIL, Selection, mistake_in

#: exit codes: as `git diff --exit-code`, of argparse, and for what could not be looked at
FOUND, WRONG_USAGE, NOT_LOOKED_AT = 1, 2, 3

NEEDED = "--exit-code needs --base, to say whether tests differ, or --only, to say whether there are such."


@dataclass(frozen=True, slots=True)
class CommandArguments:
    """What a command line asks for.

    commit: None is HEAD; part: STAGED or WORKTREE instead of a commit; base: a commit to compare with, or a range of
    two; form: one of FORMATS; only, paths: as `Selection` reads them; debug: say why files could not be read;
    checks: say what tests check.
    cache: the folder of what was read before; None: nothing is kept.
    exit_code: whether the exit code says that tests differ, or with `only`, that there are such tests;
    fail_on_empty: that no test is listed; fail_on_skipped: that a file could not be read.
    """

    commit: str | None = None
    base: str | None = None
    form: str = "table"
    only: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    cache: Path | None = None
    part: str | None = None
    checks: bool = False
    debug: bool = False
    exit_code: bool = False
    fail_on_empty: bool = False
    fail_on_skipped: bool = False

    @property
    def mistake(self) -> str | None:
        """Why it cannot be answered, if so."""
        if wrong := mistake_in(self.only):
            return wrong
        if self.part is not None and self.commit is not None:
            return f"--{self.part} stands instead of a commit: leave --commit out."
        if self.base is None:
            return NEEDED if self.exit_code and not self.only else None
        if range_of(self.base) is not None and (self.commit is not None or self.part is not None):
            return f"--base with a range names both commits: leave --{self.part or 'commit'} out."
        return None if self.form in COMPARABLE else f"--base needs --format {' or '.join(COMPARABLE)}."

    @property
    def reads_bodies(self) -> bool:
        """Whether it has to be known what tests check."""
        return self.checks or any(one.startswith(f"{CANNOT_FAIL}=") for one in self.only)

    @property
    def failure(self) -> int:
        """The exit code if it cannot be answered."""
        return NOT_LOOKED_AT if self.exit_code or self.fail_on_empty or self.fail_on_skipped else 1

    def selection(self, within: str) -> Selection:
        """Which tests are asked for.  within: the folder that paths are relative to.  Raises: UsageError."""
        return Selection.of(self.only, self.paths, within)

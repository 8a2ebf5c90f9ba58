"""What people write for a commit: a name with steps to its ancestors, or a range of two commits.

A name is looked up as a reference or an id, and only an id with its steps is given to git, on a pipe: no revision is
ever read as an option.
"""

import re
from typing import Final, NamedTuple

from testlist.errors import InventoryError
from testlist.git.refs import BAD_REF

#: `~2`, `^`, `^2`, `^0`, and `^{commit}`, which a tag may be followed by
STEPS: Final = re.compile(r"(?:[~^][0-9]{0,9}|\^\{(?:commit)?\})*")
#: what git looks for in logs, in its configuration and in messages
NOT_READ: Final = re.compile(r"@\{|^:|\^\{/|\^\{(?!(?:commit)?\})")
#: the beginning of an id, as short as git takes it
SHORT: Final = re.compile(r"[0-9a-fA-F]{4,63}")
LONGEST: Final = 255
ALLOWED: Final = "allowed are branches, tags, commit ids and their beginnings, HEAD or @, and steps such as ~2 and ^"


class Revision(NamedTuple):
    """A revision as it was typed.  name: HEAD, a branch, a tag or an id; steps: from there, empty for none."""

    name: str
    steps: str


class Range(NamedTuple):
    """Two revisions to compare.  from_base: the first side is the commit where both began to differ."""

    before: str
    after: str
    from_base: bool


def revision(text: str) -> Revision:
    """Divide a revision.  Raises: InventoryError commit_not_found for what is none."""
    if len(text) > LONGEST:
        raise InventoryError("commit_not_found", f"A revision has at most {LONGEST} characters.")
    if NOT_READ.search(text):
        raise InventoryError(
            "commit_not_found",
            f"{text!r}: logs of references, upstream branches and messages are not read; {ALLOWED}.",
        )
    name = re.split(r"[~^]", text, maxsplit=1)[0]
    steps = text[len(name) :]
    name = "HEAD" if name == "@" else name
    if not name or BAD_REF.search(name) or not STEPS.fullmatch(steps):
        raise InventoryError("commit_not_found", f"{text!r} is not the name of a commit; {ALLOWED}.")
    return Revision(name, steps)


def range_of(text: str) -> Range | None:
    """`A..B` compares A with B; `A...B` the commit where both began to differ with B.  A side left out is HEAD."""
    for dots in ("...", ".."):
        before, found, after = text.partition(dots)
        if found:
            return Range(before or "HEAD", after or "HEAD", dots == "...")
    return None

"""What `-m`, `-k` and `--deselect` among a project's own options keep out of its runs.

Read as data, in three values: a mark that may be given while pytest runs is neither there nor not there, and a test is
left out only where that does not matter.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

TOKEN: Final = re.compile(r"\s*+(?:([()])|([\w:+\-.\[\]/\\]++))")
#: longest expression, and deepest parentheses, that are read
LONGEST: Final = 1_024
DEEPEST: Final = 20
#: names in a conftest.py of what may give marks
GIVING: Final = frozenset(
    {"pytest_collection_modifyitems", "pytest_itemcollected", "pytest_pycollect_makeitem", "pytest_plugins"}
)

#: true, false or not known
Verdict = bool | None
Meaning = Callable[[str], Verdict]


class Selection(NamedTuple):
    """The options of one configuration.  given: hooks may give tests marks that no source shows."""

    marks: str = ""
    keywords: str = ""
    deselected: tuple[str, ...] = ()
    given: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether anything is left out at all."""
        return bool(self.marks or self.keywords or self.deselected)

    def drops(self, node: str, marks: frozenset[str], *, sure: bool) -> bool:
        """Whether a run leaves a test out.  node: its id; sure: it has no marks but these."""
        if node.startswith(self.deselected):
            return True
        absent: Verdict = False if sure and not self.given else None
        words = [word.lower() for word in (*re.split("::|/", node), *marks)]

        def named(keyword: str) -> Verdict:
            # a class that inherits the test has a name too
            return True if any(keyword.lower() in word for word in words) else None

        return (
            evaluated(self.marks, lambda mark: True if mark in marks else absent) is False
            or evaluated(self.keywords, named) is False
        )


def selection(options: list[str], *, given: bool) -> Selection:
    """Read options; as for pytest, the last `-m` and the last `-k` count."""
    found: dict[str, list[str]] = {"-m": [""], "-k": [""], "-p": [], "--deselect": []}
    for option, following in zip(options, [*options, ""][1:], strict=True):
        if option in found:
            found[option].append(following)
        elif option.startswith(("-m", "-k", "-p")):
            found[option[:2]].append(option[2:].removeprefix("="))
        elif option.startswith("--deselect="):
            found["--deselect"].append(option.partition("=")[2])
    deselected = tuple(filter(None, found["--deselect"]))
    plugged = any(not plugin.startswith("no:") for plugin in found["-p"])
    return Selection(found["-m"][-1], found["-k"][-1], deselected, given or plugged)


def evaluated(expression: str, meaning: Meaning) -> Verdict:
    """Value of an expression of names, `and`, `or`, `not` and parentheses; None for anything else."""
    tokens = [found[1] or found[2] for found in TOKEN.finditer(expression)] if len(expression) <= LONGEST else []
    if "".join(tokens) != "".join(expression.split()) or not tokens:
        return None
    try:
        value = _either(tokens, meaning, DEEPEST)
    except (IndexError, ValueError):
        return None
    return None if tokens else value


def _either(tokens: list[str], meaning: Meaning, depth: int) -> Verdict:
    values = [_both(tokens, meaning, depth)]
    while tokens[:1] == ["or"]:
        del tokens[0]
        values.append(_both(tokens, meaning, depth))
    return True if True in values else None if None in values else False


def _both(tokens: list[str], meaning: Meaning, depth: int) -> Verdict:
    values = [_one(tokens, meaning, depth)]
    while tokens[:1] == ["and"]:
        del tokens[0]
        values.append(_one(tokens, meaning, depth))
    return False if False in values else None if None in values else True


def _one(tokens: list[str], meaning: Meaning, depth: int) -> Verdict:
    word = tokens.pop(0)
    if depth == 0 or word in ("and", "or", ")"):
        raise ValueError(word)
    if word == "not":
        value = _one(tokens, meaning, depth - 1)
        return None if value is None else not value
    if word != "(":
        return meaning(word)
    value = _either(tokens, meaning, depth - 1)
    if tokens.pop(0) != ")":
        raise ValueError(word)
    return value


def option_name(option: str) -> str:
    """One spelling of an option, however it is asked for: `--run-slow` for `run_slow` too."""
    return f"--{option.lstrip('-').replace('_', '-')}"
